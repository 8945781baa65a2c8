"""Agents whose objects the engine has in its record, and what of them it would give up."""

from dataclasses import dataclass
from pathlib import Path

from holdfast.adapters.engine.state.baseline import state_files
from holdfast.adapters.engine.state.checkpoint import Deployment
from holdfast.errors import InputError
from holdfast.kube.objects import ObjectRef, reference_of
from holdfast.manifest.publish.component_types import AGENT_TYPE
from holdfast.operations.stack.context import StackContext


@dataclass(frozen=True)
class RecordedAgents:
    """What the engine's record of a stack holds of its agents.

    Attributes:
        urns: Agent to its component.
        objects: Agent to the objects below that.
    """

    urns: dict[str, str]
    objects: dict[str, tuple[ObjectRef, ...]]

    @classmethod
    def of(cls, root: Path, stack: str) -> "RecordedAgents":
        """Read the record as it is now.

        Raises:
            EngineError: the backend cannot be read.
        """
        return cls.recorded_in(_deployment(root, stack))

    @classmethod
    def recorded_in(cls, deployment: Deployment) -> "RecordedAgents":
        """The agents of a checkpoint."""
        urns = {
            each.urn.rpartition("::")[2]: each.urn
            for each in deployment.resources
            if each.type == AGENT_TYPE
        }
        objects: dict[str, list[ObjectRef]] = {name: [] for name in urns}
        agent_of = {urn: name for name, urn in urns.items()}
        for each in deployment.resources:  # parents stand before their children
            owner = agent_of.get(each.parent)
            if owner is None:
                continue
            agent_of[each.urn] = owner
            if (recorded := each.kubernetes_object()) is not None:
                objects[owner].append(reference_of(recorded.live))
        return cls(urns, {name: tuple(found) for name, found in objects.items()})


def ensure_handed_over(root: Path, stack: str, *, for_plain_pulumi: bool = False) -> None:
    """Refuse to deploy a stack in mode expand while the engine still holds objects of its agents.

    They would be deleted, and the operator is meant to take them over.

    Args:
        root: Folder of the project.
        stack: Name of the stack, which is in mode expand.
        for_plain_pulumi: The program asks, inside a run of the engine: the record is read where
            it is a file here, for no other engine may be started.

    Raises:
        InputError: the engine holds such objects.
    """
    if for_plain_pulumi and state_files(root, stack) is None:
        return
    count = sum(map(len, RecordedAgents.of(root, stack).objects.values()))
    if count:
        raise InputError(
            f"with {{mode: expand}} this update would delete {count} objects of agents, which the "
            "engine still holds",
            remedy=f"run `holdfast operator handover -s {stack}` first",
        )


def _deployment(root: Path, stack: str) -> Deployment:
    """The newest checkpoint, read from its file where there is one; empty before the first."""
    files = state_files(root, stack)
    if files is not None:
        return Deployment() if files.current_path() is None else files.current()
    return StackContext(root, stack).engine().export_if_there() or Deployment()
