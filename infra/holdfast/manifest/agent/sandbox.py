"""What an agent of type Sandbox is: one isolated workspace, or a pool of warm ones."""

from typing import Annotated, Literal

from pydantic import Field

from holdfast.manifest.types.conditions import Given, Written, is_
from holdfast.manifest.types.manifest_model import ManifestModel
from holdfast.manifest.types.rules import Rule, Ruled
from holdfast.manifest.types.values import Duration


class WarmPool(ManifestModel):
    """Sandboxes that wait, started, for somebody to claim one."""

    replicas: Annotated[int, Field(ge=0, le=1000)]
    """How many wait."""


class SandboxSettings(Ruled):
    """The sandbox of an agent of type Sandbox; needs agent-sandbox in the cluster."""

    RULES = (
        *(
            Rule(
                f"pool-for-{field.replace('_', '-')}",
                by_default | Given("warm_pool"),
                "needs warmPool: without a pool there is nothing to claim",
                remedy="add warmPool, or remove it",
                at=field,
            )
            for field, by_default in (
                ("claim", is_("claim", False)),
                ("env_injection", is_("env_injection", "Disallowed")),
            )
        ),
        Rule(
            "pool-runs",
            Given("warm_pool").needs(is_("operating_mode", "Running")),
            "a pool cannot be suspended",
            remedy="remove it",
            at="operating_mode",
        ),
        Rule(
            "pool-pods-live",
            Given("warm_pool").excludes(Given("shutdown_after")),
            "would count from the start of a pod that waits, not from its claim",
            remedy="remove it; who claims a sandbox sets spec.lifecycle.shutdownTime",
            at="shutdown_after",
        ),
        Rule(
            "claims-finish",
            Written("ttl_seconds_after_finished").needs(is_("claim", True)),
            "only a claim is removed after it has finished",
            remedy="add claim: true, or remove it",
            at="ttl_seconds_after_finished",
        ),
    )

    warm_pool: WarmPool | None = None
    """Keep a pool of started sandboxes (SandboxTemplate, SandboxWarmPool); default one Sandbox."""
    claim: bool = False
    """Claim one sandbox of the pool for the agent itself; default false, others claim theirs."""
    operating_mode: Literal["Running", "Suspended"] = "Running"
    """Suspended stops the pod and keeps its storage; default Running. Not with a pool."""
    shutdown_after: Duration | None = None
    """Longest life of the sandbox's pod; default no limit. Not with a pool, whose pods would end
    while they wait: who claims one sets spec.lifecycle.shutdownTime of the SandboxClaim."""
    ttl_seconds_after_finished: Annotated[int, Field(ge=0, le=31_536_000)] = 3600
    """Seconds after which a finished claim is removed; needs claim. Default 3600."""
    env_injection: Literal["Disallowed", "Allowed", "Overrides"] = "Disallowed"
    """Whether a claim may add variables, or override declared ones; needs warmPool."""
