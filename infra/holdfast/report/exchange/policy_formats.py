"""The formats in which policy can be reported: those of drift, and OSCAL."""

from collections.abc import Sequence
from typing import Final

from holdfast.operations.policy.model import PolicyReport
from holdfast.report.documents.policy import policy_json
from holdfast.report.exchange.formats import DRIFT_FORMATS, write_notices
from holdfast.report.exchange.policy_notices import PAGES, DescribedRule, policy_notices
from holdfast.report.text.policy_text import policy_text

POLICY_FORMATS: Final = (*DRIFT_FORMATS, "oscal")
"""Formats of a policy report."""


def write_policy(
    report: PolicyReport,
    chosen: str,
    rules: Sequence[DescribedRule],
    *,
    pages: str = PAGES,
    colour: bool = False,
) -> str:
    """A policy report in one format, ending in a line end (formats of lines may be empty).

    Args:
        report: What the rules said.
        chosen: One of `POLICY_FORMATS`.
        rules: Every rule that findings may name.
        pages: Address of the pages about the rules, for links.
        colour: Whether text is for a terminal that wants colour.
    """
    if chosen == "text":
        return policy_text(report, colour=colour)
    if chosen == "json":
        return policy_json(report)
    if chosen == "prometheus":
        from holdfast.report.exchange.policy_metrics import policy_metrics  # noqa: PLC0415  (start-up)

        return policy_metrics(report)
    if chosen == "oscal":
        from holdfast.report.exchange.oscal import oscal  # noqa: PLC0415  (as above)

        return oscal(report, rules)
    return write_notices(policy_notices(report, rules, pages), chosen)
