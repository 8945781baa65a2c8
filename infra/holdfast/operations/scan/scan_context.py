"""What is known beside a drift report: when, of what, where things are declared, since when."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from holdfast.drift.finding import Finding
from holdfast.drift.record.finding_history import FindingHistory, finding_key
from holdfast.errors import SourceLocation
from holdfast.kube.objects import Identity

RUNBOOK_PAGE: Final = "docs/drift.md"
"""The runbook, relative to the project; each class of drift has a heading of its name there."""


class Locations(Protocol):
    """Where things are declared."""

    def location_of(self, finding: Finding) -> SourceLocation | None:
        """Where the field of a finding (else its agent, else its object) is declared."""


@dataclass(frozen=True)
class ObjectLocations:
    """Locations of whole objects, as plain files have them; of no object in none."""

    places: Mapping[Identity, SourceLocation] = field(default_factory=dict)

    def location_of(self, finding: Finding) -> SourceLocation | None:
        """Where the object of a finding is declared."""
        return self.places.get(finding.ref.identity)


@dataclass(frozen=True)
class AgentLocations:
    """Locations of whole agents, by their names: of many findings the fields take long to find."""

    places: Mapping[str, SourceLocation]

    def location_of(self, finding: Finding) -> SourceLocation | None:
        """Where the agent of a finding is declared."""
        return self.places.get(finding.agent)


NO_LOCATIONS: Final[Locations] = ObjectLocations()


@dataclass(frozen=True)
class ReportContext:
    """What a report of drift says besides its findings.

    Attributes:
        stack: Name of the stack; empty for plain files.
        observed_at: RFC 3339 time of the scan; empty when it is not known.
        runbook: Address of docs/drift.md, for links.
        locations: Where things are declared.
        histories: When findings were seen before, by their key; empty when no history is kept.
    """

    stack: str = ""
    observed_at: str = ""
    runbook: str = RUNBOOK_PAGE
    locations: Locations = NO_LOCATIONS
    histories: Mapping[str, FindingHistory] = field(default_factory=dict)

    def location_of(self, finding: Finding) -> SourceLocation | None:
        """Where the field of a finding (else its agent) is declared; None: nowhere."""
        return self.locations.location_of(finding)

    def history_of(self, finding: Finding) -> FindingHistory | None:
        """When a finding was seen before; None: no history is kept."""
        return self.histories.get(finding_key(finding))
