"""Where in the project's files the things of a finding are declared."""

from dataclasses import dataclass

from holdfast.drift.finding import DriftClass, Finding
from holdfast.errors import SourceLocation
from holdfast.render.provenance.origins import Origins


@dataclass(frozen=True)
class StackLocations:
    """Locations in the files of a stack."""

    origins: Origins

    def location_of(self, finding: Finding) -> SourceLocation | None:
        """Where the field of a finding is declared; None for objects that no file declares.

        It is the stack's own file where no agent stands behind the object.
        """
        if finding.drift_class is DriftClass.UNMANAGED:
            return None
        found = self.origins.declared_at(finding.ref, finding.path)
        return found or self.origins.fleet.setting_location()
