"""The operator's writes: objects, finalizers, statuses and Events; nothing else here decides."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.event_recorder import EventRecorder
from holdfast.adapters.cluster.revert_writes import write_revert
from holdfast.adapters.cluster.writing import (
    Writer,
    apply_object,
    create_object,
    delete_object,
    merge_object,
    patch_object,
    read_object,
    retry_on_conflict,
)
from holdfast.drift.finding import DriftClass, Finding
from holdfast.drift.plan.revert import field_manager_for, plan_object
from holdfast.drift.scan import DriftJudge, LiveState
from holdfast.errors import ClusterError
from holdfast.kube.managed_fields import FIELD_MANAGER
from holdfast.kube.objects import Identity, KubeObject, ObjectRef, reference_of
from holdfast.kube.structure import KindEntry
from holdfast.manifest.types.marks import agent_of
from holdfast.render.objects.agent_resources import FINALIZER
from holdfast.render.objects.failover import keeping_side

OPERATOR: Final = "holdfast-operator"
PATIENCE_SECONDS: Final = 2.0
"""How long a write is retried at once; after that the agent backs off."""


@dataclass(frozen=True)
class ClusterActor:
    """Writes to one cluster.

    Attributes:
        kinds: How kinds are called there.
        count: Called for every write, with one word.
        events: Writes Events.
    """

    client: ApiClient
    kinds: Mapping[tuple[str, str], KindEntry]
    count: Callable[[str], None]
    events: EventRecorder

    def apply(self, manifest: KubeObject) -> KubeObject:
        """Server-side apply of a rendered object, as the one owner of what it declares.

        Guarded by the version that is read for it: an object of another owner that has taken the
        name in between is not written.

        Raises:
            ClusterError: it belongs to another agent, the server refused, or the outcome is not
                known.
        """
        return retry_on_conflict(lambda: self._apply_once(manifest), PATIENCE_SECONDS)

    def _apply_once(self, manifest: KubeObject) -> KubeObject:
        ref = reference_of(manifest)
        live = self.read(ref)
        if live is None:
            made = self.make(manifest)
            if made is None:
                raise _created_by_another(ref)
            return made
        if agent_of(live) not in ("", agent_of(manifest)):
            raise ClusterError(f"exists already and is not the agent's: {ref}")
        self.count("apply")
        guards = {key: live["metadata"][key] for key in ("uid", "resourceVersion")}
        body = {**manifest, "metadata": {**manifest["metadata"], **guards}}
        return apply_object(self.client, self._entry(ref), ref, body, Writer(FIELD_MANAGER))

    def make(self, manifest: KubeObject) -> KubeObject | None:
        """Server-side apply that creates a rendered object; None when there is one.

        Raises:
            ClusterError: the server refused, or the outcome is not known.
        """
        ref = reference_of(manifest)
        self.count("apply")
        return create_object(self.client, self._entry(ref), ref, manifest, Writer(FIELD_MANAGER))

    def restore(self, wanted: KubeObject) -> KubeObject:
        """Write a resource of ours as it was deployed: all of its spec, its labels and annotations.

        Raises:
            ClusterError: the server refused, or the outcome is not known.
        """
        return retry_on_conflict(lambda: self._restore_once(wanted), PATIENCE_SECONDS)

    def _restore_once(self, wanted: KubeObject) -> KubeObject:
        ref, metadata = reference_of(wanted), wanted["metadata"]
        live = self.read(ref)
        kept = ("name", "namespace", "labels", "annotations", "finalizers")
        if live is None:
            body = {key: wanted[key] for key in ("apiVersion", "kind", "spec")}
            body["metadata"] = {key: metadata[key] for key in kept if key in metadata}
            made = self.make(body)
            if made is None:
                raise _created_by_another(ref)
            return made
        self.count("apply")
        guards = [
            {"op": "test", "path": f"/metadata/{key}", "value": live["metadata"][key]}
            for key in ("uid", "resourceVersion")
        ]
        marks = [
            {"op": "add", "path": f"/metadata/{key}", "value": metadata[key]}
            for key in kept[2:]
            if key in metadata
        ]
        spec = {"op": "replace", "path": "/spec", "value": wanted["spec"]}
        operations = [*guards, *marks, spec]
        return patch_object(self.client, self._entry(ref), ref, operations, Writer(FIELD_MANAGER))

    def remove(self, live: KubeObject) -> None:
        """Delete the version that was seen, and in the background what it owns.

        Raises:
            ClusterError: another client wrote in between, or the server refused.
        """
        entry = self._entry(reference_of(live))
        self.count("delete")
        try:
            delete_object(self.client, entry, live, is_orphaning=False, is_trial=False)
        except ApiError as error:
            if not error.is_absent:
                raise

    def read(self, ref: ObjectRef) -> KubeObject | None:
        """One live object.

        Raises:
            ClusterError: it cannot be read.
        """
        return read_object(self.client, ref, self._entry(ref))

    def revert(self, ref: ObjectRef, judge: DriftJudge, agreed: set[Any]) -> KubeObject | None:
        """Revert one object: read, compared again, written; a write in between is heeded.

        Args:
            ref: The object.
            judge: Compares it with its declaration.
            agreed: Paths that may be reverted.

        Returns:
            The object as it is now; None when there was nothing to revert.

        Raises:
            ClusterError: the server refused, or the outcome is not known.
        """
        return retry_on_conflict(lambda: self._revert_once(ref, judge, agreed), PATIENCE_SECONDS)

    def _revert_once(
        self, ref: ObjectRef, judge: DriftJudge, agreed: set[Any]
    ) -> KubeObject | None:
        _, desired = judge.declared[ref.identity]
        live = self.read(ref)
        desired = keeping_side(desired, live)
        found = self._findings(ref.identity, live, judge, agreed)
        if not found:
            return None
        if live is None or found[0].drift_class is DriftClass.MISSING:
            made = self.make(desired)
            if made is None:
                raise _created_by_another(ref)
            return made
        structure = judge.context.structure_of(ref, live)
        plan = plan_object(found, desired, live, structure)
        for request in plan.requests:
            self.count(request)
        writer = Writer(field_manager_for(desired, live))
        return write_revert(self.client, self._entry(ref), plan, writer)

    def _findings(
        self, identity: Identity, live: KubeObject | None, judge: DriftJudge, agreed: set[Any]
    ) -> list[Finding]:
        state = LiveState({} if live is None else {identity: live})
        report = judge.report(state, frozenset({identity}))
        return [each for each in report.drift if each.path in agreed]

    def release(self, resource: KubeObject) -> None:
        """Take our finalizer off an agent, so that it goes.

        Raises:
            ClusterError: another client wrote in between, or the server refused.
        """
        metadata = resource["metadata"]
        kept = [each for each in metadata.get("finalizers") or () if each != FINALIZER]
        guard = {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}
        self.count("finalizer")
        self._patch_resource(resource, {"metadata": {"finalizers": kept, **guard}})

    def write_status(self, resource: KubeObject, status: Mapping[str, Any]) -> KubeObject:
        """Write the status of an agent or team, all of it.

        Raises:
            ClusterError: the server refused, or the outcome is not known.
        """
        before = resource.get("status") or {}
        gone = {key: None for key in before if key not in status}
        self.count("status")
        return self._patch_resource(resource, {"status": {**status, **gone}}, "status")

    def _patch_resource(
        self, resource: KubeObject, change: Mapping[str, Any], subresource: str = ""
    ) -> KubeObject:
        ref, writer = reference_of(resource), Writer(OPERATOR)
        return merge_object(self.client, self._entry(ref), ref, change, writer, subresource)

    def record_event(
        self, resource: KubeObject, reason: str, note: str, *, is_warning: bool
    ) -> None:
        """Record an Event about an agent; one that cannot be written is no reason to stop."""
        try:
            is_sent = self.events.record(resource, reason, note, is_warning=is_warning)
        except ClusterError:
            return
        if is_sent:
            self.count("event")

    def _entry(self, ref: ObjectRef) -> KindEntry:
        entry = self.kinds.get((ref.api_version, ref.kind))
        if entry is None:
            raise ClusterError(f"the cluster does not serve {ref.kind} ({ref.api_version})")
        return entry


def _created_by_another(ref: ObjectRef) -> ClusterError:
    return ClusterError(f"another client has created it in between: {ref}")
