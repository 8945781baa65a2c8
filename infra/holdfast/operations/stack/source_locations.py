"""Where in the project's files the things of a finding are declared. Wiring."""

from collections.abc import Callable

from holdfast.drift.finding import DriftClass, Finding
from holdfast.errors import SourceLocation
from holdfast.render.provenance.origins import Origins


def places_in(origins: Origins) -> Callable[[Finding], SourceLocation | None]:
    """Place of a finding in the files of a stack; its stack's file where no agent stands behind it.

    None for objects that nobody declared.
    """

    def place_of(finding: Finding) -> SourceLocation | None:
        if finding.drift_class is DriftClass.UNMANAGED:
            return None
        place = origins.declared_at(finding.ref, finding.path)
        return place or origins.fleet.setting_location()

    return place_of
