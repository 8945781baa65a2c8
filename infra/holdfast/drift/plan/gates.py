"""What must have succeeded before the pods of an agent change: its check, and its backup. Pure.

Reverts do not pass them by: a workload that an update has not let in stays as it is.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from holdfast.kube.objects import Identity, KubeObject, mapping_at
from holdfast.manifest.types.marks import AGENT_LABEL

Objects = Mapping[Identity, Mapping[str, Any]]


def closed_gate(
    workload: Mapping[str, Any], desired: Mapping[Identity, KubeObject], live: Objects
) -> Identity | None:
    """The Job that has not succeeded for the declared version; None where all have.

    Args:
        workload: A declared object that makes pods.
        desired: Everything declared.
        live: What was read of it.
    """
    closed = (
        identity
        for identity, gate in _gates_of(workload, desired.items())
        if not _is_passed(gate, live.get(identity))
    )
    return next(closed, None)


def _gates_of(
    workload: Mapping[str, Any], desired: Iterable[tuple[Identity, KubeObject]]
) -> Iterator[tuple[Identity, KubeObject]]:
    metadata = mapping_at(workload, "metadata")
    agent = mapping_at(metadata, "labels").get(AGENT_LABEL)
    for identity, one in desired:
        is_job = (identity.group, identity.kind) == ("batch", "Job")
        labels = mapping_at(one, "metadata", "labels")
        is_own = agent and identity.namespace == metadata.get("namespace")
        if is_job and is_own and labels.get(AGENT_LABEL) == agent:
            yield identity, one


def _is_passed(gate: KubeObject, live: Mapping[str, Any] | None) -> bool:
    """Whether the Job has succeeded, and is that of the declared version."""
    if live is None:
        return False
    path = ("spec", "template", "metadata", "annotations")
    declared, found = mapping_at(gate, *path), mapping_at(live, *path)
    conditions = mapping_at(live, "status").get("conditions") or ()
    return declared.items() <= found.items() and any(
        each.get("type") == "Complete" and each.get("status") == "True" for each in conditions
    )
