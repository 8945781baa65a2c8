"""Workloads that an update waits for: what their pods wait for, and when to wait no longer.

The engine waits for a workload until its deadline of ten minutes, whatever keeps its pods from
being ready, and says nothing until then. Here each cause is reported within seconds. Two of them
end the update: a rollout that its controller has aborted, and pods that the cluster refuses (a
quota, an admission policy, a field that was added while the update ran; drift is not reverted
under an update, so that each would wait for the other).
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from holdfast.adapters.engine.run.events import Event, StepDone, StepFailed, StepStarted
from holdfast.errors import HoldfastError
from holdfast.kube.objects import KubeObject, ObjectRef, mapping_at
from holdfast.kube.pod_waits import PodWait
from holdfast.kube.workload_status import is_aborted, refused_pods
from holdfast.operations.progress import SILENT, Progress
from holdfast.operations.scan.live import ClusterSource
from holdfast.operations.scan.pod_reader import PodReader
from holdfast.operations.stack.context import StackContext

REFUSED_SECONDS = 60.0
"""How long pods may be refused without a break: a quota is free again when old pods have ended."""

_READ_SECONDS = 3.0
_REQUEST_SECONDS = 10.0
_FOLLOWED = frozenset({"Deployment", "StatefulSet", "Rollout"})


class WorkloadSource(Protocol):
    """Reads live workloads and their pods; raises a HoldfastError where it cannot."""

    def live(self, ref: ObjectRef) -> KubeObject | None:
        """A workload as it is now; None when there is none."""

    def waits(self, live: KubeObject) -> list[PodWait]:
        """What its pods wait for."""


@dataclass
class RolloutGuard:
    """Follows the workloads that one run of the engine waits for.

    Attributes:
        source: The cluster.
        progress: Takes what a workload waits for.
        clock: Seconds that only grow.
    """

    source: WorkloadSource
    progress: Progress = SILENT
    clock: Callable[[], float] = time.monotonic
    _waiting: dict[str, ObjectRef] = field(default_factory=dict)
    _refused: dict[str, tuple[float, str]] = field(default_factory=dict)
    _aborted: dict[str, str] = field(default_factory=dict)
    _aborted_before: dict[str, int] = field(default_factory=dict)
    _seen: set[tuple[str, tuple[str, str]]] = field(default_factory=set)
    _reported: set[tuple[str, tuple[str, str]]] = field(default_factory=set)

    def take(self, event: Event) -> None:
        """Take an event of the engine: what it waits for, and what it waits for no longer."""
        if not isinstance(event, StepStarted | StepDone | StepFailed):
            return
        step = event.step
        if isinstance(event, StepStarted):
            if step.reference is not None and step.reference.kind in _FOLLOWED:
                self._waiting[step.urn] = step.reference
        else:
            for known in (self._waiting, self._refused, self._aborted):
                known.pop(step.urn, None)

    def check(self) -> None:
        """Read what is waited for; what cannot be read now decides nothing."""
        for urn, ref in tuple(self._waiting.items()):
            try:
                live = self.source.live(ref) or {}
                self._note_aborted(urn, ref, live)
                self._note_refused(urn, ref, live)
                self._note_waits(urn, ref, self.source.waits(live) if live else [])
            except HoldfastError:
                continue

    def _note_aborted(self, urn: str, ref: ObjectRef, live: KubeObject) -> None:
        """An abort from before the update says nothing of it: only a newer generation does."""
        generation = int(mapping_at(live, "metadata").get("generation") or 0)
        before = self._aborted_before.setdefault(urn, generation if is_aborted(live) else -1)
        if is_aborted(live) and generation != before and urn in self._waiting:
            why = str(mapping_at(live, "status").get("message") or "its controller gave no reason")
            self._aborted[urn] = f"{ref} was aborted: {why}"

    def _note_refused(self, urn: str, ref: ObjectRef, live: KubeObject) -> None:
        why = refused_pods(live)
        if not why or urn not in self._waiting:
            self._refused.pop(urn, None)
        elif urn not in self._refused:
            self._refused[urn] = (self.clock(), f"{ref} cannot create its pods: {why}")
            self.progress.note(f"waiting: {ref} cannot create its pods: {why}")

    def _note_waits(self, urn: str, ref: ObjectRef, waits: Iterable[PodWait]) -> None:
        """Report each cause once; one of a normal start only when it is met a second time."""
        for wait in waits:
            key = (urn, wait.key)
            is_new = key not in self._seen
            self._seen.add(key)
            if key in self._reported or (is_new and not wait.is_stuck):
                continue
            self._reported.add(key)
            self.progress.note(f"waiting: {ref}: {wait}")

    def stop_reason(self) -> str:
        """Why the run is to be stopped; empty while it may go on."""
        if aborted := next(iter(self._aborted.copy().values()), ""):
            return aborted
        now = self.clock()
        lost = (
            why for since, why in self._refused.copy().values() if now - since >= REFUSED_SECONDS
        )
        return next(lost, "")

    @contextmanager
    def following(self) -> Iterator[None]:
        """Check every few seconds, beside the run."""
        is_over = threading.Event()

        def check() -> None:
            while not is_over.wait(_READ_SECONDS):
                self.check()

        thread = threading.Thread(target=check, name="rollouts", daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join(_REQUEST_SECONDS)


class LiveWorkloads:
    """Reads workloads of a stack's cluster; the connection is opened with the first."""

    def __init__(self, context: StackContext) -> None:
        self._context = context

    @cached_property
    def _cluster(self) -> ClusterSource:
        context = self._context
        return ClusterSource.connect(
            context.sandbox_kubeconfig, context.kube_context, _REQUEST_SECONDS
        )

    def live(self, ref: ObjectRef) -> KubeObject | None:
        """A workload as it is now; None when there is none."""
        return self._cluster.live(ref)

    def waits(self, live: KubeObject) -> list[PodWait]:
        """What its pods wait for."""
        return PodReader(self._cluster.client).waits(live)
