"""What must agree between the fields of one agent: names, folders, variables, ports, volumes."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from holdfast.kube.scalars import parse_quantity
from holdfast.manifest.agent.dependency import address_variable, as_dependency
from holdfast.manifest.types.conditions import Every, Given, Written, is_
from holdfast.manifest.types.rules import Computed, Found, Rule, finds

if TYPE_CHECKING:
    from holdfast.manifest.agent.agent import AgentSpec

MERGE_KEYS: Final[Mapping[tuple[str, ...], str]] = {
    ("container", "env"): "name",
    ("container", "ports"): "name",
    ("pod", "sidecars"): "name",
    ("pod", "initContainers"): "name",
    ("skills",): "name",
    ("storage", "volumes"): "name",
    ("storage", "databases"): "name",
    ("storage", "backup", "env"): "name",
    ("secrets",): "name",
    ("config",): "name",
    ("job", "schedules"): "id",
    ("job", "triggers"): "id",
    ("card", "skills"): "id",
}
"""Lists of a spec that a stack or a team changes item by item, to the field that tells items apart.

Lists whose items do not all have that field are replaced.
"""

INPUT_VARIABLE = "AGENT_INPUT"
"""Carries `job.schedules[].input` into a run."""

OWN_FOLDERS = (
    "/etc/holdfast/agent",
    "/etc/holdfast/prompt",
    "/etc/holdfast/prompt-templates",
    "/etc/holdfast/skills",
)
TEMPORARY_FOLDER = "/tmp"  # noqa: S108 - the container's own, an emptyDir


POOLED: Final = Every((is_("type", "Sandbox"), Given("sandbox.warm_pool")))
_OF_SEVERAL_LISTS: Final = "CEL compares items of several lists above its cost limit"
_OF_DEFAULTS: Final = "what it is compared with is derived from several fields"

SPEC_RULES: Final = (
    Rule(
        "mount-paths-once",
        Computed(why_not=_OF_SEVERAL_LISTS, fields=("storage", "secrets", "config")),
        "mount paths must be unique, and not among Holdfast's own",
        remedy="choose another path",
    ),
    Rule(
        "tmp-of-read-only-root",
        Written("container.tmp").needs(is_("pod.security.read_only_root_filesystem", True)),
        "has no effect without pod.security.readOnlyRootFilesystem",
        remedy="remove it: the container's own /tmp is used",
        at="container.tmp",
    ),
    Rule(
        "tmp-within-limit",
        Computed(why_not=_OF_DEFAULTS, fields=("container",)),
        "must not exceed container.resources.limits.ephemeral-storage, which it counts towards",
        remedy="lower container.tmp.size, or raise the limit",
    ),
    Rule(
        "variables-once",
        Computed(why_not=_OF_SEVERAL_LISTS, fields=("job", "secrets")),
        "expected a variable that nothing else sets",
        remedy="remove it, or rename the variable",
    ),
    Rule(
        "metrics-port-apart",
        Computed(why_not=_OF_DEFAULTS, fields=("telemetry", "network")),
        "expected another port than network.expose.port",
        remedy="choose another port",
    ),
    Rule(
        "port-name-is-free",
        Computed(why_not=_OF_DEFAULTS, fields=("container",)),
        "expected another name than that of Holdfast's own port",
        remedy="rename the port",
    ),
    Rule(
        "ports-once",
        Computed(why_not=_OF_SEVERAL_LISTS, fields=("container",)),
        "expected a port that nothing else uses",
        remedy="choose another port",
    ),
    Rule(
        "probe-of-a-port",
        Computed(
            why_not="the port of a probe is a number or a name, which CEL cannot tell apart",
            fields=("container",),
        ),
        "expected the name of a port",
        remedy="name an entry of container.ports, or give the number",
    ),
    Rule(
        "card-of-a-pool",
        POOLED.excludes(Written("card")),
        "has no effect on a warm pool: each claim gets an address of its own",
        remedy="remove it",
        at="card",
    ),
    Rule(
        "guardrails-need-model",
        Given("guardrails").needs(Given("model")),
        "has no effect without model",
        remedy="remove it",
        at="guardrails",
    ),
    Rule(
        "dependencies-once",
        Computed(
            why_not="a dependency is a name or a mapping, which CEL cannot read",
            fields=("depends_on",),
        ),
        "expected one dependency for the variable {variable}",
        remedy="remove one, or give one of them another name",
    ),
    Rule(
        "volumes-of-a-pool",
        Computed(
            cel="!has(self.sandbox) || !has(self.sandbox.warmPool) || !has(self.storage) || "
            "!has(self.storage.volumes) || self.storage.volumes.all(each, "
            "!has(each.existingClaim) && !has(each.retain))",
            fields=("storage",),
        ),
        "has no effect in a warm pool: each sandbox has a claim of its own",
        remedy="remove it, or remove sandbox.warmPool",
    ),
    Rule(
        "single-writer-runs-once",
        Computed(why_not=_OF_DEFAULTS, fields=("storage",)),
        "storage {volume} has a single writer, but up to {replicas} replicas may run",
        remedy="use accessModes: [ReadWriteMany] or one replica",
    ),
)


@finds("mount-paths-once")
def _repeated_folders(spec: "AgentSpec") -> Iterator[Found]:
    folders = set(OWN_FOLDERS)
    if spec.pod.security.read_only_root_filesystem:
        folders.add(TEMPORARY_FOLDER)
    mounted: tuple[tuple[tuple[str, ...], Iterable[Any]], ...] = (
        (("storage", "volumes"), spec.storage.volumes),
        (("secrets",), spec.secrets),
        (("config",), spec.config),
    )
    for path, entries in mounted:
        for index, entry in enumerate(entries):
            folder = (entry.mount_path or "").rstrip("/")
            if folder and folder in folders:
                yield Found((*path, index, "mountPath"), f"{folder!r} twice")
            folders.add(folder)


@finds("tmp-within-limit")
def _large_temporary_folder(spec: "AgentSpec") -> Iterator[Found]:
    _, limits = spec.container.resources.effective()
    size, limit = spec.container.tmp.size, limits["ephemeral-storage"]
    is_written = "tmp" in spec.container.model_fields_set
    if is_written and parse_quantity(size) > parse_quantity(limit):
        yield Found(("container", "tmp", "size"), f"{size}, the limit is {limit}")


@finds("variables-once")
def _repeated_variables(spec: "AgentSpec") -> Iterator[Found]:
    variables = {entry.name for entry in spec.container.env}
    for index, schedule in enumerate(spec.job.schedules):
        if schedule.input is not None and INPUT_VARIABLE in variables:
            at = ("job", "schedules", index, "input")
            yield Found(at, f"{INPUT_VARIABLE!r} in container.env, too")
    for index, secret in enumerate(spec.secrets):
        if secret.env is None:
            continue
        if secret.env in variables:
            yield Found(("secrets", index, "env"), f"{secret.env!r} twice")
        variables.add(secret.env)


@finds("metrics-port-apart")
def _exposed_metrics_port(spec: "AgentSpec") -> Iterator[Found]:
    metrics = spec.telemetry.metrics
    if metrics.enabled and metrics.port == spec.network.expose.port:
        yield Found(("telemetry", "metrics", "port"), str(metrics.port))


def _own_ports(spec: "AgentSpec") -> dict[str, int]:
    """Name of a port of Holdfast's own to its number."""
    metrics = spec.telemetry.metrics
    exposed = {"http": spec.network.expose.port}
    return exposed | ({"metrics": metrics.port} if metrics.enabled else {})


@finds("port-name-is-free")
def _taken_names(spec: "AgentSpec") -> Iterator[Found]:
    for index, port in enumerate(spec.container.ports):
        if port.name in _own_ports(spec):
            yield Found(("container", "ports", index, "name"), repr(port.name))


@finds("ports-once")
def _repeated_ports(spec: "AgentSpec") -> Iterator[Found]:
    numbers = {(number, "TCP") for number in _own_ports(spec).values()}
    for index, port in enumerate(spec.container.ports):
        number = (port.container_port, port.protocol)
        if number in numbers:
            yield Found(("container", "ports", index, "containerPort"), str(port.container_port))
        numbers.add(number)


@finds("probe-of-a-port")
def _unknown_ports(spec: "AgentSpec") -> Iterator[Found]:
    names = {*_own_ports(spec), *(port.name for port in spec.container.ports)}
    for field in ("startup", "liveness", "readiness"):
        probe = getattr(spec.container.probes, field)
        if probe is not None and probe.named_port and probe.named_port[1] not in names:
            action, name = probe.named_port
            found = f"{name!r} (there: {', '.join(sorted(names))})"
            yield Found(("container", "probes", field, action, "port"), found)


@finds("dependencies-once")
def _repeated_dependencies(spec: "AgentSpec") -> Iterator[Found]:
    variables: set[str] = set()
    for index, reference in enumerate(spec.depends_on):
        variable = address_variable(as_dependency(reference).name)
        if variable in variables:
            yield Found(("dependsOn", index), "two", words=(("variable", variable),))
        variables.add(variable)


@finds("volumes-of-a-pool")
def _claims_of_a_pool(spec: "AgentSpec") -> Iterator[Found]:
    for index, volume in enumerate(spec.storage.volumes if spec.is_pooled else ()):
        for field, alias in (("existing_claim", "existingClaim"), ("retain", "retain")):
            if field in volume.model_fields_set:
                yield Found(("storage", "volumes", index, alias))


@finds("single-writer-runs-once")
def _several_writers(spec: "AgentSpec") -> Iterator[Found]:
    single_writers = [volume.name for volume in spec.storage.volumes if volume.is_single_writer]
    if single_writers and (most := spec.scaling.most_replicas) > 1:
        words = (("volume", repr(single_writers[0])), ("replicas", str(most)))
        yield Found(("scaling",), words=words)
