"""Jobs that must succeed before an update goes on: the check of a new version, a backup before it.

A Job that has failed stays as it is. A deployment reads it first and puts another mark on the pod
template: the engine replaces the Job, which runs again. The mark is no part of what is rendered:
the desired state does not depend on the number of attempts.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from holdfast.kube.objects import mapping_at
from holdfast.manifest.types.marks import ATTEMPT
from holdfast.render.plan.metadata import RenderedObject, content_hash

_JOB: Final = "Job"


def is_gate(item: RenderedObject) -> bool:
    """Whether an update waits for a rendered object to succeed."""
    return bool(item.manifest["kind"] == _JOB)


def attempt_of(live: Mapping[str, Any]) -> str:
    """Mark for the next update: a new one after a failure, else the one that the Job has."""
    conditions = mapping_at(live, "status").get("conditions") or ()
    if any(each.get("type") == "Failed" and each.get("status") == "True" for each in conditions):
        return content_hash(mapping_at(live, "metadata").get("uid"), digits=8)
    meta = mapping_at(live, "spec", "template", "metadata", "annotations")
    return str(meta.get(ATTEMPT) or "")


def with_attempt(item: RenderedObject, attempts: Mapping[str, str]) -> RenderedObject:
    """A gate with its mark on the pod template, if it has one; its revision stays.

    Args:
        item: Any rendered object.
        attempts: Name of a Job to its mark.
    """
    mark = attempts.get(item.manifest["metadata"]["name"]) if is_gate(item) else None
    if not mark:
        return item
    spec = item.manifest["spec"]
    metadata = spec["template"]["metadata"]
    annotations = {**metadata.get("annotations", {}), ATTEMPT: mark}
    template = spec["template"] | {"metadata": metadata | {"annotations": annotations}}
    return replace(item, manifest=item.manifest | {"spec": spec | {"template": template}})
