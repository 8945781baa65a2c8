"""Which image the nodes really run: digests in the status of pods against declared ones. Pure.

A tag, a mirror or a node's own cache can put another image behind a reference; the container
runtime reports in `imageID` what it resolved.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.drift.finding import Severity
from holdfast.drift.probes.outcome import Outcome, Subject, as_declared, differs, unknown
from holdfast.kube.objects import KubeObject, mapping_at
from holdfast.kube.paths import ItemKey

FINGERPRINT_ANNOTATION = "holdfast.dev/fingerprint"
"""Where an agent publishes a digest over what it runs with: its packages, skills, lock files."""

_STATUSES = {"containers": "containerStatuses", "initContainers": "initContainerStatuses"}


def probe_images(
    subject: Subject, declared: Mapping[str, Any], pods: Sequence[KubeObject]
) -> Outcome:
    """Compare what runs with what was declared.

    Args:
        subject: The agent.
        declared: The pod spec as it was rendered.
        pods: Its live pods; none at all is the agent's right (scaled to zero, between two runs).
    """
    wanted = {
        (field, item["name"]): str(item["image"])
        for field in _STATUSES
        for item in declared.get(field) or ()
    }
    return Outcome.together(
        _container(subject, pod, field, name, image)
        for pod in pods
        for (field, name), image in wanted.items()
    )


def _container(subject: Subject, pod: KubeObject, field: str, name: str, image: str) -> Outcome:
    pod_name = mapping_at(pod, "metadata").get("name", "")
    statuses = mapping_at(pod, "status").get(_STATUSES[field]) or ()
    status: Mapping[str, Any] = next((each for each in statuses if each.get("name") == name), {})
    resolved = str(status.get("imageID") or "")
    what = f"image of container {name} in pod {pod_name}"
    _, _, wanted = image.partition("@")
    _, at, running = resolved.partition("@")
    if not wanted:
        return unknown(subject, what, "it is declared without a digest")
    if not at:
        reason = "the node names no repository digest" if resolved else "it has not started yet"
        return unknown(subject, what, reason)
    if running == wanted:
        return as_declared()
    path = ("image", ItemKey((("pod", pod_name),)), ItemKey((("container", name),)))
    return differs(subject, path, wanted, running, Severity.CRITICAL)


def probe_fingerprint(subject: Subject, declared: str, pods: Iterable[KubeObject]) -> Outcome:
    """Compare the fingerprint that each running pod publishes with the declared one."""
    outcomes = []
    for pod in pods:
        metadata = mapping_at(pod, "metadata")
        published = mapping_at(metadata, "annotations").get(FINGERPRINT_ANNOTATION)
        what = f"fingerprint of pod {metadata.get('name', '')}"
        if published is None:
            reason = f"it does not publish one in its annotation {FINGERPRINT_ANNOTATION}"
            outcomes.append(unknown(subject, what, reason))
        elif published == declared:
            outcomes.append(as_declared())
        else:
            path = ("fingerprint", ItemKey((("pod", metadata.get("name", "")),)))
            outcomes.append(differs(subject, path, declared, published, Severity.HIGH))
    return Outcome.together(outcomes)
