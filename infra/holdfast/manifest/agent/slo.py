"""What an agent promises its callers, and what else somebody is to be told."""

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from holdfast.manifest.text.faults import fault
from holdfast.manifest.types.values import Duration, ManifestModel, Text, Url

OBJECTIVES = ("availability", "latency", "tool_success")


def _alert_name(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", value):
        raise fault(
            "expected a name of letters, digits and '_', at most 100, such as QueueIsLong",
            found=repr(value),
        )
    return value


def _expression(value: str) -> str:
    """Refuse what no PromQL can be: brackets that do not match, outside of strings."""
    bare = re.sub(r"\"(\\.|[^\"\\])*\"|'(\\.|[^'\\])*'|`[^`]*`", "", value)
    if quote := next((mark for mark in "\"'`" if mark in bare), None):
        raise fault("expected a PromQL expression", found=f"a {quote} without its partner")
    open_brackets: list[str] = []
    pairs = {")": "(", "]": "[", "}": "{"}
    for character in bare:
        if character in pairs.values():
            open_brackets.append(character)
        elif character in pairs and (not open_brackets or open_brackets.pop() != pairs[character]):
            raise fault("expected a PromQL expression", found=f"{character!r} without its partner")
    if open_brackets:
        found = f"{open_brackets[-1]!r} without its partner"
        raise fault("expected a PromQL expression", found=found)
    return value


AlertName = Annotated[
    str,
    AfterValidator(_alert_name),
    WithJsonSchema({"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,99}$"}),
]
Target = Annotated[float, Field(gt=0, lt=100)]
"""Share of good events in percent: above 0, below 100."""


class Alert(ManifestModel):
    """An alert of the agent's own (PrometheusRule)."""

    name: AlertName
    """Name of the alert."""
    expr: Annotated[Text, AfterValidator(_expression)]
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


class ServiceObjectives(ManifestModel):
    """Service level objectives; alerts on how fast their error budgets burn are made of them."""

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

    @model_validator(mode="after")
    def _promises_something(self) -> Self:
        if all(getattr(self, name) is None for name in OBJECTIVES):
            raise fault("expected at least one of availability, latency and toolSuccess")
        return self
