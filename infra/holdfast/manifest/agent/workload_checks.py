"""What must agree in how an agent starts, scales, changes and ends."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pydantic_core import PydanticCustomError

from holdfast.manifest.text.faults import fault

if TYPE_CHECKING:
    from holdfast.manifest.agent.agent import AgentSpec

AGENT_CONTAINER: Final = "agent"
LOG_SHIPPER, TELEMETRY_COLLECTOR, CACHE_WARMER = "log-shipper", "telemetry", "cache-warmer"
OWN_CONTAINERS: Final = (AGENT_CONTAINER, LOG_SHIPPER, TELEMETRY_COLLECTOR, CACHE_WARMER)
OWN_PREFIXES: Final = ("prestart-",)


def faults_of_workload(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    """Everything about the pods that single fields cannot know."""
    yield from _faults_of_grace(spec)
    yield from _faults_of_startup(spec)
    yield from _faults_of_fetches(spec)
    yield from _faults_of_leader(spec)
    yield from _faults_of_strategy(spec)
    yield from _faults_of_standby(spec)
    yield from _faults_of_containers(spec)
    yield from _faults_of_overrides(spec)


def _faults_of_grace(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    grace = spec.lifecycle.termination_grace_period_seconds
    if grace is not None and grace < spec.drain_seconds:
        hook = spec.lifecycle.pre_stop.reserved_seconds
        yield fault(
            "must cover the longest tool timeout and preStop",
            found=f"{grace} s, the longest tool may take {spec.longest_tool_seconds} s and "
            f"preStop {hook} s",
            remedy=f"set it to {spec.drain_seconds} or more, or remove it: it is derived",
            at=("lifecycle", "terminationGracePeriodSeconds"),
        )


def _faults_of_startup(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    startup, deadline = spec.probes.startup, spec.rollout.progress_deadline_seconds
    if startup is not None and deadline is not None and deadline <= startup.longest_seconds:
        yield fault(
            "rollout.progressDeadlineSeconds must be longer than the startup probe may take",
            found=f"{deadline} s, the probe may take {startup.longest_seconds} s",
            at=("rollout", "progressDeadlineSeconds"),
        )


def _faults_of_fetches(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    targets: set[str] = set()
    read_only = {(secret.mount_path or "").rstrip("/") for secret in spec.secrets}
    read_only |= {entry.mount_path.rstrip("/") for entry in spec.config}
    for index, step in enumerate(spec.lifecycle.pre_start):
        if step.fetch is None:
            continue
        at = ("lifecycle", "preStart", index, "fetch")
        target = f"{step.fetch.to.rstrip('/')}/{step.fetch.file_name}"
        if target in targets:
            yield fault("two fetches must not write one file", found=repr(target), at=(*at, "to"))
        targets.add(target)
        if step.fetch.to.rstrip("/") in read_only:
            yield fault(
                "expected a folder that can be written to",
                found=f"{step.fetch.to!r}, where configuration or a secret is mounted",
                at=(*at, "to"),
            )


def _faults_of_leader(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    if spec.lifecycle.leader_election and not spec.network.egress.cidrs:
        yield fault(
            "leaderElection needs the API server, which the network rules do not let it reach",
            remedy="add its address to network.egress.cidrs, such as 10.96.0.1/32",
            at=("lifecycle", "leaderElection"),
        )


def _faults_of_strategy(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    if not spec.rollout.is_progressive:
        return
    if spec.is_single_writer:
        yield fault(
            f"strategy {spec.rollout.strategy} runs two versions at once, but a claim has a single "
            "writer",
            remedy="use accessModes: [ReadWriteMany], or strategy: Recreate",
            at=("rollout", "strategy"),
        )
    if spec.availability.standby:
        yield fault(
            f"standby and strategy {spec.rollout.strategy} would both move the Service",
            remedy="use only one of them",
            at=("availability", "standby"),
        )


def _faults_of_standby(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    if spec.availability.standby and spec.is_single_writer:
        yield fault(
            "a standby needs the volumes while the primary holds them",
            remedy="use accessModes: [ReadWriteMany]",
            at=("availability", "standby"),
        )


def _faults_of_containers(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    names = set(OWN_CONTAINERS)
    for field in ("sidecars", "initContainers"):
        containers = spec.sidecars if field == "sidecars" else spec.init_containers
        for index, container in enumerate(containers):
            name = container["name"]
            if name in names or name.startswith(OWN_PREFIXES):
                yield fault(
                    "expected a name that no other container has",
                    found=repr(name),
                    remedy=f"Holdfast's own are {', '.join(OWN_CONTAINERS)} and prestart-<n>",
                    at=(field, index, "name"),
                )
            names.add(name)


def _faults_of_overrides(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    overrides = spec.pod_overrides or {}
    known = set(OWN_CONTAINERS)
    known |= {each["name"] for each in (*spec.sidecars, *spec.init_containers)}
    for field in ("containers", "initContainers"):
        for index, container in enumerate(overrides.get(field) or ()):
            name = str(container.get("name"))
            if name not in known and not name.startswith(OWN_PREFIXES):
                yield fault(
                    "podOverrides changes containers, it adds none",
                    found=repr(name),
                    remedy="declare it in sidecars or initContainers, where it gets the security "
                    "defaults",
                    at=("podOverrides", field, index, "name"),
                )
