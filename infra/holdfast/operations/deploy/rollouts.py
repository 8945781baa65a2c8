"""Rollouts that an update waits for: one whose pods the cluster refuses ends the update.

The engine waits for a Deployment until its deadline of ten minutes, whatever keeps it from creating
pods: a quota, an admission policy, a field that was added by hand while the update ran. Drift is
not reverted under an update, so that each would wait for the other.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache

from holdfast.adapters.engine.run.events import Event, StepDone, StepFailed, StepStarted
from holdfast.errors import HoldfastError
from holdfast.kube.objects import KubeObject, ObjectRef
from holdfast.kube.workload_status import refused_pods
from holdfast.operations.progress import SILENT, Progress
from holdfast.operations.scan.live import ClusterSource
from holdfast.operations.stack.context import StackContext

REFUSED_SECONDS = 60.0
"""How long pods may be refused without a break: a quota is free again when old pods have ended."""

_LOOK_SECONDS = 3.0
_REQUEST_SECONDS = 10.0
_FOLLOWED = frozenset({"Deployment"})

Read = Callable[[ObjectRef], KubeObject | None]


@dataclass
class RolloutGuard:
    """Follows the rollouts that one run of the engine waits for.

    Attributes:
        read: Gives a live workload, None when there is none; raises where it cannot be read.
        progress: Takes what a rollout waits for.
        clock: Seconds that only grow.
    """

    read: Read
    progress: Progress = SILENT
    clock: Callable[[], float] = time.monotonic
    _waiting: dict[str, ObjectRef] = field(default_factory=dict)
    _refused: dict[str, tuple[float, str]] = field(default_factory=dict)

    def take(self, event: Event) -> None:
        """Take an event of the engine: what it waits for, and what it waits for no longer."""
        if not isinstance(event, StepStarted | StepDone | StepFailed):
            return
        step = event.step
        if isinstance(event, StepStarted):
            if step.reference is not None and step.reference.kind in _FOLLOWED:
                self._waiting[step.urn] = step.reference
        else:
            self._waiting.pop(step.urn, None)
            self._refused.pop(step.urn, None)

    def look(self) -> None:
        """Read what is waited for; what cannot be read now decides nothing."""
        for urn, ref in tuple(self._waiting.items()):
            try:
                why = refused_pods(self.read(ref) or {})
            except HoldfastError:
                continue
            if not why or urn not in self._waiting:
                self._refused.pop(urn, None)
            elif urn not in self._refused:
                self._refused[urn] = (self.clock(), f"{ref} cannot create its pods: {why}")
                self.progress.note(f"waiting: {ref} cannot create its pods: {why}")

    def stop_reason(self) -> str:
        """Why the run is to be stopped; empty while it may go on."""
        now = self.clock()
        lost = (
            why for since, why in self._refused.copy().values() if now - since >= REFUSED_SECONDS
        )
        return next(lost, "")

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Look again and again, beside the run."""
        is_over = threading.Event()

        def look() -> None:
            while not is_over.wait(_LOOK_SECONDS):
                self.look()

        thread = threading.Thread(target=look, name="rollouts", daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join(_REQUEST_SECONDS)


def live_reader(context: StackContext) -> Read:
    """Reads workloads of a stack's cluster; the connection is opened with the first."""

    @cache
    def cluster() -> ClusterSource:
        return ClusterSource.connect(
            context.sandbox_kubeconfig, context.kube_context, _REQUEST_SECONDS
        )

    def read(ref: ObjectRef) -> KubeObject | None:
        return cluster().live(ref)

    return read
