"""What must agree in how an agent starts, scales, changes and ends."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from holdfast.manifest.agent.lifecycle import Fetch
from holdfast.manifest.agent.rollout import PROGRESSIVE
from holdfast.manifest.types.conditions import is_
from holdfast.manifest.types.rules import Computed, Found, Rule, finds

if TYPE_CHECKING:
    from holdfast.manifest.agent.agent import AgentSpec

AGENT_CONTAINER: Final = "agent"
LOG_SHIPPER, TELEMETRY_COLLECTOR, CACHE_WARMER = "log-shipper", "telemetry", "cache-warmer"
OWN_CONTAINERS: Final = (AGENT_CONTAINER, LOG_SHIPPER, TELEMETRY_COLLECTOR, CACHE_WARMER)
OWN_PREFIXES: Final = ("prestart-",)


_OF_TIMES: Final = "CEL reads no durations in days, and derives none"
_OF_NESTED_LISTS: Final = "access modes lie in a list of lists, above CEL's cost limit"
_OF_CONTAINERS: Final = "containers are in Kubernetes' own words, open to the API server"

WORKLOAD_RULES: Final = (
    Rule(
        "grace-covers-the-end",
        Computed(why_not=_OF_TIMES, fields=("pod",)),
        "must cover the longest tool timeout and preStop",
        remedy="raise pod.terminationGracePeriodSeconds",
    ),
    Rule(
        "progress-waits-for-startup",
        Computed(why_not=_OF_TIMES, fields=("rollout",)),
        "rollout.progressDeadlineSeconds must be longer than the startup probe may take",
        remedy="raise progressDeadlineSeconds, or let the startup probe fail sooner",
    ),
    Rule(
        "fetched-files-once",
        Computed(why_not="the name of a file is part of its address", fields=("container",)),
        "two fetches must not write one file",
        remedy="change one path",
    ),
    Rule(
        "fetched-to-a-writable-folder",
        Computed(
            why_not="CEL compares items of several lists above its cost limit",
            fields=("container",),
        ),
        "expected a folder that can be written to",
        remedy="choose a path under the mountPath of a volume",
    ),
    Rule(
        "leader-reaches-the-api",
        is_("scaling.leader_election", True).excludes(is_("network.deny_egress", True)),
        "leaderElection needs the API server, which denyAll does not let it reach",
        remedy="remove network.denyEgress",
        at="scaling.leader_election",
    ),
    Rule(
        "versions-share-volumes",
        Computed(why_not=_OF_NESTED_LISTS, fields=("rollout",)),
        "strategy {strategy} runs two versions at once, but a claim has a single writer",
        remedy="use accessModes: [ReadWriteMany], or strategy: Recreate",
    ),
    Rule(
        "standby-or-versions",
        is_("scaling.availability.standby", True).excludes(is_("rollout.strategy", *PROGRESSIVE)),
        "standby and this strategy would both move the Service",
        shown=("rollout.strategy",),
        remedy="use only one of them",
        at="scaling.availability.standby",
    ),
    Rule(
        "standby-shares-volumes",
        Computed(why_not=_OF_NESTED_LISTS, fields=("scaling",)),
        "a standby needs the volumes while the primary holds them",
        remedy="use accessModes: [ReadWriteMany]",
    ),
    Rule(
        "containers-once",
        Computed(why_not=_OF_CONTAINERS, fields=("pod",)),
        "expected a name that no other container has",
        remedy=f"Holdfast's own are {', '.join(OWN_CONTAINERS)} and prestart-<n>",
    ),
    Rule(
        "metric-of-a-known-container",
        Computed(why_not=_OF_CONTAINERS, fields=("scaling",)),
        "expected the name of a container that runs beside the agent, or the agent's",
        remedy="name agent, or an entry of pod.sidecars",
    ),
    Rule(
        "overrides-add-no-container",
        Computed(why_not=_OF_CONTAINERS, fields=("pod",)),
        "overrides changes containers, it adds none",
        remedy="declare it in pod.sidecars or pod.initContainers, where it gets the "
        "security defaults",
    ),
)


@finds("grace-covers-the-end")
def _short_grace(spec: "AgentSpec") -> Iterator[Found]:
    grace = spec.pod.termination_grace_period_seconds
    if grace is not None and grace < spec.drain_seconds:
        hook = spec.container.lifecycle.pre_stop.reserved_seconds
        yield Found(
            ("pod", "terminationGracePeriodSeconds"),
            f"{grace} s, the longest tool may take {spec.longest_tool_seconds} s and "
            f"preStop {hook} s",
            f"set it to {spec.drain_seconds} or more, or remove it: it is derived",
        )


@finds("progress-waits-for-startup")
def _short_deadline(spec: "AgentSpec") -> Iterator[Found]:
    startup, deadline = spec.container.probes.startup, spec.rollout.progress_deadline_seconds
    if startup is not None and deadline is not None and deadline <= startup.longest_seconds:
        found = f"{deadline} s, the probe may take {startup.longest_seconds} s"
        yield Found(("rollout", "progressDeadlineSeconds"), found)


def _fetches(spec: "AgentSpec") -> Iterator[tuple[Fetch, tuple[str | int, ...]]]:
    """Each fetch, and where it says into which folder."""
    for index, step in enumerate(spec.container.lifecycle.pre_start):
        if step.fetch is not None:
            yield step.fetch, ("container", "lifecycle", "preStart", index, "fetch", "to")


@finds("fetched-files-once")
def _repeated_files(spec: "AgentSpec") -> Iterator[Found]:
    targets: set[str] = set()
    for fetch, at in _fetches(spec):
        target = f"{fetch.to.rstrip('/')}/{fetch.file_name}"
        if target in targets:
            yield Found(at, repr(target))
        targets.add(target)


@finds("fetched-to-a-writable-folder")
def _read_only_targets(spec: "AgentSpec") -> Iterator[Found]:
    read_only = {(secret.mount_path or "").rstrip("/") for secret in spec.secrets}
    read_only |= {entry.mount_path.rstrip("/") for entry in spec.config}
    for fetch, at in _fetches(spec):
        if fetch.to.rstrip("/") in read_only:
            yield Found(at, f"{fetch.to!r}, where configuration or a secret is mounted")


@finds("versions-share-volumes")
def _single_writer_of_versions(spec: "AgentSpec") -> Iterator[Found]:
    if spec.rollout.is_progressive and spec.storage.is_single_writer:
        words = (("strategy", spec.rollout.strategy),)
        yield Found(("rollout", "strategy"), words=words)


@finds("standby-shares-volumes")
def _single_writer_of_standby(spec: "AgentSpec") -> Iterator[Found]:
    if spec.scaling.availability.standby and spec.storage.is_single_writer:
        yield Found(("scaling", "availability", "standby"))


@finds("containers-once")
def _repeated_containers(spec: "AgentSpec") -> Iterator[Found]:
    names = set(OWN_CONTAINERS)
    for field in ("sidecars", "initContainers"):
        containers = spec.pod.sidecars if field == "sidecars" else spec.pod.init_containers
        for index, container in enumerate(containers):
            name = container["name"]
            if name in names or name.startswith(OWN_PREFIXES):
                yield Found(("pod", field, index, "name"), repr(name))
            names.add(name)


@finds("metric-of-a-known-container")
def _unknown_containers(spec: "AgentSpec") -> Iterator[Found]:
    names = [*OWN_CONTAINERS, *(str(each["name"]) for each in spec.pod.sidecars)]
    for index, metric in enumerate(spec.scaling.metrics):
        if metric.container is not None and metric.container not in names:
            at = ("scaling", "metrics", index, "container")
            yield Found(at, repr(metric.container), f"one of {', '.join(names)}")


@finds("overrides-add-no-container")
def _added_containers(spec: "AgentSpec") -> Iterator[Found]:
    overrides = spec.pod.overrides or {}
    known = set(OWN_CONTAINERS)
    known |= {each["name"] for each in (*spec.pod.sidecars, *spec.pod.init_containers)}
    for field in ("containers", "initContainers"):
        for index, container in enumerate(overrides.get(field) or ()):
            name = str(container.get("name"))
            if name not in known and not name.startswith(OWN_PREFIXES):
                yield Found(("pod", "overrides", field, index, "name"), repr(name))
