"""Write what a revert has planned: each object is compared again, tried first, and guarded."""

import time
from dataclasses import dataclass, field

from holdfast.adapters.cluster.revert_writes import write_revert
from holdfast.adapters.cluster.writing import (
    Writer,
    create_object,
    delete_object,
    read_object,
    retry_on_conflict,
)
from holdfast.drift.context import uid_of
from holdfast.drift.finding import DriftClass, Finding
from holdfast.drift.object_drift import object_findings
from holdfast.drift.plan.next_update import ORPHANING
from holdfast.drift.plan.revert import ObjectPlan, Step, field_manager_for, plan_object
from holdfast.errors import ClusterError
from holdfast.kube.objects import KubeObject, ObjectRef
from holdfast.kube.structure import KindEntry
from holdfast.operations.progress import Progress
from holdfast.operations.scan.scanner import Scan, Scanner
from holdfast.render.objects.failover import keeping_side

PATIENCE_SECONDS = 20.0
"""How long one object is compared and written again when another client writes in between."""

DELETION_SECONDS = 60.0
"""How long a replaced object may take to go."""


@dataclass(frozen=True)
class RevertExecutor:
    """Reverts the objects of one scan.

    Attributes:
        progress: Takes a line about what takes long.
        confirmed: Uids of what was created.
    """

    scanner: Scanner
    scan: Scan
    progress: Progress
    confirmed: list[str] = field(default_factory=list)

    def apply(self, shown: ObjectPlan) -> str:
        """Revert one object; a write of another client makes it compared again, for a while.

        Returns:
            What was done, in words.

        Raises:
            ClusterError: the server refused, or the outcome is not known.
        """
        return retry_on_conflict(
            lambda: self._apply_once(shown),
            PATIENCE_SECONDS,
            lambda: self.progress.step(f"waiting: others write it again and again: {shown.ref}"),
        )

    def _apply_once(self, shown: ObjectPlan) -> str:
        ref, cluster = shown.ref, self.scanner.cluster
        entry = cluster.kinds[ref.api_version, ref.kind]
        desired = self.scan.target(ref)
        live = read_object(cluster.client, ref, entry)
        desired = keeping_side(desired, live)
        plan = self._plan_again(shown, desired, live)
        if not plan.acts:
            return "already as declared"
        manager = field_manager_for(desired, live)
        if live is None:
            assert plan.apply is not None  # noqa: S101  (what is missing is created)
            for is_trial in (True, False):
                self._create(plan.ref, plan.apply, entry, Writer(manager, is_trial))
            return "recreated"
        if plan.replacement is not None:
            self._replace(plan, live, entry, manager)
            return "replaced"
        for is_trial in (True, False):
            write_revert(cluster.client, entry, plan, Writer(manager, is_trial))
        if plan.confirms:
            self.confirmed.append(uid_of(live))
        return "reverted" if plan.requests else "confirmed"

    def _create(self, ref: ObjectRef, body: KubeObject, entry: KindEntry, writer: Writer) -> None:
        """Create an object that is not there; never take over one that is.

        Raises:
            ClusterError: another client has created it in between.
        """
        written = create_object(self.scanner.cluster.client, entry, ref, body, writer)
        if written is None:
            raise _created_by_another()
        if not writer.is_trial:
            self.confirmed.append(uid_of(written))

    def _replace(self, plan: ObjectPlan, live: KubeObject, entry: KindEntry, manager: str) -> None:
        """Delete the object that was read, wait until it is gone, and make it as declared."""
        client, ref = self.scanner.cluster.client, plan.ref
        assert plan.replacement is not None  # noqa: S101  (the caller has looked)
        keeps_pods = ref.kind in ORPHANING
        for is_trial in (True, False):
            delete_object(client, entry, live, is_orphaning=keeps_pods, is_trial=is_trial)
        deadline = time.monotonic() + DELETION_SECONDS
        is_waiting = False
        while (found := read_object(client, ref, entry)) is not None:
            if found["metadata"]["uid"] != live["metadata"]["uid"]:
                raise _created_by_another()
            if not is_waiting:
                self.progress.step(f"waiting: until it is gone: {ref}")
                is_waiting = True
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"{ref} was deleted but still exists",
                    remedy="check what its finalizers wait for, then run this again",
                )
            time.sleep(0.2)
        self._create(ref, plan.replacement, entry, Writer(manager))

    def _plan_again(
        self, shown: ObjectPlan, desired: KubeObject, live: KubeObject | None
    ) -> ObjectPlan:
        """The plan for the object as it is now, restricted to what was shown and agreed to."""
        is_creation = any(step.step is Step.CREATE for step in shown.steps)
        if live is None:
            return shown if is_creation else ObjectPlan(shown.ref, ())
        agreed = {step.finding.path for step in shown.steps if step.step is not Step.LEAVE}
        around = self.scan.context
        found = object_findings(shown.ref, desired, live, around)
        now = [finding for finding in found if finding.is_drift and finding.path in agreed]
        if is_creation and any(_differs(finding) for finding in found):
            # Consent was given to a creation, not to taking over what stands there now.
            raise _created_by_another()
        if not now:
            return ObjectPlan(shown.ref, ())
        structure = around.structure_of(shown.ref, live)
        may_replace = shown.replacement is not None
        return plan_object(now, desired, live, structure, may_replace=may_replace)


def _differs(finding: Finding) -> bool:
    """Whether more than the identity of an object is not as declared."""
    return finding.is_drift and finding.drift_class is not DriftClass.RECREATED


def _created_by_another() -> ClusterError:
    return ClusterError(
        "another client has created it in between",
        remedy="scan again: the report lists how it differs from the declaration",
    )
