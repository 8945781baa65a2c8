"""Drift put back by the operator: how soon after a change; and what it takes when nothing moves.

A thousand agents with `drift.mode: revert` stand on a control plane whose controllers, scheduler
and nodes are stopped, so that nothing moves but what is measured. Both times are the API server's
own, from its audit log: when it had answered the change, and when it had answered the write that
put it back.
"""

import os
import random
import statistics
import time
from collections.abc import Iterator
from datetime import datetime

import msgspec
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of

from bench.operated import (
    OperatedCluster,
    RunningOperator,
    declared_fleet,
    operated_cluster,
    report,
    running_operator,
)

AGENTS = 1_000
CHANGES = 200
CHANGES_PER_SECOND = 5.0
IDLE_SECONDS = 60.0
TARGET_P95_SECONDS = 2.0
TARGET_IDLE_CORE = 0.05
TARGET_MEGABYTES = 200.0
LONGEST_SECONDS = 900.0
OTHER = "console"
"""Field manager of the changes: not Holdfast's own."""

Key = tuple[str, str]


def measure(agents: int = AGENTS) -> dict[str, float | str]:
    """Seconds from change to put back, and the operator's idle load.

    Args:
        agents: How many.
    """
    with operated_cluster() as cluster:
        cluster.put_to_sleep()
        resources, objects = declared_fleet(cluster.root, agents, "observe", "revert")
        report(f"applying {len(objects)} objects of {agents} agents ...")
        # As the engine does: what an agent's resource tells of is there before it.
        cluster.write([one for one in resources if one["kind"] == "Namespace"])
        cluster.write(objects)
        cluster.write(resources)
        with running_operator() as operator:
            started = time.monotonic()
            while cluster.agents_with("revision") < agents:
                assert time.monotonic() - started < LONGEST_SECONDS, "not all agents are seen"
                time.sleep(1.0)
            seen = time.monotonic() - started
            report(f"all seen after {seen:.0f} s; doing nothing for {IDLE_SECONDS:g} s ...")
            figures = {"putback: s from the operator's start until all are seen": seen}
            figures |= _idle(operator)
            report(f"{CHANGES} changes ...")
            figures |= _put_back(cluster, _change(cluster, objects))
            figures |= {
                "putback: peak MB of the operator": operator.peak_megabytes(),
                "putback: target peak MB": TARGET_MEGABYTES,
                "putback: load of the machine at the end": os.getloadavg()[0],
            }
    return {"putback: agents": agents, "putback: objects": len(objects), **figures}


def _idle(operator: RunningOperator) -> dict[str, float]:
    time.sleep(10)  # the last statuses, written and heard of
    used, started = operator.processor_seconds(), time.monotonic()
    sent = operator.counted("holdfast_operator_requests_total")
    time.sleep(IDLE_SECONDS)
    seconds = time.monotonic() - started
    share = (operator.processor_seconds() - used) / seconds
    requests = operator.counted("holdfast_operator_requests_total") - sent
    return {
        "putback: share of a core when nothing moves": share,
        "putback: target share of a core": TARGET_IDLE_CORE,
        "putback: requests a minute when nothing moves": requests * 60 / seconds,
    }


def _change(cluster: OperatedCluster, objects: list[KubeObject]) -> int:
    """Change objects of as many agents at an even pace: a value, or a label more."""
    owned = [one for one in objects if one["kind"] != "Namespace"]
    chosen = random.Random(1).sample(owned, min(CHANGES, len(owned)))  # noqa: S311  (always the same)
    started = time.monotonic()
    for number, one in enumerate(chosen):
        time.sleep(max(0.0, started + number / CHANGES_PER_SECOND - time.monotonic()))
        ref = reference_of(one)
        cluster.client.write(
            "PATCH",
            cluster.path_of(ref),
            msgspec.json.encode(_edit(ref)),
            content_type="application/merge-patch+json",
            query={"fieldManager": OTHER},
        )
    return len(chosen)


def _edit(ref: ObjectRef) -> dict[str, object]:
    if ref.kind == "Deployment":
        return {"spec": {"template": {"spec": {"serviceAccountName": "default"}}}}
    if ref.kind == "HorizontalPodAutoscaler":
        return {"spec": {"maxReplicas": 50}}
    return {"metadata": {"labels": {"edited": "by-hand"}}}


def _put_back(cluster: OperatedCluster, changes: int) -> dict[str, float]:
    deadline = time.monotonic() + 60
    taken: dict[Key, float] = {}
    while len(taken) < changes and time.monotonic() < deadline:
        time.sleep(1.0)
        taken = _seconds_taken(cluster)
    times = sorted(taken.values())
    return {
        "putback: changes": changes,
        "putback: put back (target: all)": len(times),
        "putback: s from change to put back, p50": statistics.median(times),
        "putback: s from change to put back, p95": times[int(len(times) * 0.95)],
        "putback: target s, p95": TARGET_P95_SECONDS,
        "putback: s from change to put back, longest": times[-1],
    }


def _seconds_taken(cluster: OperatedCluster) -> dict[Key, float]:
    changed: dict[Key, datetime] = {}
    taken: dict[Key, float] = {}
    for key, manager, at in _writes(cluster):
        if manager == OTHER:
            changed[key] = at
        elif key in changed and key not in taken:
            taken[key] = (at - changed[key]).total_seconds()
    return taken


def _writes(cluster: OperatedCluster) -> Iterator[tuple[Key, str, datetime]]:
    """Object, field manager and time of every patch in the audit log, in its order."""
    for line in cluster.place.audit_log.read_text().splitlines():
        event = msgspec.json.decode(line)
        what = event.get("objectRef") or {}
        if event["verb"] != "patch" or what.get("subresource") or "name" not in what:
            continue
        manager = OTHER if f"fieldManager={OTHER}" in event["requestURI"] else "holdfast"
        at = datetime.fromisoformat(event["stageTimestamp"].replace("Z", "+00:00"))
        yield (str(what["resource"]), str(what["name"])), manager, at
