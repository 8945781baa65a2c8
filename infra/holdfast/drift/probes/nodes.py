"""Whether the cluster still has the nodes an agent asks for: labels, devices, runtime. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.drift.finding import Severity
from holdfast.drift.probes.outcome import ProbeOutcome, Subject, as_declared, differs
from holdfast.kube.objects import KubeObject, mapping_at
from holdfast.kube.paths import ItemKey
from holdfast.kube.scalars import parse_quantity


def probe_nodes(
    subject: Subject,
    declared: Mapping[str, Any],
    nodes: Sequence[KubeObject],
    runtime_classes: Sequence[KubeObject],
) -> ProbeOutcome:
    """Compare what a pod asks of its node with the nodes that take pods.

    A label or a device that no node has any more is drift although no object of the agent changed:
    its next pod stays Pending.

    Args:
        subject: The agent.
        declared: The pod spec as it was rendered.
        nodes: Live nodes.
        runtime_classes: Live RuntimeClasses.
    """
    open_nodes = [node for node in nodes if not mapping_at(node, "spec").get("unschedulable")]
    outcomes = [_label(subject, key, value, open_nodes) for key, value in _labels(declared)]
    outcomes += [_device(subject, name, count, open_nodes) for name, count in _devices(declared)]
    if wanted := declared.get("runtimeClassName"):
        names = {mapping_at(each, "metadata").get("name") for each in runtime_classes}
        path = ("runtimeClass",)
        outcomes.append(
            as_declared()
            if wanted in names
            else differs(subject, path, wanted, None, Severity.HIGH)
        )
    together = ProbeOutcome.together(outcomes)
    if together.findings or not outcomes:
        return together
    return _all_at_once(subject, declared, open_nodes, together)


def asks_for_nodes(declared: Mapping[str, Any]) -> bool:
    """Whether a pod asks anything of its node that not every node has."""
    return bool(_labels(declared) or _devices(declared) or declared.get("runtimeClassName"))


def _labels(declared: Mapping[str, Any]) -> list[tuple[str, str]]:
    return sorted(mapping_at(declared, "nodeSelector").items())


def _devices(declared: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Extended resources (those with a domain) and how many the containers ask for together."""
    counts: dict[str, int] = {}
    for container in declared.get("containers") or ():
        for name, quantity in mapping_at(container, "resources", "limits").items():
            if "/" in name and not name.startswith("kubernetes.io/"):
                counts[name] = counts.get(name, 0) + int(parse_quantity(str(quantity)))
    return sorted(counts.items())


def _has_label(node: KubeObject, key: str, value: str) -> bool:
    return bool(mapping_at(node, "metadata", "labels").get(key) == value)


def _has_device(node: KubeObject, name: str, count: int) -> bool:
    allocatable = mapping_at(node, "status", "allocatable").get(name, "0")
    return parse_quantity(str(allocatable)) >= count


def _label(subject: Subject, key: str, value: str, nodes: Sequence[KubeObject]) -> ProbeOutcome:
    if any(_has_label(node, key, value) for node in nodes):
        return as_declared()
    others = sorted(
        {str(mapping_at(node, "metadata", "labels").get(key)) for node in nodes} - {"None"}
    )
    path = ("nodes", ItemKey((("label", key),)))
    return differs(subject, path, value, others or None, Severity.HIGH)


def _device(subject: Subject, name: str, count: int, nodes: Sequence[KubeObject]) -> ProbeOutcome:
    if any(_has_device(node, name, count) for node in nodes):
        return as_declared()
    most = max(
        (
            int(parse_quantity(str(mapping_at(node, "status", "allocatable").get(name, "0"))))
            for node in nodes
        ),
        default=0,
    )
    path = ("nodes", ItemKey((("resource", name),)))
    return differs(subject, path, count, most or None, Severity.HIGH)


def _all_at_once(
    subject: Subject, declared: Mapping[str, Any], nodes: Sequence[KubeObject], each: ProbeOutcome
) -> ProbeOutcome:
    """Each demand is met somewhere; one node must meet all of them."""
    labels, devices = _labels(declared), _devices(declared)
    fits = any(
        all(_has_label(node, key, value) for key, value in labels)
        and all(_has_device(node, name, count) for name, count in devices)
        for node in nodes
    )
    if fits or not (labels or devices):
        return each
    wanted = {**dict(labels), **dict(devices)}
    alone = differs(subject, ("nodes",), wanted, None, Severity.HIGH)
    return ProbeOutcome.together((each, alone))
