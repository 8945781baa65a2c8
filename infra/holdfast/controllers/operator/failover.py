"""How primary and standby of an agent stand, and when the Service is to lead to the other. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.kube.conditions import Condition, Truth
from holdfast.kube.objects import Identity, KubeObject
from holdfast.kube.workload_status import pod_counts
from holdfast.manifest.agent.scaling import Availability
from holdfast.render.objects.failover import FailoverTarget, other_target, serving_target
from holdfast.render.objects.services import STANDBY


@dataclass(frozen=True)
class FailoverState:
    """Primary and standby at one moment.

    Attributes:
        agent: Name of the agent.
        availability: Of the manifest.
        serving: Where the Service leads.
        ready: Ready pods of those that serve, and of the others.
        down_seconds: For how long no pod of those that serve has been ready; 0 while one is.
    """

    agent: str
    availability: Availability
    serving: FailoverTarget
    ready: tuple[int, int]
    down_seconds: float = 0.0

    @property
    def is_down(self) -> bool:
        """Whether none of those that serve is ready, and the other is."""
        serving, other = self.ready
        return serving == 0 and other > 0

    @property
    def is_automatic(self) -> bool:
        """Whether the operator moves the Service."""
        return self.availability.failover == "automatic"

    @property
    def seconds_left(self) -> float | None:
        """Until the Service is moved; None when it is not going to be."""
        if not (self.is_automatic and self.is_down):
            return None
        return max(0.0, self.availability.failover_seconds - self.down_seconds)

    @property
    def must_move(self) -> bool:
        """Whether the Service is to be moved now."""
        return self.seconds_left == 0.0

    @property
    def condition(self) -> Condition:
        """The same for people and controllers."""
        other = other_target(self.serving)
        trouble = f"no pod of the {self.serving} is ready, and the {other} has {self.ready[1]}"
        if self.is_down and self.is_automatic:
            after = self.availability.failover_seconds
            message = f"{trouble}; it takes over after {after:g} s"
            return Condition("FailedOver", _truth(self), "Waiting", message)
        if self.is_down:
            message = f"{trouble}: run `{self._declares(other)}`"
            return Condition("FailedOver", _truth(self), "Offered", message)
        if self.serving == self.availability.active:
            return Condition("FailedOver", "False", "AsDeclared", f"the {self.serving} serves")
        message = (
            f"the {self.serving} serves, the {other} is declared: "
            f"`{self._declares(self.serving)}` declares what runs"
        )
        return Condition("FailedOver", "True", "Moved", message)

    def _declares(self, side: str) -> str:
        return f"holdfast agent set {self.agent} scaling.availability.active={side}"


def failover_state_of(
    agent: str,
    availability: Availability,
    live: Mapping[Identity, KubeObject],
    namespace: str,
) -> FailoverState | None:
    """How they stand; None without a standby, or while one of the three objects is not there.

    Args:
        agent: Name of the agent.
        availability: What its manifest says.
        live: Its live objects.
        namespace: Where they are.
    """
    if not availability.standby:
        return None
    service = live.get(Identity("", "Service", namespace, agent))
    side = serving_target(service) if service is not None else None
    names: dict[FailoverTarget, str] = {"primary": agent, "standby": f"{agent}-{STANDBY}"}
    workloads = {
        each: live.get(Identity("apps", "Deployment", namespace, name))
        for each, name in names.items()
    }
    if side is None or any(one is None for one in workloads.values()):
        return None
    ready = {each: pod_counts(one or {}).ready for each, one in workloads.items()}
    return FailoverState(agent, availability, side, (ready[side], ready[other_target(side)]))


def _truth(state: FailoverState) -> Truth:
    return "False" if state.serving == state.availability.active else "True"
