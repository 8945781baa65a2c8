"""An update in waves: agents in the order of their needs, each wave healthy before the next."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from holdfast.adapters.engine.run.events import ResourceStep
from holdfast.errors import EngineError
from holdfast.kube.objects import reference_of
from holdfast.kube.workload_status import Health, worst
from holdfast.manifest.publish.component_types import COMPONENT_PREFIX
from holdfast.manifest.types.ordering import waves
from holdfast.operations.scan.health import HealthReader
from holdfast.operations.stack.context import StackContext
from holdfast.render.objects.stack_declaration import DEPLOYED_ROLE
from holdfast.render.plan.planning import plan_fleet

GATE_SECONDS = 30.0
"""How long a wave's agents may take to be ready after the engine has said that they are."""

_LOOK_SECONDS = 1.0
_REMOVALS = ("delete", "delete-replaced", "discard", "remove-pending-replace")


class WaveFailedError(EngineError):
    """A wave whose agents are not healthy: later waves were not begun."""


@dataclass(frozen=True)
class Wave:
    """A part of an update that is done before the rest.

    Attributes:
        name: For people: `1 of 3: search, index`.
        urns: Resources to update.
        agents: Agents that must be healthy before the next wave.
    """

    name: str
    urns: tuple[str, ...]
    agents: tuple[str, ...]


def plan_waves(context: StackContext, steps: Sequence[ResourceStep]) -> list[Wave]:
    """Every wave but the last, which is the update of all that is left.

    What belongs to no agent comes with the first one; what is deleted goes at the end.

    Args:
        context: The stack.
        steps: What a preview would do.
    """
    agents = {reference_of(item.manifest).identity: item.agent for item in context.rendered}
    last = {item.identity for item in context.rendered if item.role == DEPLOYED_ROLE}
    needs = plan_fleet(context.fleet, context.name).start_needs()
    groups = [tuple(name for _, name in wave) for wave in waves(needs)]
    number_of = {name: number for number, group in enumerate(groups) for name in group}
    urns: list[dict[str, None]] = [{} for _ in groups]
    for step in steps:
        if step.operation in _REMOVALS:
            continue
        if step.reference and step.reference.identity in last:
            continue  # it says that the update is complete
        agent = agents.get(step.reference.identity, "") if step.reference else ""
        agent = agent or _agent_of_component(step, number_of)
        urns[number_of.get(agent, 0)][step.urn] = None
    return [
        Wave(f"{number + 1} of {len(groups)}: {', '.join(group)}", tuple(urns[number]), group)
        for number, group in enumerate(groups[:-1])
        if urns[number]
    ]


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
    """Lets an update go on when the agents of a wave are healthy.

    Attributes:
        reader: Reads the health of the stack's agents.
        excused: Agents that were not healthy before and of which nothing is updated.
    """

    reader: HealthReader
    excused: Mapping[str, str]

    def wait(self, wave: Wave) -> None:
        """Wait a while for them to be.

        Raises:
            WaveFailedError: one is not.
        """
        deadline = time.monotonic() + GATE_SECONDS
        judged = [name for name in wave.agents if name not in self.excused]
        while True:
            verdicts = self.reader.health()
            found = worst({name: verdicts[name] for name in judged})
            if found.is_healthy:
                return
            if found.health is Health.DEGRADED or time.monotonic() > deadline:
                raise WaveFailedError(
                    f"wave {wave.name}: gate health failed: {found.reason} "
                    f"({found.health.value}); later waves were not begun"
                )
            time.sleep(_LOOK_SECONDS)
