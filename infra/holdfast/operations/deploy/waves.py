"""An update in waves: agents in the order of their needs, each wave healthy first. Wiring."""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.adapters.engine.run.events import ResourceStep
from holdfast.errors import EngineError
from holdfast.kube.objects import reference_of
from holdfast.kube.workload_status import Health, worst
from holdfast.manifest.publish.component_types import COMPONENT_PREFIX
from holdfast.manifest.types.ordering import waves
from holdfast.operations.deploy.request import Wave
from holdfast.operations.scan.health import health_of_agents
from holdfast.operations.stack.context import StackContext
from holdfast.render.plan.declared import plan_fleet

GATE_SECONDS = 30.0
"""How long a wave's agents may take to be ready after the engine has said that they are."""

_LOOK_SECONDS = 1.0
_REMOVALS = ("delete", "delete-replaced", "discard", "remove-pending-replace")


class WaveFailedError(EngineError):
    """A wave whose agents are not healthy: later waves were not begun."""


@dataclass(frozen=True)
class Waves:
    """The waves of one stack's files."""

    root: Path
    stack: str

    def of(self, steps: Sequence[ResourceStep]) -> list[Wave]:
        """Every wave but the last, which is the update of all that is left.

        What belongs to no agent comes with the first one; what is deleted goes at the end.

        Args:
            steps: What a preview would do.
        """
        state = StackContext(self.root, self.stack)
        agents = {reference_of(item.manifest).identity: item.agent for item in state.rendered}
        needs = plan_fleet(state.fleet, self.stack).start_needs()
        groups = [tuple(name for _, name in wave) for wave in waves(needs)]
        number_of = {name: number for number, group in enumerate(groups) for name in group}
        urns: list[dict[str, None]] = [{} for _ in groups]
        for step in steps:
            if step.operation in _REMOVALS:
                continue
            agent = agents.get(step.reference.identity, "") if step.reference else ""
            agent = agent or _agent_of_component(step, number_of)
            urns[number_of.get(agent, 0)][step.urn] = None
        found = []
        for number, group in enumerate(groups[:-1]):
            if urns[number]:
                name = f"{number + 1} of {len(groups)}: {', '.join(group)}"
                gate = self._gate(name, group)
                found.append(Wave(name, tuple(urns[number]), gate))
        return found

    def _gate(self, name: str, agents: Sequence[str]) -> "HealthGate":
        return HealthGate(self, name, tuple(agents))


def _agent_of_component(step: ResourceStep, names: Collection[str]) -> str:
    """The agent that a component belongs to; empty for what belongs to none.

    `search-index-config` is of `search-index`, if there is one, and not of `search`.
    """
    if not step.type.startswith(COMPONENT_PREFIX):
        return ""
    own = [name for name in names if step.name == name or step.name.startswith(f"{name}-")]
    return max(own, key=len, default="")


@dataclass(frozen=True)
class HealthGate:
    """Lets an update go on when some agents are healthy."""

    waves: Waves
    name: str
    agents: tuple[str, ...]

    def __call__(self) -> None:
        """Wait a while for them to be.

        Raises:
            WaveFailedError: one is not.
        """
        deadline = time.monotonic() + GATE_SECONDS
        while True:
            verdicts = health_of_agents(self.waves.root, self.waves.stack)
            found = worst({name: verdicts[name] for name in self.agents})
            if found.is_healthy:
                return
            if found.health is Health.DEGRADED or time.monotonic() > deadline:
                raise WaveFailedError(
                    f"wave {self.name}: gate health failed: {found.reason} "
                    f"({found.health.value}); later waves were not begun"
                )
            time.sleep(_LOOK_SECONDS)
