"""Which object runs an agent, and the pod that it asks for."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from holdfast.drift.probes.outcome import Subject
from holdfast.kube.objects import KubeObject, mapping_at, reference_of
from holdfast.manifest.types.agent_label import agent_of

_POD_SPECS: Final = (
    ("spec", "template", "spec"),
    ("spec", "podTemplate", "spec"),
    ("spec", "jobTemplate", "spec", "template", "spec"),
    ("spec", "jobTargetRef", "template", "spec"),
)


def pod_spec_of(kube_object: Mapping[str, Any]) -> Mapping[str, Any]:
    """The pod spec in an object that runs pods; empty in any other."""
    found = (mapping_at(kube_object, *path) for path in _POD_SPECS)
    return next((spec for spec in found if spec.get("containers")), {})


def workloads_of(
    agent: str, namespace: str, objects: Iterable[KubeObject]
) -> list[tuple[Subject, Mapping[str, Any]]]:
    """Every object that runs pods of an agent, and the pod spec in each.

    An agent with several schedules has several.
    """
    found = []
    for one in objects:
        ref = reference_of(one)
        if ref.namespace == namespace and agent_of(one) == agent:
            spec = pod_spec_of(one)
            found += [(Subject(agent, ref), spec)] if spec else []
    return found
