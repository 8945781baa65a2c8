"""The formats in which a fleet can be reported, by the word that chooses each."""

from typing import Final

from holdfast.operations.describe.fleet import FleetReport

FLEET_FORMATS: Final = ("text", "json", "html")
"""Formats of a report of a fleet."""


def write_fleet(report: FleetReport, chosen: str) -> str:
    """A fleet in one of `FLEET_FORMATS`, ending in a line end."""
    if chosen == "text":
        from holdfast.report.text.fleet_words import fleet_text  # noqa: PLC0415  (start-up)

        return fleet_text(report)
    if chosen == "json":
        from holdfast.report.documents.fleet import fleet_json  # noqa: PLC0415  (as above)

        return fleet_json(report)
    from holdfast.report.html.fleet_page import fleet_page  # noqa: PLC0415  (as above)

    return fleet_page(report)
