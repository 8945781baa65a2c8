"""What must agree between the fields of one agent; every fault is told, not only the first."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from pydantic_core import PydanticCustomError

from holdfast.kube.scalars import parse_quantity
from holdfast.manifest.agent.agent_types import faults_of_type
from holdfast.manifest.agent.data_checks import faults_of_data, faults_of_secret_entries
from holdfast.manifest.agent.dependency import address_variable, as_dependency
from holdfast.manifest.agent.workload_checks import faults_of_workload
from holdfast.manifest.text.faults import fault

if TYPE_CHECKING:
    from holdfast.manifest.agent.agent import AgentSpec

MERGE_KEYS: Final[Mapping[tuple[str, ...], str]] = {
    ("env",): "name",
    ("ports",): "name",
    ("skills",): "name",
    ("storage",): "name",
    ("databases",): "name",
    ("secrets",): "name",
    ("config",): "name",
    ("sidecars",): "name",
    ("initContainers",): "name",
    ("backup", "env"): "name",
    ("schedules",): "id",
    ("triggers",): "id",
    ("a2a", "skills"): "id",
}
"""Lists of a spec that a stack or a team changes item by item, to the field that tells items apart.

Lists whose items do not all have that field are replaced.
"""

INPUT_VARIABLE = "AGENT_INPUT"
"""Carries `schedules[].input` into a run."""

OWN_FOLDERS = (
    "/etc/holdfast/agent",
    "/etc/holdfast/prompt",
    "/etc/holdfast/prompt-templates",
    "/etc/holdfast/skills",
)
TEMPORARY_FOLDER = "/tmp"  # noqa: S108 - the container's own, an emptyDir


def faults_of_spec(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    """Everything that single fields cannot know."""
    yield from faults_of_type(spec)
    yield from _faults_of_names(spec)
    yield from _faults_of_folders(spec)
    yield from _faults_of_temporary_folder(spec)
    yield from _faults_of_variables(spec)
    yield from _faults_of_ports(spec)
    yield from faults_of_secret_entries(spec)
    yield from _faults_of_card(spec)
    yield from _faults_of_guardrails(spec)
    yield from _faults_of_dependencies(spec)
    yield from _faults_of_storage(spec)
    yield from faults_of_data(spec)
    yield from faults_of_workload(spec)


def _faults_of_names(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    for field in ("env", "ports", "skills", "storage", "databases", "secrets", "config"):
        names: set[str] = set()
        for index, entry in enumerate(getattr(spec, field)):
            if entry.name in names:
                yield fault(
                    f"names in {field} must be unique",
                    found=f"{entry.name!r} twice",
                    at=(field, index, "name"),
                )
            names.add(entry.name)


def _faults_of_folders(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    folders = set(OWN_FOLDERS)
    if spec.security.read_only_root_filesystem:
        folders.add(TEMPORARY_FOLDER)
    for field in ("storage", "secrets", "config"):
        for index, entry in enumerate(getattr(spec, field)):
            folder = (entry.mount_path or "").rstrip("/")
            if folder and folder in folders:
                yield fault(
                    "mount paths must be unique, and not among Holdfast's own",
                    found=f"{folder!r} twice",
                    at=(field, index, "mountPath"),
                )
            folders.add(folder)


def _faults_of_temporary_folder(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    if "tmp" not in spec.model_fields_set:
        return
    if not spec.security.read_only_root_filesystem:
        expected = "has no effect without security.readOnlyRootFilesystem"
        yield fault(expected, remedy="remove it: the container's own /tmp is used", at=("tmp",))
    _, limits = spec.resources.effective()
    if parse_quantity(spec.tmp.size) > parse_quantity(limits["ephemeral-storage"]):
        yield fault(
            "must not exceed resources.limits.ephemeral-storage, which it counts towards",
            found=f"{spec.tmp.size}, the limit is {limits['ephemeral-storage']}",
            at=("tmp", "size"),
        )


def _faults_of_variables(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    variables = {entry.name for entry in spec.env}
    for index, schedule in enumerate(spec.schedules):
        if schedule.input is not None and INPUT_VARIABLE in variables:
            yield fault(
                "expected a variable that nothing else sets",
                found=f"{INPUT_VARIABLE!r} in env, too",
                at=("schedules", index, "input"),
            )
    for index, secret in enumerate(spec.secrets):
        if secret.env is None:
            continue
        if secret.env in variables:
            yield fault(
                "expected a variable that nothing else sets",
                found=f"{secret.env!r} twice",
                at=("secrets", index, "env"),
            )
        variables.add(secret.env)


def _faults_of_ports(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    names, numbers = {"http"}, {(spec.network.expose.port, "TCP")}
    metrics = spec.telemetry.metrics
    if metrics.enabled:
        names.add("metrics")
        if (metrics.port, "TCP") in numbers:
            yield fault(
                "expected another port than network.expose.port",
                found=str(metrics.port),
                at=("telemetry", "metrics", "port"),
            )
        numbers.add((metrics.port, "TCP"))
    for index, port in enumerate(spec.ports):
        if port.name in names and port.name in {"http", "metrics"}:
            expected = "expected another name than that of Holdfast's own port"
            yield fault(expected, found=repr(port.name), at=("ports", index, "name"))
        if (port.container_port, port.protocol) in numbers:
            expected = "expected a port that nothing else uses"
            found = str(port.container_port)
            yield fault(expected, found=found, at=("ports", index, "containerPort"))
        numbers.add((port.container_port, port.protocol))
        names.add(port.name)
    yield from _faults_of_named_ports(spec, names)


def _faults_of_named_ports(spec: "AgentSpec", names: set[str]) -> Iterator[PydanticCustomError]:
    for field in ("startup", "liveness", "readiness"):
        probe = getattr(spec.probes, field)
        if probe is not None and probe.named_port and probe.named_port[1] not in names:
            action, name = probe.named_port
            yield fault(
                "expected the name of a port",
                found=f"{name!r} (there: {', '.join(sorted(names))})",
                at=("probes", field, action, "port"),
            )


def _faults_of_guardrails(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    if spec.guardrails and spec.model is None:
        yield fault("has no effect without model", remedy="remove it", at=("guardrails",))
    for index, each in enumerate(spec.guardrails):
        if each in spec.guardrails[:index]:
            yield fault("entries of guardrails must be unique", at=("guardrails", index))


def _faults_of_card(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    if spec.is_pooled and spec.a2a != type(spec.a2a)():
        yield fault(
            "has no effect on a warm pool: whoever claims a sandbox gets its own address",
            remedy="remove it",
            at=("a2a",),
        )
    for field in ("provider", "icon_url", "documentation_url"):
        if not spec.a2a.enabled and getattr(spec, field) is not None:
            name = type(spec).model_fields[field].alias or field
            yield fault("has no effect without a card", remedy="remove it", at=(name,))


def _faults_of_dependencies(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    if not spec.depends_on and not spec.wait_for_dependencies:
        yield fault(
            "has no effect without dependsOn", remedy="remove it", at=("waitForDependencies",)
        )
    variables: set[str] = set()
    for index, reference in enumerate(spec.depends_on):
        variable = address_variable(as_dependency(reference).name)
        if variable in variables:
            yield fault(
                f"expected one dependency for the variable {variable}",
                found="two",
                remedy="remove one, or give one of them another name",
                at=("dependsOn", index),
            )
        variables.add(variable)


def _faults_of_storage(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    if spec.is_pooled:
        for index, volume in enumerate(spec.storage):
            for field, written_as in (("existing_claim", "existingClaim"), ("retain", "retain")):
                if field in volume.model_fields_set:
                    yield fault(
                        "has no effect in a warm pool: each sandbox has a claim of its own",
                        remedy="remove it, or remove sandbox.warmPool",
                        at=("storage", index, written_as),
                    )
    single_writers = [volume.name for volume in spec.storage if volume.is_single_writer]
    if single_writers and spec.scaling.most_replicas > 1:
        yield fault(
            f"storage {single_writers[0]!r} has a single writer, but up to "
            f"{spec.scaling.most_replicas} replicas may run",
            remedy="use accessModes: [ReadWriteMany] or one replica",
            at=("scaling",),
        )
