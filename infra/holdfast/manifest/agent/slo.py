"""The service level objectives of an agent, and its other alerts."""

from typing import Annotated, Literal

from pydantic import Field

from holdfast.manifest.types.conditions import any_given
from holdfast.manifest.types.manifest_model import ManifestModel
from holdfast.manifest.types.names import AlertName
from holdfast.manifest.types.rules import Rule, Ruled
from holdfast.manifest.types.values import Duration, PromQl, Text, Url

OBJECTIVES = ("availability", "latency", "tool_success")


Target = Annotated[float, Field(gt=0, lt=100)]
"""Share of good events in percent: above 0, below 100."""


class Alert(ManifestModel):
    """An alert of the agent's own (PrometheusRule)."""

    name: AlertName
    """Name of the alert."""
    expr: PromQl
    """PromQL that is true while something is wrong."""
    for_: Duration = Field(default="5m", alias="for")
    """How long it must be true; default 5m."""
    severity: Literal["critical", "warning", "info"] = "warning"
    """How bad it is; default warning."""
    summary: Text
    """What is wrong, in a sentence."""
    runbook_url: Url | None = None
    """What to do about it."""


class Latency(ManifestModel):
    """How fast answers are to be."""

    threshold_ms: Annotated[int, Field(ge=1, le=600_000)]
    """Longest good answer, in milliseconds; a bucket boundary of the histogram."""
    target: Target
    """Share of requests that are to be that fast, in percent."""


class ServiceObjectives(Ruled):
    """Service level objectives; alerts on how fast their error budgets burn are made of them."""

    RULES = (
        Rule(
            "slo-promises-something",
            any_given(*OBJECTIVES),
            "expected at least one of availability, latency and toolSuccess",
            remedy="add availability, latency or toolSuccess",
        ),
    )

    availability: Target | None = None
    """Share of requests that do not fail (5xx), in percent, such as 99.5."""
    latency: Latency | None = None
    """How fast requests are answered."""
    tool_success: Target | None = None
    """Share of tool calls that succeed, in percent."""
    window_days: Annotated[int, Field(ge=7, le=90)] = 30
    """Days over which an error budget counts; default 30."""
    runbook_url: Url | None = None
    """What to do when a budget burns."""
