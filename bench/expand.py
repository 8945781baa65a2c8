"""Mode expand: agents as resources, their objects applied by the operator, from an empty cluster.

Beside it stands what the engine needs for the same agents as plain objects, in the same run: its
checkpoints make that grow faster than their number. Up to a hundred agents it is measured; beyond,
two sizes are, and the figure is what their law of growth comes to. Afterwards one agent gets a new
version: only what is its own may be written.
"""

import math
import os
import time
from collections.abc import Callable

from holdfast.kube.objects import KubeObject
from holdfast.manifest.types.marks import agent_of

from bench.fleet import engine_seconds
from bench.operated import (
    OperatedCluster,
    RunningOperator,
    declared_fleet,
    operated_cluster,
    report,
    running_operator,
)
from bench.written import declared_versions, version_of, written_between

AGENTS = 100
ENGINE_AGENTS = (50, 100)
"""One stack of plain objects on a file backend: more of them would take hours."""

TARGET_TIMES_FASTER = 10.0
LONGEST_SECONDS = 1500.0
"""An operator that does not come to an end is a fault, and no figure."""

APPLIED = "expand: s until all is applied"
ENGINE = "engine, the same as plain objects: s"
CHANGED = "agent-000"


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
        load = os.getloadavg()[0]
    engine = _by_the_engine(agents)
    return {
        "expand: agents": agents,
        "expand: objects": len(objects),
        **figures,
        **engine,
        "expand: times faster than the engine": engine[ENGINE] / float(figures[APPLIED]),
        "expand: target times faster, at 1,000 agents": TARGET_TIMES_FASTER,
        "expand: load of the machine at the end": load,
    }


def _by_the_engine(agents: int) -> dict[str, float]:
    """Seconds that the engine needs for as many agents, measured or by the law of two sizes."""
    few, many = ENGINE_AGENTS
    if agents <= many:
        return {ENGINE: engine_seconds(agents)}
    seconds = {size: engine_seconds(size) for size in ENGINE_AGENTS}
    power = math.log(seconds[many] / seconds[few]) / math.log(many / few)
    return {
        **{f"engine, {size} agents as plain objects: s": seconds[size] for size in ENGINE_AGENTS},
        "engine, power of the number of agents with which that grows": power,
        ENGINE: seconds[many] * (agents / many) ** power,
    }


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
    own = [one, *(each for each in objects if agent_of(each) == CHANGED)]
    keys = {(cluster.place_of(each)[1], str(each["metadata"]["name"])): each for each in own}
    started = time.monotonic()
    cluster.write([{**one, "spec": {**one["spec"], "version": "9.9.9"}}])
    # Only its own are asked for meanwhile: listing thousands would take longer than the writing.
    seconds = _seconds_until(
        started,
        lambda: all(version_of(cluster.read(each)) != before[key] for key, each in keys.items()),
        poll_seconds=0.1,
    )
    time.sleep(5)  # whatever else it might write
    written = written_between(before, declared_versions(cluster.client, places))
    return {
        "expand: s from a new version of one agent until its objects are written": seconds,
        "expand: objects written": len(written),
        "expand: of these its own": len(keys),
        "expand: objects of others written": len(written - keys.keys()),
        "expand: target objects of others written": 0,
    }


def _seconds_until(started: float, is_so: Callable[[], bool], poll_seconds: float = 1.0) -> float:
    while not is_so():
        if time.monotonic() - started > LONGEST_SECONDS:
            raise TimeoutError("the operator does not come to an end")
        time.sleep(poll_seconds)
    return time.monotonic() - started
