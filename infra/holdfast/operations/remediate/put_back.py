"""Write what a revert has planned: each object judged anew, tried first, guarded. Wiring."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from holdfast.adapters.cluster.writing import (
    Writer,
    apply_object,
    delete_object,
    patch_object,
    read_object,
    retry_on_conflict,
)
from holdfast.drift.object_drift import object_findings
from holdfast.drift.plan.replacement import ORPHANING
from holdfast.drift.plan.revert import ObjectPlan, Step, field_manager_for, plan_object
from holdfast.errors import ClusterError
from holdfast.kube.objects import KubeObject
from holdfast.kube.structure import KindEntry
from holdfast.operations.scan.sources import DriftSources, Scan
from holdfast.render.objects.failover import keeping_side

PATIENCE_SECONDS = 20.0
"""How long one object is judged and written anew when somebody writes in between."""

DELETION_SECONDS = 60.0
"""How long a replaced object may take to go."""


@dataclass(frozen=True)
class PutBack:
    """Puts the objects of one scan back.

    Attributes:
        say: Takes a line about what takes long.
    """

    sources: DriftSources
    scan: Scan
    say: Callable[[str], None]

    def do(self, shown: ObjectPlan) -> str:
        """Put one object back; whoever wrote in between makes it judged anew, for a while.

        Returns:
            What was done, in words.

        Raises:
            ClusterError: the server refused, or the outcome is not known.
        """
        return retry_on_conflict(
            lambda: self._do_once(shown),
            PATIENCE_SECONDS,
            lambda: self.say(f"waiting: others write it again and again: {shown.ref}"),
        )

    def _do_once(self, shown: ObjectPlan) -> str:
        ref, cluster = shown.ref, self.sources.cluster
        entry = cluster.kinds[ref.api_version, ref.kind]
        desired = self.scan.desired[ref.identity]
        live = read_object(cluster.client, ref, entry)
        desired = keeping_side(desired, live)
        plan = self._plan_again(shown, desired, live)
        if not plan.acts:
            return "already as declared"
        manager = field_manager_for(desired, live)
        if plan.replacement is not None:
            assert live is not None  # noqa: S101  (what is gone is made again, not replaced)
            self._replace(plan, live, entry, manager)
            return "replaced"
        for is_trial in (True, False):
            self._write(plan, entry, Writer(manager, is_trial))
        return "made again" if live is None else "put back"

    def _write(self, plan: ObjectPlan, entry: KindEntry, writer: Writer) -> None:
        client, body = self.sources.cluster.client, plan.apply
        if plan.patch:
            written = patch_object(client, entry, plan.ref, plan.patch, writer)
            if body is not None and not writer.is_trial:
                version = written["metadata"]["resourceVersion"]
                body = {**body, "metadata": {**body["metadata"], "resourceVersion": version}}
        if body is not None:
            apply_object(client, entry, plan.ref, body, writer)

    def _replace(self, plan: ObjectPlan, live: KubeObject, entry: KindEntry, manager: str) -> None:
        """Delete the object that was read, wait until it is gone, and make it as declared."""
        client, ref = self.sources.cluster.client, plan.ref
        assert plan.replacement is not None  # noqa: S101  (the caller has looked)
        keeps_pods = ref.kind in ORPHANING
        for is_trial in (True, False):
            delete_object(client, entry, live, is_orphaning=keeps_pods, is_trial=is_trial)
        deadline = time.monotonic() + DELETION_SECONDS
        if read_object(client, ref, entry) is not None:
            self.say(f"waiting: until it is gone: {ref}")
        while read_object(client, ref, entry) is not None:
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"{ref} was deleted and does not go",
                    remedy="see what its finalizers wait for, then run this again",
                )
            time.sleep(0.2)
        apply_object(client, entry, ref, plan.replacement, Writer(manager))

    def _plan_again(
        self, shown: ObjectPlan, desired: KubeObject, live: KubeObject | None
    ) -> ObjectPlan:
        """The plan for the object as it is now, restricted to what was shown and agreed to."""
        if live is None:
            is_creation = any(step.step is Step.CREATE for step in shown.steps)
            return shown if is_creation else ObjectPlan(shown.ref, ())
        agreed = {step.finding.path for step in shown.steps if step.step is not Step.LEAVE}
        around = self.scan.around
        now = [
            finding
            for finding in object_findings(shown.ref, desired, live, around)
            if finding.counts and finding.path in agreed
        ]
        if not now:
            return ObjectPlan(shown.ref, ())
        structure = around.structure_of(shown.ref, live)
        may_replace = shown.replacement is not None
        return plan_object(now, desired, live, structure, may_replace=may_replace)
