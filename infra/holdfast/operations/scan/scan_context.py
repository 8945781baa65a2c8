"""What is known beside a drift report: when, of what, where things are declared, since when."""

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.drift.finding import Finding
from holdfast.drift.record.sightings import Sighting
from holdfast.errors import SourceLocation
from holdfast.report.text.runbook import PAGE


def _nowhere(_: Finding) -> None:
    return None


@dataclass(frozen=True)
class DriftContext:
    """What a report of drift says besides its findings.

    Attributes:
        stack: Name of the stack; empty for plain files.
        observed_at: RFC 3339 time of the scan; empty when it is not known.
        runbook: Address of docs/drift.md, for links.
        location_of: Where the field of a finding (else its agent) is declared; None: nowhere.
        sighting_of: When a finding was seen before; None: no history is kept.
    """

    stack: str = ""
    observed_at: str = ""
    runbook: str = PAGE
    location_of: Callable[[Finding], SourceLocation | None] = _nowhere
    sighting_of: Callable[[Finding], Sighting | None] = _nowhere
