"""Whether pods run with what the Secrets and ConfigMaps that they mount hold now. Pure.

An update puts one digest of them on the pod template. Compared is digest with digest: no value, no
key and no digest of a single Secret is known here. Which of them has changed the digests do not
say; who wrote one since the pods were rolled, managed fields and audit log do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from holdfast.drift.cause.attribution import is_deployer
from holdfast.drift.finding import Actor, Severity
from holdfast.drift.probes.outcome import Outcome, Subject, as_declared, differs
from holdfast.kube.managed_fields import read_managed_fields
from holdfast.kube.objects import mapping_at

MOUNTED_HASH: Final = "holdfast.dev/mounted-hash"
_TEMPLATES: Final = (("spec", "template"), ("spec", "podTemplate"))
AS_ROLLED: Final = "as when the pods were rolled last"
_ROTATORS: Final = frozenset({"external-secrets", "secrets-store-csi-driver", "cert-manager"})
"""Managers whose business it is: the next update takes their change in, and nobody meddled."""


@dataclass(frozen=True)
class Written:
    """A Secret or ConfigMap, and who wrote its data last.

    Attributes:
        name: Kind and name.
        actor: Whoever wrote it last; None when nothing tells.
    """

    name: str
    actor: Actor | None = None


def probe_contents(
    subject: Subject, live: Mapping[str, Any], now: str, contents: Sequence[Written]
) -> Outcome:
    """Compare what the pods were rolled with and what they would be rolled with now.

    Args:
        subject: The agent.
        live: Its workload, as it is.
        now: Digest of all contents as they are; empty where none is there.
        contents: Those, with whoever wrote them last.
    """
    marks = (mapping_at(live, *path, "metadata", "annotations") for path in _TEMPLATES)
    rolled_with = next((str(each[MOUNTED_HASH]) for each in marks if MOUNTED_HASH in each), "")
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
    severity = _severity(since, contents)
    actors = tuple(each.actor for each in since if each.actor is not None)
    found = differs(subject, ("mounted",), AS_ROLLED, text, severity)
    return replace(found, findings=tuple(replace(each, actors=actors) for each in found.findings))


def _written_since(live: Mapping[str, Any], contents: Sequence[Written]) -> list[Written]:
    """What was written after the workload was deployed last, as far as both times are known."""
    entries = read_managed_fields(live).of_object
    deployed = max((each.time for each in entries if is_deployer(each.manager)), default="")
    if not deployed:
        return []
    return [each for each in contents if each.actor is not None and each.actor.time > deployed]


def _severity(since: Sequence[Written], contents: Sequence[Written]) -> Severity:
    if since and all(each.actor and each.actor.manager in _ROTATORS for each in since):
        return Severity.INFO
    concerned = since or contents
    is_secret = not concerned or any(each.name.startswith("Secret ") for each in concerned)
    return Severity.HIGH if is_secret else Severity.MEDIUM
