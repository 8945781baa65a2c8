"""How a change reaches an agent's pods, and what it must show on the way."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from holdfast.manifest.text.faults import fault
from holdfast.manifest.types.choices import Choosing, OneOf
from holdfast.manifest.types.values import (
    Duration,
    IntOrPercent,
    Items,
    ManifestModel,
    Text,
    duration_milliseconds,
)

Percentage = Annotated[int, Field(ge=0, le=100)]
Share = Annotated[float, Field(ge=0, le=100)]
Strategy = Literal["RollingUpdate", "Recreate", "BlueGreen", "Canary"]
PROGRESSIVE: tuple[Strategy, ...] = ("BlueGreen", "Canary")
"""Strategies in which an old and a new version run side by side until the new one has passed."""
DEFAULT_DEADLINE_SECONDS = 600

_FIELDS_OF: dict[str, tuple[Strategy, ...]] = {
    "max_surge": ("RollingUpdate", "Canary"),
    "max_unavailable": ("RollingUpdate", "Canary"),
    "steps": ("Canary",),
    "analysis": PROGRESSIVE,
    "auto_rollback": PROGRESSIVE,
}


class Pause(ManifestModel):
    """A wait between two steps."""

    duration: Duration
    """Time to wait, such as 10m."""


class RolloutStep(Choosing):
    """One step of a canary: a weight, or a pause."""

    CHOICES = (OneOf(("set_weight", "pause")),)

    set_weight: Percentage | None = None
    """Percent of the traffic (of the pods, without a gateway) that the new version gets."""
    pause: Pause | None = None
    """A wait."""


class Analysis(ManifestModel):
    """What the metrics of a new version must show; a version that falls short is not promoted."""

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

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        asked = (
            self.max_error_rate,
            self.max_p99_latency_ms,
            self.min_tool_success,
            self.max_tokens_per_request,
        )
        if all(limit is None for limit in asked):
            raise fault(
                "expected at least one of maxErrorRate, maxP99LatencyMs, minToolSuccess and "
                "maxTokensPerRequest"
            )
        if not self.window_seconds:
            raise fault("expected a window of at least 1s", found=self.window, at=("window",))
        return self

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


class Rollout(ManifestModel):
    """How a change reaches the pods."""

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

    @model_validator(mode="after")
    def _has_effect(self) -> Self:
        for name, strategies in _FIELDS_OF.items():
            # A default that is written out does no harm.
            known = type(self).model_fields[name]
            if getattr(self, name) != known.default and self.strategy not in strategies:
                field = known.alias or name
                raise fault(
                    f"has no effect with strategy {self.strategy}",
                    remedy=f"remove it, or use {' or '.join(strategies)}",
                    at=(field,),
                )
        if self.strategy == "Canary":
            self._refuse_faulty_steps()
        elif self.strategy == "RollingUpdate" and self._moves_nothing:
            raise fault("maxSurge and maxUnavailable must not both be 0", remedy="set maxSurge: 1")
        return self

    @property
    def _moves_nothing(self) -> bool:
        return {self.max_surge, self.max_unavailable} <= {0, "0%"}

    def _refuse_faulty_steps(self) -> None:
        weights = [step.set_weight for step in self.steps if step.set_weight is not None]
        if not weights:
            raise fault(
                "Canary needs steps with at least one setWeight",
                remedy="such as [{setWeight: 10}, {pause: {duration: 10m}}, {setWeight: 50}, "
                "{pause: {duration: 10m}}]",
                at=("steps",),
            )
        if weights != sorted(weights):
            raise fault(
                "expected weights that do not fall",
                found=", ".join(str(weight) for weight in weights),
                at=("steps",),
            )
        for index, step in enumerate(self.steps):
            later = self.steps[index + 1 : index + 2]
            is_pause_next = bool(later) and later[0].pause is not None
            if self.analysis and step.set_weight is not None and not is_pause_next:
                raise fault(
                    "with analysis, a pause must follow each setWeight: without requests there "
                    "is nothing to judge",
                    remedy=f"add {{pause: {{duration: {self.analysis.window}}}}} after it",
                    at=("steps", index),
                )

    @property
    def is_progressive(self) -> bool:
        """Whether Argo Rollouts runs the pods."""
        return self.strategy in PROGRESSIVE

    @property
    def pause_seconds(self) -> int:
        """Seconds that all pauses take together."""
        pauses = (duration_milliseconds(step.pause.duration) for step in self.steps if step.pause)
        return sum(pauses) // 1000
