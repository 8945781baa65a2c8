"""An agent's volumes filled from backups: declared, and old claims detached without data loss.

A claim is filled when it is created, never later. One that exists must go first, and its volume is
kept. What fills the new claim is declared before the old one goes; after a crash between any two
steps, running the restore again does the rest.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import path_of
from holdfast.adapters.cluster.json_answers import read_whole
from holdfast.errors import InputError
from holdfast.kube.objects import KubeObject, ObjectRef, mapping_at, reference_of
from holdfast.manifest.fleet.fleet import DeclaredAgent
from holdfast.operations.actions.action import ActionStep
from holdfast.operations.actions.backup import SNAPSHOTS
from holdfast.operations.actions.claims import (
    CLAIM,
    VOLUME,
    detach,
    live_claim,
    require_idle,
    volume_of,
)
from holdfast.operations.actions.settings import FieldValue, declare
from holdfast.operations.progress import Progress
from holdfast.operations.scan.live import ClusterSource
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project_copy import ProjectChange


@dataclass(frozen=True, slots=True)
class RestoreRequest:
    """What is asked for.

    Attributes:
        wanted: One backup, or volume to backup.
        may_detach: Claims that exist may be deleted, their volumes kept (`--set-aside`).
        branch: New branch that the declaration is committed on; None for the stack's file.
        message: Of the commit.
    """

    wanted: str | Mapping[str, str]
    may_detach: bool
    branch: str | None
    message: str

    @property
    def named(self) -> str:
        """The backups, in a few words."""
        if isinstance(self.wanted, str):
            return self.wanted
        return ", ".join(f"{volume}={backup}" for volume, backup in self.wanted.items())


@dataclass(frozen=True)
class RestorePlan:
    """What a restore does.

    Attributes:
        agent: Name of the agent.
        request: What is asked for.
        change: Of the stack's file; empty when it declares the backups already.
        claims: Live claims to detach, each with the snapshot that its successor is filled from.
        later: Live claims that stay until the branch is merged; a second restore detaches them.
    """

    agent: str
    request: RestoreRequest
    change: ProjectChange
    claims: tuple[tuple[KubeObject, str], ...]
    later: tuple[ObjectRef, ...] = ()

    @property
    def steps(self) -> tuple[ActionStep, ...]:
        """The claims, then the declaration."""
        steps = [step for claim, snapshot in self.claims for step in _steps(claim, snapshot)]
        if self.change.files:
            steps.append(ActionStep("declare", None, f"storage.restoreFrom: {self.request.named}"))
        return tuple(steps)

    @property
    def summary(self) -> str:
        """From what is restored."""
        return f"restore from {self.request.named}"


def plan_restore(
    context: StackContext, agent: DeclaredAgent, request: RestoreRequest
) -> RestorePlan:
    """Ask everything that can refuse a restore; nothing is written.

    Raises:
        InputError: a snapshot cannot be used, a claim is in use or may not go, or the declaration
            cannot be written or committed.
        InvalidFilesError: the project would not be valid any more.
        ClusterError: the cluster cannot be asked.
    """
    value = request.wanted if isinstance(request.wanted, str) else dict(request.wanted)
    change = declare(context, agent.name, [FieldValue(("storage", "restoreFrom"), value)])
    change.require_writable(context.root, request.branch)
    claims = tuple(_claims_in_the_way(context, agent, request))
    if request.branch is not None and change.files:
        # Nothing deployed declares the backup before the merge: an update would create them empty.
        later = tuple(reference_of(claim) for claim, _ in claims)
        return RestorePlan(agent.name, request, change, (), later)
    return RestorePlan(agent.name, request, change, claims)


def apply_restore(context: StackContext, plan: RestorePlan, progress: Progress) -> None:
    """Declare the backups, then detach the claims.

    Raises:
        InputError: the declaration cannot be written, or a pod uses a claim now.
        ClusterError: the server refused, or a claim does not go.
        EngineError: an update is under way.
    """
    if plan.change.files:
        plan.change.write(context.root, plan.request.branch, plan.request.message, progress)
    if plan.claims:
        detach(context, plan.agent, [claim for claim, _ in plan.claims], progress)
    if plan.later:
        progress.note(
            f"{', '.join(map(str, plan.later))}: not changed yet; when {plan.request.branch} is "
            "merged, run this again without --branch, then `holdfast up`"
        )
    elif plan.request.branch is None:
        progress.note("commit the stack's file, and run `holdfast up`")


def _claims_in_the_way(
    context: StackContext, agent: DeclaredAgent, request: RestoreRequest
) -> Iterator[tuple[KubeObject, str]]:
    """Live claims that must go before new ones can be filled, each with its snapshot."""
    backup, wanted = agent.spec.storage.backup, request.wanted
    if backup is not None and backup.method == "Job":
        return  # restoreCommand fills the claim that exists
    own = [volume.name for volume in agent.spec.storage.volumes if volume.existing_claim is None]
    snapshots = dict.fromkeys(own, wanted) if isinstance(wanted, str) else dict(wanted)
    cluster = ClusterSource.of_stack(context)
    for volume, snapshot in sorted(snapshots.items()):
        _require_usable(cluster, agent.namespace, snapshot)
        claim = live_claim(
            cluster, ObjectRef(agent.namespace, CLAIM, f"{agent.name}-{volume}", "v1")
        )
        if claim is None or _filled_from(claim) == snapshot:
            continue
        require_idle(cluster, claim, agent.name, context.name)
        _require_detachable(context, agent, claim, may_detach=request.may_detach)
        yield claim, snapshot


def _require_usable(cluster: ClusterSource, namespace: str, snapshot: str) -> None:
    try:
        live = read_whole(
            cluster.client, path_of(SNAPSHOTS, "volumesnapshots", namespace, snapshot)
        )
    except ApiError as error:
        if not error.is_absent:
            raise
        raise InputError(
            f"there is no VolumeSnapshot {namespace}/{snapshot}",
            remedy="run the command without --from to list the backups",
        ) from error
    if mapping_at(live, "status").get("readyToUse") is not True:
        raise InputError(
            f"VolumeSnapshot {snapshot} is not ready to be used", remedy="wait until it is"
        )


def _require_detachable(
    context: StackContext, agent: DeclaredAgent, claim: KubeObject, *, may_detach: bool
) -> None:
    if not may_detach:
        raise InputError(
            f"{reference_of(claim)} is there, and a claim is filled only when it is made",
            remedy="add --set-aside: its volume is kept with all data, and the next update "
            "creates a new claim",
        )
    if agent.spec.drift.mode == "revert":
        raise InputError(
            f"{agent.name} has drift.mode revert: a loop would make the claim again, empty",
            remedy=f"run `holdfast agent set {agent.name} drift.mode=report -s "
            f"{context.name}` and `holdfast up` first",
        )


def _steps(claim: KubeObject, snapshot: str) -> Iterator[ActionStep]:
    if volume := volume_of(claim):
        ref = ObjectRef("", VOLUME, volume, "v1")
        yield ActionStep("keep", ref, "with all data: reclaim policy Retain")
    yield ActionStep(
        "delete", reference_of(claim), f"the next update makes a new one, from {snapshot}"
    )


def _filled_from(claim: KubeObject) -> str:
    return str(mapping_at(claim, "spec", "dataSource").get("name") or "")
