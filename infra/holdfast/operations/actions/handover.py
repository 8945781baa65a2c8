"""Objects of a stack's agents handed over from the engine to the operator; nothing is deleted."""

from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.adapters.cluster.kinds import served_kinds
from holdfast.adapters.engine.state.rebuilding import remove_from_state
from holdfast.errors import ClusterError, InputError
from holdfast.kube.objects import ObjectRef
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.types.manifest import API_VERSION
from holdfast.operations.actions.action import ActionStep
from holdfast.operations.progress import Progress
from holdfast.operations.scan.live import ClusterSource
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.preflight.state_ownership import RecordedAgents


@dataclass(frozen=True)
class HandoverPlan:
    """What leaves the engine's state.

    Attributes:
        urns: Agent to its component.
        objects: Agent to the objects below that.
    """

    urns: Mapping[str, str]
    objects: Mapping[str, tuple[ObjectRef, ...]]

    @property
    def agents(self) -> tuple[str, ...]:
        """Names of the agents."""
        return tuple(sorted(self.urns))

    @property
    def steps(self) -> tuple[ActionStep, ...]:
        """One an object."""
        return tuple(
            ActionStep("hand over", ref, f"agent {agent}")
            for agent, refs in sorted(self.objects.items())
            for ref in refs
        )

    @property
    def summary(self) -> str:
        """How many objects."""
        return f"{len(self.steps)} objects handed over to the operator"


def plan_handover(context: StackContext) -> HandoverPlan:
    """What the engine holds of a stack's agents, once the operator could take it over.

    Raises:
        InputError: the stack is not in mode expand, or holds agents that it does not declare.
        ClusterError: the cluster does not serve the kinds of Holdfast.
        EngineError: the state cannot be read.
    """
    recorded = RecordedAgents.of(context.root, context.name)
    mode = context.fleet.environment.agent_resources.mode
    if mode != "expand":
        raise InputError(
            f"stack {context.name} has holdfast:agentResources {{mode: {mode}}}",
            remedy="set {mode: expand} in its stack file first",
        )
    declared = {agent.name for agent in context.fleet.agents}
    orphans = sorted(recorded.urns.keys() - declared)
    if orphans:
        raise InputError(
            f"{', '.join(orphans)}: deployed but no longer declared: nothing would delete the rest",
            remedy="go back to {mode: observe}, run `holdfast up`, then change the mode",
        )
    wanted = (API_VERSION, AGENT_KIND)
    if wanted not in served_kinds(ClusterSource.of_stack(context).client, [wanted]):
        raise ClusterError(
            f"the cluster does not serve {API_VERSION} {AGENT_KIND}",
            remedy="run 'holdfast operator install'",
        )
    return HandoverPlan(recorded.urns, recorded.objects)


def apply_handover(context: StackContext, plan: HandoverPlan, progress: Progress) -> None:
    """Take the components and what is below them out of the engine's state.

    Raises:
        EngineError: an update is under way or was interrupted, or the state cannot be written.
    """
    remove_from_state(context.engine(), plan.urns.values())
    progress.note(f"{plan.summary}; now run `holdfast up -s {context.name}`")
