"""Mode expand: agents as resources, their objects applied by the operator, from an empty cluster.

Beside it stands what the engine needs for the same agents as plain objects: its checkpoints make
that grow with the square of their number (verified at 25, 50 and 100 agents; beyond that the
figure is extrapolated, and says so). Afterwards one agent gets a new version: only what is its own
may be written.
"""

import os
import time
from collections.abc import Callable

from holdfast.kube.objects import KubeObject

from bench.operated import (
    OperatedCluster,
    RunningOperator,
    declared_fleet,
    operated_cluster,
    report,
    running_operator,
)
from bench.written import Key, declared_versions, written_between

AGENTS = 100
ENGINE_SECONDS = {25: 11.0, 50: 30.4, 100: 119.3}
"""One stack of plain objects on a file backend: agents to seconds, recorded on a busy machine."""

TARGET_TIMES_FASTER = 10.0
TARGET_MEGABYTES = 200.0
LONGEST_SECONDS = 1500.0
"""An operator that does not come to an end is a fault, and no figure."""

AGENT_LABEL = "holdfast.dev/agent"
CHANGED = "agent-007"


def measure(agents: int = AGENTS) -> dict[str, float | str]:
    """Seconds from the first resource to the last object and to the last ready agent.

    Args:
        agents: How many.
    """
    with operated_cluster() as cluster:
        resources, objects = declared_fleet(cluster.root, agents, "expand")
        with running_operator() as operator:
            figures = _expanded(cluster, operator, resources, agents)
            figures |= _one_changed(cluster, resources, objects)
        largest = max(ENGINE_SECONDS)
        engine = ENGINE_SECONDS.get(agents, ENGINE_SECONDS[largest] * (agents / largest) ** 2)
        how = "recorded" if agents in ENGINE_SECONDS else "extrapolated by the square"
        return {
            "expand: agents": agents,
            "expand: objects": len(objects),
            **figures,
            f"engine, the same as plain objects: s ({how})": engine,
            "expand: times faster than the engine": engine / float(figures[APPLIED]),
            "expand: target times faster, at 1,000 agents": TARGET_TIMES_FASTER,
            "expand: load of the machine at the end": os.getloadavg()[0],
        }


APPLIED = "expand: s until all is applied"


def _expanded(
    cluster: OperatedCluster,
    operator: RunningOperator,
    resources: list[KubeObject],
    agents: int,
) -> dict[str, float | str]:
    started = time.monotonic()
    cluster.write(resources)
    registered = time.monotonic() - started
    applied = _seconds_until(started, lambda: cluster.agents_with("revision") >= agents)
    used, sent = operator.processor_seconds(), operator.counted("holdfast_operator_requests_total")
    report(f"{agents} agents applied after {applied:.0f} s")
    ready = _seconds_until(started, lambda: cluster.agents_with("phase", "Ready") >= agents)
    return {
        "expand: s to write the resources": registered,
        APPLIED: applied,
        "expand: agents a second": agents / applied,
        "expand: s until all are ready (controllers and nodes at work)": ready,
        "expand: processor s of the operator until all is applied": used,
        "expand: requests of the operator, an agent": sent / agents,
        "expand: peak MB of the operator": operator.peak_megabytes(),
        "expand: target peak MB of the operator": TARGET_MEGABYTES,
    }


def _one_changed(
    cluster: OperatedCluster, resources: list[KubeObject], objects: list[KubeObject]
) -> dict[str, float | str]:
    """A new version of one agent: which objects are written."""
    everything = [*resources, *objects]
    cluster.learn(everything)
    places = sorted({cluster.place_of(each) for each in everything})
    before = declared_versions(cluster.client, places)
    one = next(each for each in resources if each["metadata"]["name"] == CHANGED)
    own = [one, *(each for each in objects if _agent_of(each) == CHANGED)]
    names = {(cluster.place_of(each)[1], str(each["metadata"]["name"])) for each in own}
    started = time.monotonic()
    cluster.write([{**one, "spec": {**one["spec"], "version": "9.9.9"}}])

    def written() -> set[Key]:
        return written_between(before, declared_versions(cluster.client, places))

    seconds = _seconds_until(started, lambda: written() >= names)
    time.sleep(5)  # whatever else it might write
    return {
        "expand: s from a new version of one agent until its objects are written": seconds,
        "expand: objects written": len(written()),
        "expand: of these its own": len(names),
        "expand: objects of others written": len(written() - names),
        "expand: target objects of others written": 0,
    }


def _agent_of(one: KubeObject) -> str:
    return str((one["metadata"].get("labels") or {}).get(AGENT_LABEL) or "")


def _seconds_until(started: float, is_so: Callable[[], bool]) -> float:
    while not is_so():
        if time.monotonic() - started > LONGEST_SECONDS:
            raise TimeoutError("the operator does not come to an end")
        time.sleep(1.0)
    return time.monotonic() - started
