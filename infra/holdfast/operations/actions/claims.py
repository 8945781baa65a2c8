"""Claims of an agent detached: deleted, their volumes with all data kept, forgotten by the engine.

Law: a claim is deleted only under the stack's lock and while the engine's state does not hold it,
so that no update counts it as there.
"""

import time
from collections.abc import Collection
from typing import Final

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.json_answers import list_whole
from holdfast.adapters.cluster.writing import Writer, delete_object, merge_object, read_object
from holdfast.adapters.engine.state.rebuilding import remove_from_state
from holdfast.errors import ClusterError, InputError
from holdfast.kube.managed_fields import FIELD_MANAGER
from holdfast.kube.objects import KubeObject, ObjectRef, mapping_at, reference_of
from holdfast.kube.structure import kubernetes_kind
from holdfast.operations.progress import Progress
from holdfast.operations.scan.live import ClusterSource
from holdfast.operations.stack.context import StackContext

CLAIM: Final = "PersistentVolumeClaim"
VOLUME: Final = "PersistentVolume"
_GONE_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.5
_ATTEMPTS: Final = 3
"""How often claims that an update has registered meanwhile are removed from the state."""
_ENDED: Final = frozenset({"Succeeded", "Failed"})


def detach(
    context: StackContext, agent: str, claims: Collection[KubeObject], progress: Progress
) -> None:
    """Keep the volumes, remove the claims from the engine's state, delete them.

    The engine takes the stack's lock for itself while it writes its state. So the claims leave the
    state first; then, under our lock, the state is read again, and a claim is deleted only if no
    update has registered it in between.

    Raises:
        InputError: a pod uses a claim now.
        ClusterError: the server refused, a claim does not go, or updates keep registering it.
        EngineError: an update is under way.
    """
    cluster = ClusterSource.of_stack(context)
    for claim in claims:
        _keep_volume(cluster, claim)
    for _ in range(_ATTEMPTS):
        if urns := _recorded(context, claims):
            remove_from_state(context.engine(), urns)
        with context.locked():
            if _recorded(context, claims):
                continue
            for claim in claims:
                require_idle(cluster, claim, agent, context.name)
            for claim in claims:
                _delete(cluster, claim)
                volume = volume_of(claim)
                progress.step(f"detached: {reference_of(claim)}; its data is in {VOLUME} {volume}")
            return
    raise ClusterError(
        f"updates of stack {context.name} register claims of {agent} again and again",
        remedy="stop what updates the stack (`holdfast gitops suspend`), then run this again",
    )


def require_idle(cluster: ClusterSource, claim: KubeObject, agent: str, stack: str) -> None:
    """Refuse a claim that a pod uses.

    Raises:
        InputError: a pod does.
        ClusterError: the pods cannot be listed.
    """
    ref = reference_of(claim)
    users = [
        str(pod["metadata"]["name"])
        for pod in list_whole(cluster.client, "v1", "pods", ref.namespace)
        if ref.name in _claims_of(pod) and mapping_at(pod, "status").get("phase") not in _ENDED
    ]
    if users:
        raise InputError(
            f"{ref} is in use by pod {', '.join(sorted(users))}",
            remedy=f"run `holdfast agent set {agent} scaling.replicas=0 -s {stack}` and "
            "`holdfast up` first, so that no pod writes to the volume",
        )


def live_claim(cluster: ClusterSource, ref: ObjectRef) -> KubeObject | None:
    """A claim as it is now; None when there is none.

    Raises:
        ClusterError: it cannot be read.
    """
    live = read_object(cluster.client, ref, kubernetes_kind("v1", ref.kind))
    return None if live is None else {"apiVersion": "v1", "kind": ref.kind, **live}


def volume_of(claim: KubeObject) -> str:
    """Name of the volume that a claim is bound to; empty before it is."""
    return str(mapping_at(claim, "spec").get("volumeName") or "")


def _recorded(context: StackContext, claims: Collection[KubeObject]) -> list[str]:
    """URNs of the claims in the engine's state."""
    wanted = {reference_of(claim).identity for claim in claims}
    found = []
    for each in context.engine().export().resources:
        recorded = each.kubernetes_object()
        if recorded is not None and reference_of(recorded.live).identity in wanted:
            found.append(each.urn)
    return found


def _keep_volume(cluster: ClusterSource, claim: KubeObject) -> None:
    if volume := volume_of(claim):
        ref = ObjectRef("", VOLUME, volume, "v1")
        kept = {"spec": {"persistentVolumeReclaimPolicy": "Retain"}}
        merge_object(
            cluster.client, kubernetes_kind("v1", VOLUME), ref, kept, Writer(FIELD_MANAGER)
        )


def _delete(cluster: ClusterSource, claim: KubeObject) -> None:
    ref = reference_of(claim)
    # Its uid guards it; its version may have moved on: we have just kept its volume.
    guarded = {
        "apiVersion": "v1",
        "kind": CLAIM,
        "metadata": {key: claim["metadata"][key] for key in ("namespace", "name", "uid")},
    }
    try:
        delete_object(
            cluster.client,
            kubernetes_kind("v1", CLAIM),
            guarded,
            is_orphaning=False,
            is_trial=False,
        )
    except ApiError as error:
        if not error.is_absent:
            raise
    deadline = time.monotonic() + _GONE_SECONDS
    while (now := live_claim(cluster, ref)) is not None:
        if now["metadata"]["uid"] != claim["metadata"]["uid"]:
            return
        if time.monotonic() > deadline:
            raise ClusterError(
                f"{ref} was deleted but still exists: something uses it",
                remedy=f"see `kubectl describe pvc -n {ref.namespace} {ref.name}`",
            )
        time.sleep(_LOOK_SECONDS)


def _claims_of(pod: KubeObject) -> set[str]:
    volumes = mapping_at(pod, "spec").get("volumes") or ()
    return {str(mapping_at(each, "persistentVolumeClaim").get("claimName")) for each in volumes}
