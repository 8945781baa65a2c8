"""The words for a finding, the same in every format, and what its class means."""

from dataclasses import dataclass
from typing import Final

from holdfast.drift.exemption.writers import FieldWriter, is_forged
from holdfast.drift.finding import (
    Actor,
    DriftClass,
    EvidenceSource,
    Finding,
    Layer,
    NextUpdate,
)
from holdfast.kube.paths import format_path
from holdfast.kube.text import safe_text, value_words
from holdfast.operations.scan.scan_context import RUNBOOK_PAGE

LONGEST_PATH_CHARACTERS: Final = 400

_WHOLE_OBJECT: Final = {
    DriftClass.MISSING: "the object is gone",
    DriftClass.RECREATED: "the object was deleted and recreated",
    DriftClass.TERMINATING: "the object is being deleted",
    DriftClass.UNMANAGED: "the object is not declared",
}


_RISKS: Final = {
    NextUpdate.CONFLICTS: "the next update of the object fails: another manager owns the field",
    NextUpdate.REPLACES: "the next update with --refresh deletes the object and makes it again",
    NextUpdate.DELETES: "the next update deletes it: it is no longer declared",
    NextUpdate.FAILS: "the next update of the object fails",
    NextUpdate.DEPLOYS: "declared, not deployed: the next update deploys it",
}


KEPT_FOR: Final = "declare it again to use it; delete it with kubectl when its data may go"
"""What to do about an object that an update has kept."""


def path_words(finding: Finding) -> str:
    """The field, on one printable line; empty for whole objects."""
    return safe_text(format_path(finding.path), LONGEST_PATH_CHARACTERS)


def actor_words(actor: Actor) -> str:
    """Who, with what, when; says so when only a client's own word stands behind it."""
    operation = f" {actor.operation}" if actor.operation else ""
    via = f" of {actor.subresource}" if actor.subresource else ""
    known = actor.source is EvidenceSource.AUDIT
    forged = " (forged name)" if is_forged(FieldWriter(actor.manager, actor.user)) else ""
    manager = f"{actor.manager}{operation}{via}{forged}" if actor.manager else ""
    place = f"from {actor.source_address}" if actor.source_address else ""
    parts = [safe_text(part) for part in (actor.user, manager, actor.time, place) if part]
    return ", ".join(parts) + ("" if known else " (no audit entry)")


def policy_words(finding: Finding) -> str:
    """The rules that it breaks, on one line; empty without any."""
    return safe_text(", ".join(finding.policies), LONGEST_PATH_CHARACTERS)


def risk_words(finding: Finding) -> str:
    """How it stands in the way of the next update; empty when it does not, and for a remark."""
    if finding.next_update is None or not finding.is_drift:
        return ""
    return _RISKS.get(finding.next_update, "")


def layer_words(layer: Layer) -> str:
    """Whether a detector ran, and what it checked or why not, on one line."""
    asked = "ran" if layer.has_run else "not asked"
    return f"layer {layer.name}: {asked}: {safe_text(layer.detail, LONGEST_PATH_CHARACTERS)}"


def is_kept(finding: Finding) -> bool:
    """Whether it is the remark on an object that an update has kept."""
    return finding.drift_class is DriftClass.UNMANAGED and not finding.is_drift


def finding_name(finding: Finding) -> str:
    """A finding as `--only` takes it: kind, namespace/name, and the path in it."""
    return f"{finding.ref} {format_path(finding.path)}".rstrip()


def headline(finding: Finding) -> str:
    """The finding in one sentence without its object."""
    if finding.next_update is NextUpdate.DELETES:
        return "the object is no longer declared since the last update"
    if finding.next_update is NextUpdate.DEPLOYS:
        return f"declared, not deployed: {_difference(finding)}"
    return _difference(finding)


def _difference(finding: Finding) -> str:
    if is_kept(finding):
        return f"kept by an update that removed it from the stack; {KEPT_FOR}"
    if finding.drift_class in _WHOLE_OBJECT:
        return _WHOLE_OBJECT[finding.drift_class]
    path = path_words(finding)
    live = "nothing" if finding.live is None else value_words(finding.live)
    if finding.desired is None:
        return f"{path} was added but is not declared: {live}"
    return f"{path}: expected {value_words(finding.desired)}, found {live}"


PAGE: Final = RUNBOOK_PAGE
"""The runbook, relative to the project; each class has a heading of its name there."""

NOT_CHECKED: Final = "not-checked"
"""Heading for what a scan could not check."""


@dataclass(frozen=True)
class Guide:
    """How to read one class of finding.

    Attributes:
        meaning: One sentence, lower case.
        remedy: What to do, as one or two sentences.
    """

    meaning: str
    remedy: str


GUIDES: Final = {
    DriftClass.CHANGED: Guide(
        "a declared field has another value",
        "Revert it with `holdfast drift revert`, or declare the live value in the manifest.",
    ),
    DriftClass.REMOVED: Guide(
        "a declared field is gone",
        "Revert it with `holdfast drift revert`, or take the field out of the manifest.",
    ),
    DriftClass.ADDED: Guide(
        "a field, key or list item that is neither declared nor a default",
        "Ask who added it and why. Remove it with `holdfast drift revert`, or declare it.",
    ),
    DriftClass.MISSING: Guide(
        "a declared object is gone",
        "Recreate it with `holdfast drift revert` or `pulumi up --refresh`.",
    ),
    DriftClass.RECREATED: Guide(
        "the object was deleted and recreated; its content is judged like any other",
        "Find out who deleted it; data may be gone. `holdfast drift revert` confirms the new one.",
    ),
    DriftClass.TERMINATING: Guide(
        "the object is being deleted and something holds it",
        "See its finalizers; once it is gone, recreate it with `pulumi up --refresh`.",
    ),
    DriftClass.UNMANAGED: Guide(
        "the object is not declared, and exists where only declared objects should",
        "Declare it, delete it, or move it out of the namespace.",
    ),
}


def anchor_of(drift_class: DriftClass) -> str:
    """Heading of the runbook for a class of finding."""
    return drift_class.value


def runbook_link(anchor: str, page: str = PAGE) -> str:
    """Where a reader finds more."""
    return f"{page}#{anchor}"
