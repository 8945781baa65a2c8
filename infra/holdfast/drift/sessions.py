"""Who entered a pod that still runs: exec, attach, containers added for debugging. Pure.

Nothing of it shows in a declared field, and it is gone with the pod; the audit log is the only
witness. Remarks, not drift: a person may look, and should be seen looking.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from holdfast.drift.cause.attribution import AuditTrail
from holdfast.drift.finding import Actor, DriftClass, ExpectedBy, Finding, Severity
from holdfast.kube.objects import mapping_at, reference_of
from holdfast.manifest.types.agent_label import agent_of

_PATHS: Final = {"ephemeralcontainers": ("spec", "ephemeralContainers")}


def session_findings(
    live: Iterable[Mapping[str, Any]], trail: AuditTrail, namespaces: set[str]
) -> Iterator[Finding]:
    """One remark a pod and way into it, with everybody who took it, the latest first.

    Args:
        live: Objects of the cluster; only pods are looked at.
        trail: The audit log.
        namespaces: Where the declared objects live.
    """
    for one in live:
        if one.get("kind") != "Pod":
            continue
        ref = reference_of(one)
        if ref.namespace not in namespaces:
            continue
        made = str(mapping_at(one, "metadata").get("creationTimestamp") or "")
        ways: dict[str, list[Actor]] = {}
        for actor in trail.sessions_in(ref):
            if actor.time >= made:
                ways.setdefault(actor.subresource, []).insert(0, actor)
        for way, actors in sorted(ways.items()):
            yield Finding(
                ref=ref,
                agent=agent_of(one),
                drift_class=DriftClass.ADDED,
                path=_PATHS.get(way, (way,)),
                severity=Severity.INFO,
                actors=tuple(actors),
                expected_by=ExpectedBy.NOBODY,
            )
