"""Claims and backups of an agent: found, and set aside without losing data. Wiring."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import click
import msgspec

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import path_of
from holdfast.adapters.cluster.whole_objects import list_whole, read_whole
from holdfast.adapters.cluster.writing import delete_object, read_object
from holdfast.adapters.engine.state.handing_over import hand_over
from holdfast.cli.agent.action import AgentAction
from holdfast.errors import ClusterError, InputError
from holdfast.kube.objects import Identity, KubeObject, ObjectRef, mapping_at, reference_of
from holdfast.kube.structure import KindEntry, builtin_kind
from holdfast.operations.scan.live import ClusterSource
from holdfast.operations.stack.context import StackContext
from holdfast.report.text.action_text import ActionStep
from holdfast.report.text.backup_list import BackupFound

_SNAPSHOTS: Final = "snapshot.storage.k8s.io/v1"
_BACKUP_OF: Final = "holdfast.dev/backup-of"
_MERGE_PATCH: Final = "application/merge-patch+json"
_REQUEST_TIMEOUT_SECONDS: Final = 60.0
_GONE_SECONDS: Final = 60.0
_ENDED: Final = frozenset({"Succeeded", "Failed"})


@dataclass(frozen=True)
class MakingWay:
    """Claims that must go before new ones can be filled.

    Attributes:
        claims: As they are now.
        steps: The same for whoever agrees to it.
    """

    claims: tuple[KubeObject, ...] = ()
    steps: tuple[ActionStep, ...] = ()


@dataclass(frozen=True)
class AgentClaims:
    """The claims of one agent and the backups of them."""

    asked: AgentAction
    cluster: ClusterSource

    @classmethod
    def of(cls, asked: AgentAction) -> "AgentClaims":
        """Find the cluster; nothing is sent yet."""
        state = StackContext(asked.root, asked.stack)
        cluster = ClusterSource.connect(
            state.kubeconfig, state.kube_context, _REQUEST_TIMEOUT_SECONDS
        )
        return cls(asked, cluster)

    def backups(self) -> list[BackupFound]:
        """Everything from which the agent could be restored, the newest first.

        Raises:
            ClusterError: they cannot be listed.
        """
        backup = self.asked.agent.spec.backup
        by_job = backup is not None and backup.method == "Job"
        found = [*self._jobs()] if by_job else [*self._snapshots()]
        return sorted(found, key=lambda each: (each.made_at, each.name), reverse=True)

    def making_way_for(self, wanted: str | Mapping[str, str], *, may_set_aside: bool) -> MakingWay:
        """Which claims stand in the way of new ones that are filled from snapshots.

        Args:
            wanted: One backup, or volume to backup.
            may_set_aside: Somebody has said that they may go.

        Raises:
            InputError: a snapshot cannot be used, or a claim is in use or may not go.
            ClusterError: the cluster cannot be asked.
        """
        spec = self.asked.agent.spec
        if spec.backup is not None and spec.backup.method == "Job":
            return MakingWay()  # restoreCommand fills the claim that is there
        own = [volume.name for volume in spec.storage if volume.existing_claim is None]
        snapshots = dict.fromkeys(own, wanted) if isinstance(wanted, str) else dict(wanted)
        claims: list[KubeObject] = []
        steps: list[ActionStep] = []
        for volume, snapshot in sorted(snapshots.items()):
            self._require_usable(str(snapshot))
            claim = self._live(f"{self.asked.name}-{volume}")
            if claim is None or _filled_from(claim) == snapshot:
                continue
            self._require_idle(claim, may_set_aside=may_set_aside)
            claims.append(claim)
            steps += _steps(claim, str(snapshot))
        return MakingWay(tuple(claims), tuple(steps))

    def set_aside(self, making_way: MakingWay) -> None:
        """Keep the volumes, delete the claims, and let the engine forget them.

        Raises:
            ClusterError: the server refused, or a claim does not go.
            EngineError: an update is under way.
        """
        if not making_way.claims:
            return
        root, stack = self.asked.root, self.asked.stack
        with StackContext(root, stack).locked():
            for claim in making_way.claims:
                self._set_aside(claim)
        refs = {reference_of(claim).identity for claim in making_way.claims}
        engine = StackContext(root, stack).engine()
        hand_over(engine, [urn for identity, urn in _recorded(engine.export()) if identity in refs])

    def _set_aside(self, claim: KubeObject) -> None:
        client, ref = self.cluster.client, reference_of(claim)
        if volume := _volume_of(claim):
            kept = msgspec.json.encode({"spec": {"persistentVolumeReclaimPolicy": "Retain"}})
            path = path_of("v1", "persistentvolumes", "", volume)
            client.write("PATCH", path, kept, content_type=_MERGE_PATCH)
        delete_object(client, _entry(ref.kind), claim, is_orphaning=False, is_trial=False)
        deadline = time.monotonic() + _GONE_SECONDS
        while self._live(ref.name) is not None:
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"{ref} was deleted and does not go: something still uses it",
                    remedy=f"see `kubectl describe pvc -n {ref.namespace} {ref.name}`",
                )
            time.sleep(0.5)
        click.echo(f"set aside: {ref}; its data is in PersistentVolume {volume}", err=True)

    def _require_usable(self, snapshot: str) -> None:
        path = path_of(_SNAPSHOTS, "volumesnapshots", self.asked.agent.namespace, snapshot)
        try:
            live = read_whole(self.cluster.client, path)
        except ApiError as error:
            if not error.is_absent:
                raise
            raise InputError(
                f"there is no VolumeSnapshot {self.asked.agent.namespace}/{snapshot}",
                remedy="leave --from out to see which there are",
            ) from error
        if mapping_at(live, "status").get("readyToUse") is not True:
            raise InputError(
                f"VolumeSnapshot {snapshot} is not ready to be used", remedy="wait until it is"
            )

    def _require_idle(self, claim: KubeObject, *, may_set_aside: bool) -> None:
        ref, asked = reference_of(claim), self.asked
        users = [
            str(pod["metadata"]["name"])
            for pod in list_whole(self.cluster.client, "v1", "pods", ref.namespace)
            if ref.name in _claims_of(pod) and mapping_at(pod, "status").get("phase") not in _ENDED
        ]
        if users:
            raise InputError(
                f"{ref} is in use by pod {', '.join(sorted(users))}",
                remedy=f"run `holdfast agent scale {asked.name} 0 -s {asked.stack}` and `holdfast "
                "up` first, so that nothing writes meanwhile",
            )
        if not may_set_aside:
            raise InputError(
                f"{ref} is there, and a claim is filled only when it is made",
                remedy="add --set-aside: its volume is kept with all data, and the next update "
                "makes the claim anew",
            )
        if asked.agent.spec.drift.mode == "revert":
            raise InputError(
                f"{asked.name} has drift.mode revert: a loop would make the claim again, empty",
                remedy=f"run `holdfast agent reconfigure {asked.name} drift.mode=report -s "
                f"{asked.stack}` and `holdfast up` first",
            )

    def _live(self, claim: str) -> KubeObject | None:
        kind = "PersistentVolumeClaim"
        ref = ObjectRef(self.asked.agent.namespace, kind, claim, "v1")
        live = read_object(self.cluster.client, ref, _entry(kind))
        return None if live is None else {"apiVersion": "v1", "kind": kind, **live}

    def _snapshots(self) -> Iterator[BackupFound]:
        agent = self.asked.agent
        claims = {f"{agent.name}-{volume.name}" for volume in agent.spec.storage}
        try:
            listed = list_whole(self.cluster.client, _SNAPSHOTS, "volumesnapshots", agent.namespace)
        except ApiError as error:
            if error.is_absent:
                return
            raise
        for one in listed:
            metadata, status = one["metadata"], mapping_at(one, "status")
            claim = str(mapping_at(one, "spec", "source").get("persistentVolumeClaimName") or "")
            is_ours = (metadata.get("labels") or {}).get(_BACKUP_OF) == agent.name
            if is_ours or claim in claims:
                made = str(status.get("creationTime") or metadata.get("creationTimestamp") or "")
                is_usable = status.get("readyToUse") is True
                yield BackupFound("VolumeSnapshot", str(metadata["name"]), made, claim, is_usable)

    def _jobs(self) -> Iterator[BackupFound]:
        agent = self.asked.agent
        for one in list_whole(self.cluster.client, "batch/v1", "jobs", agent.namespace):
            metadata, status = one["metadata"], mapping_at(one, "status")
            if str(metadata["name"]).startswith(f"{agent.name}-backup-"):
                made = str(status.get("completionTime") or metadata.get("creationTimestamp") or "")
                yield BackupFound(
                    "Job", str(metadata["name"]), made, "", bool(status.get("succeeded"))
                )


def _steps(claim: KubeObject, snapshot: str) -> Iterator[ActionStep]:
    if volume := _volume_of(claim):
        ref = ObjectRef("", "PersistentVolume", volume, "v1")
        yield ActionStep("keep", ref, "with all data: reclaim policy Retain")
    yield ActionStep(
        "delete", reference_of(claim), f"the next update makes it anew, from {snapshot}"
    )


def _volume_of(claim: KubeObject) -> str:
    return str(mapping_at(claim, "spec").get("volumeName") or "")


def _filled_from(claim: KubeObject) -> str:
    return str(mapping_at(claim, "spec", "dataSource").get("name") or "")


def _claims_of(pod: KubeObject) -> set[str]:
    volumes = mapping_at(pod, "spec").get("volumes") or ()
    return {str(mapping_at(each, "persistentVolumeClaim").get("claimName")) for each in volumes}


def _entry(kind: str) -> KindEntry:
    entry = builtin_kind("v1", kind)
    assert entry is not None  # noqa: S101  (Kubernetes has this kind)
    return entry


def _recorded(deployment: Any) -> Iterator[tuple[Identity, str]]:  # noqa: ANN401
    for each in deployment.resources:
        if (recorded := each.kubernetes_object()) is not None:
            yield reference_of(recorded.live).identity, each.urn
