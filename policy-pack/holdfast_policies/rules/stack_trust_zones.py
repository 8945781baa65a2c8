"""Agents, tools, models and memory stand in places of their own."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from holdfast_policies.api import (
    POD_KINDS,
    Breach,
    Finding,
    Fix,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Stack,
    Subject,
    UndeterminedError,
    mapping,
    text,
    workloads,
)
from holdfast_policies.facts.governance import declared

_ZONES = {
    "mcp-server": "tool",
    "tool-server": "tool",
    "model-server": "model",
    "inference": "model",
    "vector-database": "memory",
    "database": "memory",
    "memory": "memory",
}
KEY = Parameter(
    name="key",
    description="Label or annotation that names a workload's zone: agent, tool, model, memory.",
    schema={"type": "string"},
    default="trust-zone",
)


def check(workload: Subject, stack: Stack, settings: Settings) -> Iterator[Finding]:
    """A workload whose namespace holds one of another zone; told at the one that is no agent."""
    zone = _zone(workload, settings["key"])
    if zone in ("", "agent"):
        return
    zones, unknown = _first_of_zones(stack, settings["key"])
    near = zones.get(workload.namespace, ()) if not unknown else stack.workloads
    for other in near:
        other_zone = _zone(other, settings["key"])
        if other_zone not in ("", zone) and other.namespace == workload.namespace:
            got = f"a {zone} beside {other.label}, which is of zone {other_zone}"
            yield Breach("metadata.namespace", got, "a namespace for each zone")
            return


@lru_cache(maxsize=1)
def _first_of_zones(stack: Stack, key: str) -> tuple[Mapping[str, tuple[Subject, ...]], bool]:
    """The first workload of each zone by namespace, and whether one of them is not known yet."""
    first: dict[str, dict[str, Subject]] = {}
    try:
        for workload in stack.workloads:
            if zone := _zone(workload, key):
                first.setdefault(workload.namespace, {}).setdefault(zone, workload)
    except UndeterminedError:
        return {}, True
    return {namespace: tuple(zones.values()) for namespace, zones in first.items()}, False


def _zone(workload: Subject, key: str) -> str:
    """What a workload says of itself; else by its component, else agent where it is one."""
    labels = mapping(workload.metadata.get("labels"))
    said = declared(workload.metadata, key)
    component = text(labels.get("app.kubernetes.io/component"))
    by_component = _ZONES.get(component, "")
    return said or by_component or ("agent" if labels.get("holdfast.dev/agent") else "")


RULE = Rule(
    id="stack-trust-zones",
    title="Zones of trust",
    description="Workloads of different trust share a namespace, and with it accounts and secrets",
    rationale="Whoever takes over a tool then stands where the agents and their keys are.",
    remedy="give tools, models and memory namespaces of their own",
    source="https://kubernetes.io/docs/concepts/security/multi-tenancy/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "AC-4",
        "AC-5",
        "SC-32",
        "ASI03",
        "ASI07",
        "MCP",
    ),
    fix=Fix.NO,
    kinds=POD_KINDS,
    check_stack=workloads(check),
    parameters=(KEY,),
    not_in_cluster="it takes all agents and tools of a stack, and a policy sees one object",
)
