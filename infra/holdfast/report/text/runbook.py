"""What each class of finding means and what to do about it: the short form of docs/drift.md."""

from dataclasses import dataclass
from typing import Final

from holdfast.drift.finding import DriftClass
from holdfast.operations.scan.scan_context import RUNBOOK_PAGE

PAGE: Final = RUNBOOK_PAGE
"""The runbook, relative to the project; each class has a heading of its name there."""

NOT_CHECKED: Final = "not-checked"
"""Heading for what a scan could not look at."""


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
        "Put it back with `holdfast drift revert`, or declare the live value in the manifest.",
    ),
    DriftClass.REMOVED: Guide(
        "a declared field is gone",
        "Put it back with `holdfast drift revert`, or take the field out of the manifest.",
    ),
    DriftClass.ADDED: Guide(
        "a field, key or list item that nobody declared, and that is no default",
        "Ask who added it and why. Remove it with `holdfast drift revert`, or declare it.",
    ),
    DriftClass.MISSING: Guide(
        "a declared object is gone",
        "Make it again with `holdfast drift revert` or `pulumi up --refresh`.",
    ),
    DriftClass.RECREATED: Guide(
        "the object was deleted and made again; its content is judged like any other",
        "Find out who deleted it; data that it held may be gone.",
    ),
    DriftClass.TERMINATING: Guide(
        "the object is being deleted and something holds it",
        "Look at its finalizers; once it is gone, make it again with `pulumi up --refresh`.",
    ),
    DriftClass.UNMANAGED: Guide(
        "nobody declared the object, and it stands where only declared objects should",
        "Declare it, delete it, or move it out of the namespace.",
    ),
}


def anchor_of(drift_class: DriftClass) -> str:
    """Heading of the runbook for a class of finding."""
    return drift_class.value


def runbook_link(anchor: str, page: str = PAGE) -> str:
    """Where a reader finds more."""
    return f"{page}#{anchor}"
