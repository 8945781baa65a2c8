"""What an agent of type Sandbox is: one isolated workspace, or a pool of warm ones."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from holdfast.manifest.text.faults import fault
from holdfast.manifest.types.values import Duration, ManifestModel


class WarmPool(ManifestModel):
    """Sandboxes that wait, started, for somebody to claim one."""

    replicas: Annotated[int, Field(ge=0, le=1000)]
    """How many wait."""


class SandboxSettings(ManifestModel):
    """The sandbox of an agent of type Sandbox; needs agent-sandbox in the cluster."""

    warm_pool: WarmPool | None = None
    """Keep a pool of started sandboxes (SandboxTemplate, SandboxWarmPool); default one Sandbox."""
    claim: bool = False
    """Claim one sandbox of the pool for the agent itself; default false, others claim theirs."""
    operating_mode: Literal["Running", "Suspended"] = "Running"
    """Suspended stops the pod and keeps its storage; default Running. Not with a pool."""
    shutdown_after: Duration | None = None
    """Longest life of a sandbox's pod; default no limit."""
    ttl_seconds_after_finished: Annotated[int, Field(ge=0, le=31_536_000)] = 3600
    """Seconds after which a finished claim is removed; needs claim. Default 3600."""
    env_injection: Literal["Disallowed", "Allowed", "Overrides"] = "Disallowed"
    """Whether a claim may add variables, or override declared ones; needs warmPool."""

    @model_validator(mode="after")
    def _pool_or_one(self) -> Self:
        if self.warm_pool is None:
            for field in ("claim", "env_injection"):
                if getattr(self, field) != type(self).model_fields[field].default:
                    name = type(self).model_fields[field].alias or field
                    expected = "needs warmPool: without a pool there is nothing to claim"
                    raise fault(expected, at=(name,), remedy=f"add warmPool, or remove {name}")
        elif self.operating_mode != "Running":
            raise fault("a pool cannot be suspended", at=("operatingMode",), remedy="remove it")
        if "ttl_seconds_after_finished" in self.model_fields_set and not self.claim:
            raise fault(
                "only a claim is removed after it has finished",
                at=("ttlSecondsAfterFinished",),
                remedy="add claim: true, or remove it",
            )
        return self
