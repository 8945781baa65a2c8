"""What pods run with, against what was declared: images, fingerprints, mounted contents. Pure.

The container runtime reports in `imageID` what a tag, a mirror or the cache of a node resolved to.
Of mounted Secrets and ConfigMaps an update puts one digest on the pod template: digests are
compared, no value and no key is known here; managed fields and the audit log say who wrote one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from holdfast.drift.cause.attribution import is_deployer
from holdfast.drift.finding import Actor, Severity
from holdfast.drift.probes.outcome import ProbeOutcome, Subject, as_declared, differs, unknown
from holdfast.kube.managed_fields import read_managed_fields
from holdfast.kube.objects import KubeObject, mapping_at, reference_of
from holdfast.kube.paths import ItemKey
from holdfast.manifest.types.marks import MOUNTED_HASH, agent_of

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


FINGERPRINT_ANNOTATION = "holdfast.dev/fingerprint"
"""Where an agent publishes a digest over what it runs with: its packages, skills, lock files."""

_STATUSES = {"containers": "containerStatuses", "initContainers": "initContainerStatuses"}


def probe_images(
    subject: Subject, declared: Mapping[str, Any], pods: Sequence[KubeObject]
) -> ProbeOutcome:
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
    return ProbeOutcome.together(
        _container(subject, pod, field, name, image)
        for pod in pods
        for (field, name), image in wanted.items()
    )


def _container(
    subject: Subject, pod: KubeObject, field: str, name: str, image: str
) -> ProbeOutcome:
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


def probe_fingerprint(subject: Subject, declared: str, pods: Iterable[KubeObject]) -> ProbeOutcome:
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
    return ProbeOutcome.together(outcomes)


_TEMPLATES: Final = (("spec", "template"), ("spec", "podTemplate"))
AS_ROLLED: Final = "as when the pods were rolled last"
_ROTATORS: Final = frozenset({"external-secrets", "secrets-store-csi-driver", "cert-manager"})
"""Managers whose business it is: the next update takes their change in, and that is no drift."""


@dataclass(frozen=True)
class LastWrite:
    """A Secret or ConfigMap, and who wrote its data last.

    Attributes:
        name: Kind and name.
        actor: Who wrote it last; None when it is not known.
    """

    name: str
    actor: Actor | None = None


def probe_contents(
    subject: Subject, live: Mapping[str, Any], now: str, contents: Sequence[LastWrite]
) -> ProbeOutcome:
    """Compare what the pods were rolled with and what they would be rolled with now.

    Args:
        subject: The agent.
        live: Its workload, as it is.
        now: Digest of all contents as they are; empty where none is there.
        contents: Those, with their last writers.
    """
    annotations = (mapping_at(live, *path, "metadata", "annotations") for path in _TEMPLATES)
    rolled_with = next(
        (str(each[MOUNTED_HASH]) for each in annotations if MOUNTED_HASH in each),
        "",
    )
    if rolled_with == now:
        return as_declared()
    if not rolled_with:
        # Made after the pods were rolled: they wait for it, and the next update rolls them once.
        text = "there since the pods were rolled last"
        return differs(subject, ("mounted",), None, text, Severity.INFO)
    since = _written_since(live, contents)
    names = ", ".join(each.name for each in since or contents) or "all of it is gone"
    text = f"{'written since' if since else 'changed since, one of'}: {names}"
    if not contents:
        text = f"changed since: {names}"
    severity = _severity_of_contents(since, contents)
    actors = tuple(each.actor for each in since if each.actor is not None)
    found = differs(subject, ("mounted",), AS_ROLLED, text, severity)
    return replace(found, findings=tuple(replace(each, actors=actors) for each in found.findings))


def _written_since(live: Mapping[str, Any], contents: Sequence[LastWrite]) -> list[LastWrite]:
    """What was written after the workload was deployed last, as far as both times are known."""
    entries = read_managed_fields(live).of_object
    deployed = max((each.time for each in entries if is_deployer(each.manager)), default="")
    if not deployed:
        return []
    return [each for each in contents if each.actor is not None and each.actor.time > deployed]


def _severity_of_contents(since: Sequence[LastWrite], contents: Sequence[LastWrite]) -> Severity:
    if since and all(each.actor and each.actor.manager in _ROTATORS for each in since):
        return Severity.INFO
    concerned = since or contents
    is_secret = not concerned or any(each.name.startswith("Secret ") for each in concerned)
    return Severity.HIGH if is_secret else Severity.MEDIUM
