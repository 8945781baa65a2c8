"""What an agent may spend, and what watches over what it says."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from holdfast.manifest.text.faults import fault
from holdfast.manifest.types.text_checks import duration_milliseconds
from holdfast.manifest.types.values import Duration, LabelName, ManifestModel


class Budget(ManifestModel):
    """Limits that the agent's runtime keeps, told in agent.json; a run of a Job is ended."""

    max_tokens_per_run: Annotated[int, Field(ge=1)] | None = None
    """Tokens that one run may use, input and output together."""
    max_cost_usd: Annotated[float, Field(gt=0)] | None = Field(default=None, alias="maxCostUSD")
    """US dollars that may be spent in a period; without one, in a run."""
    period: Duration | None = None
    """Time after which maxCostUSD counts anew, such as 1d."""
    max_steps: Annotated[int, Field(ge=1, le=100_000)] = 20
    """Turns of one run: a model's answer and the tools it calls; default 20."""
    timeout: Duration = "10m"
    """Longest run; default 10m. A run of a Job is ended by Kubernetes."""
    on_exceed: Literal["stop", "pause", "warn"] = "stop"
    """What the runtime does at a limit: end the run, wait for a person, or only say so; default
    stop."""

    @model_validator(mode="after")
    def _periods_have_costs(self) -> Self:
        if self.period is not None and self.max_cost_usd is None:
            raise fault("period needs maxCostUSD", remedy="say how much", at=("period",))
        for field, text in (("period", self.period), ("timeout", self.timeout)):
            if text is not None and duration_milliseconds(text) < 1000:  # noqa: PLR2004 - a second
                raise fault("expected a second or more", found=repr(text), at=(field,))
        return self


class Guardrail(ManifestModel):
    """A policy of the model gateway that judges requests or answers."""

    ref: LabelName
    """Name of the policy, as the gateway knows it."""
    mode: Literal["preCall", "postCall"]
    """preCall: judges what is sent to the model; postCall: what it answers."""
