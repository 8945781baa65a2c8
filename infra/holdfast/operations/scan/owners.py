"""Who owns which fields of the live objects that a stack, or files, declare."""

from dataclasses import dataclass, replace

from holdfast.drift.cause.owners import OwnedObject, owned_objects
from holdfast.drift.finding import NotChecked
from holdfast.errors import InputError
from holdfast.manifest.types.marks import agent_of
from holdfast.operations.progress import SILENT, Progress
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scanner import Scanner


@dataclass(frozen=True)
class OwnersReport:
    """Field ownership of the declared objects.

    Attributes:
        objects: The declared objects that are live, each with its field managers.
        not_checked: What could not be read.
    """

    objects: tuple[OwnedObject, ...]
    not_checked: tuple[NotChecked, ...] = ()

    def only_shared(self) -> "OwnersReport":
        """The objects that more than one manager applies."""
        shared = tuple(each for each in self.objects if len(each.deliverers) > 1)
        return replace(self, objects=shared)


def field_owners(
    request: ScanRequest, agent: str = "", progress: Progress = SILENT
) -> OwnersReport:
    """Read which field manager owns which fields; nothing is written.

    Args:
        request: What is declared, and where it is live.
        agent: Whose objects; empty for those of all agents.
        progress: Takes notes on what could not be read.

    Raises:
        InputError: no declared object is of the agent.
        ClusterError: the cluster cannot be asked at all.
    """
    scan = Scanner(request, progress).scan(keeps_all=True)
    agents = {identity: agent_of(each) for identity, each in scan.desired.items()}
    if agent and agent not in agents.values():
        raise InputError(f"no declared object is of an agent {agent!r}", remedy="see its name")
    found = [
        live
        for identity, live in scan.live.objects.items()
        if identity in agents and agent in ("", agents[identity])
    ]
    return OwnersReport(tuple(owned_objects(found)), scan.report.not_checked)
