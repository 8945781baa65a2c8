"""How a change reaches an agent's pods, and what it must show on the way."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from holdfast.manifest.types.conditions import Given, any_given, is_
from holdfast.manifest.types.manifest_model import Items, ManifestModel
from holdfast.manifest.types.rules import Computed, Found, OneOf, Rule, Ruled, finds
from holdfast.manifest.types.values import Duration, IntOrPercent, Text, duration_milliseconds

Percentage = Annotated[int, Field(ge=0, le=100)]
Share = Annotated[float, Field(ge=0, le=100)]
Strategy = Literal["RollingUpdate", "Recreate", "BlueGreen", "Canary"]
PROGRESSIVE: tuple[Strategy, ...] = ("BlueGreen", "Canary")
"""Strategies in which an old and a new version run side by side until the new one has passed."""
DEFAULT_DEADLINE_SECONDS = 600

_NO_CANARY = "!has(self.strategy) || self.strategy != 'Canary'"
_WEIGHTED = "self.steps.exists(each, has(each.setWeight))"


class Pause(ManifestModel):
    """A wait between two steps."""

    duration: Duration
    """Time to wait, such as 10m."""


class RolloutStep(Ruled):
    """One step of a canary: a weight, or a pause."""

    RULES = (OneOf(("set_weight", "pause")),)

    set_weight: Percentage | None = None
    """Percent of the traffic (of the pods, without a gateway) that the new version gets."""
    pause: Pause | None = None
    """A wait."""


class Analysis(Ruled):
    """What the metrics of a new version must show; a version that falls short is not promoted."""

    RULES = (
        Rule(
            "analysis-asks-something",
            any_given(
                "max_error_rate", "max_p99_latency_ms", "min_tool_success", "max_tokens_per_request"
            ),
            "expected at least one of maxErrorRate, maxP99LatencyMs, minToolSuccess and "
            "maxTokensPerRequest",
            remedy="add maxErrorRate, maxP99LatencyMs, minToolSuccess or maxTokensPerRequest",
        ),
        Rule(
            "analysis-window",
            Computed(why_not="CEL reads no durations in days"),
            "expected a window of at least 1s",
            remedy='write a longer one, such as "10m"',
        ),
    )

    max_error_rate: Share | None = None
    """Most requests that may fail, in percent."""
    max_p99_latency_ms: Annotated[int, Field(ge=1)] | None = None
    """Longest 99th percentile of a request's duration, in milliseconds."""
    min_tool_success: Share | None = None
    """Fewest tool calls that must succeed, in percent."""
    max_tokens_per_request: Annotated[int, Field(ge=1)] | None = None
    """Most tokens that a request may use on average."""
    min_request_sample: Annotated[int, Field(ge=1)] = 100
    """Requests below which nothing is decided and the rollout waits for a person; default 100."""
    window: Duration = "10m"
    """Time over which the metrics are evaluated; default 10m."""

    @property
    def window_seconds(self) -> int:
        """The window in seconds."""
        return duration_milliseconds(self.window) // 1000


class Preflight(ManifestModel):
    """What a new version must show, in a Job of its own, before it replaces the old one."""

    llm: bool = True
    """The model answers with the agent's own key; default true."""
    tools: bool = True
    """Every tool answers; default true."""
    command: Items[Text] = ()
    """Command run in the agent's image; 0 passes. Default none."""
    timeout: Duration = "60s"
    """Time the whole check may take; default 60s."""

    @property
    def timeout_seconds(self) -> int:
        """The timeout in seconds, rounded up."""
        return -(-duration_milliseconds(self.timeout) // 1000)


class Rollout(Ruled):
    """How a change reaches the pods."""

    RULES = (
        *(
            Rule(
                f"strategy-of-{field.replace('_', '-')}",
                by_default | is_("strategy", *strategies),
                "has no effect with this strategy",
                shown=("strategy",),
                remedy=f"remove it, or use {' or '.join(strategies)}",
                at=field,
            )
            for field, by_default, strategies in (
                # A default that is written out does no harm.
                ("max_surge", is_("max_surge", 1), ("RollingUpdate", "Canary")),
                ("max_unavailable", is_("max_unavailable", 0), ("RollingUpdate", "Canary")),
                ("steps", ~Given("steps"), ("Canary",)),
                ("analysis", ~Given("analysis"), PROGRESSIVE),
                ("auto_rollback", is_("auto_rollback", True), PROGRESSIVE),
            )
        ),
        Rule(
            "rolling-update-moves",
            is_("strategy", "RollingUpdate").excludes(
                is_("max_surge", 0, "0%") & is_("max_unavailable", 0, "0%")
            ),
            "maxSurge and maxUnavailable must not both be 0",
            remedy="set maxSurge: 1",
        ),
        Rule(
            "canary-has-weights",
            Computed(cel=f"{_NO_CANARY} || (has(self.steps) && {_WEIGHTED})", fields=("strategy",)),
            "Canary needs steps with at least one setWeight",
            remedy="such as [{setWeight: 10}, {pause: {duration: 10m}}, {setWeight: 50}, "
            "{pause: {duration: 10m}}]",
        ),
        Rule(
            "canary-weights-rise",
            Computed(
                cel=f"{_NO_CANARY} || !has(self.steps) || self.steps.filter(each, "
                "has(each.setWeight)).map(each, each.setWeight).isSorted()",
                fields=("steps",),
            ),
            "expected weights that do not fall",
            remedy="order the steps by their weight",
        ),
        Rule(
            "canary-pauses-to-judge",
            Computed(why_not="CEL does not see the neighbour of an item", fields=("steps",)),
            "with analysis, a pause must follow each setWeight: without requests there "
            "is nothing to judge",
            remedy="add {pause: {duration: 10m}} after it",
        ),
    )

    strategy: Strategy = "RollingUpdate"
    """RollingUpdate, Recreate, or with Argo Rollouts BlueGreen and Canary; default RollingUpdate,
    and Recreate where a claim has a single writer."""
    max_surge: IntOrPercent = 1
    """Pods above the number wanted, during an update; default 1."""
    max_unavailable: IntOrPercent = 0
    """Pods below the number wanted, during an update; default 0."""
    preflight: Preflight | None = None
    """What gates a new version; on by default when a model is set and the stack has images.tools,
    off with llm and tools false."""
    steps: Items[RolloutStep] = ()
    """Steps of a canary, in order; required with Canary, after the last the new version has all."""
    analysis: Analysis | None = None
    """What the new version's metrics must show (BlueGreen and Canary); default none."""
    auto_rollback: bool = True
    """Go back by itself when the new version fails; false: stop and wait. Default true."""
    progress_deadline_seconds: Annotated[int, Field(ge=1, le=86_400)] | None = None
    """Seconds after which an update counts as stuck; default 600, or 60 beyond
    the startup probe."""

    @property
    def is_progressive(self) -> bool:
        """Whether Argo Rollouts runs the pods."""
        return self.strategy in PROGRESSIVE

    @property
    def pause_seconds(self) -> int:
        """Seconds that all pauses take together."""
        pauses = (duration_milliseconds(step.pause.duration) for step in self.steps if step.pause)
        return sum(pauses) // 1000


@finds("analysis-window")
def _short_window(analysis: Analysis) -> Iterator[Found]:
    if not analysis.window_seconds:
        yield Found(("window",), analysis.window)


def _weights(rollout: Rollout) -> list[int]:
    is_canary = rollout.strategy == "Canary"
    return [each.set_weight for each in rollout.steps if is_canary and each.set_weight is not None]


@finds("canary-has-weights")
def _no_weights(rollout: Rollout) -> Iterator[Found]:
    if rollout.strategy == "Canary" and not _weights(rollout):
        yield Found(("steps",))


@finds("canary-weights-rise")
def _falling_weights(rollout: Rollout) -> Iterator[Found]:
    weights = _weights(rollout)
    if weights != sorted(weights):
        yield Found(("steps",), ", ".join(str(weight) for weight in weights))


@finds("canary-pauses-to-judge")
def _weights_without_pause(rollout: Rollout) -> Iterator[Found]:
    if not rollout.analysis or rollout.strategy != "Canary":
        return
    for index, step in enumerate(rollout.steps):
        later = rollout.steps[index + 1 : index + 2]
        is_pause_next = bool(later) and later[0].pause is not None
        if step.set_weight is not None and not is_pause_next:
            remedy = f"add {{pause: {{duration: {rollout.analysis.window}}}}} after it"
            yield Found(("steps", index), remedy=remedy)
