"""What a loop reports beside its log: metrics, conditions, its AgentStack. Wiring."""

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from holdfast.adapters.cluster.kubeconfig import Connection, connection_of
from holdfast.controllers.gitops.loop_actor import LoopActor
from holdfast.controllers.gitops.loop_conditions import LoopConditions
from holdfast.controllers.gitops.loop_events import LoopEvents
from holdfast.controllers.gitops.loop_state import LoopState
from holdfast.controllers.gitops.roles import LoopListener
from holdfast.controllers.gitops.stack_report import HeldStack, StackReport
from holdfast.controllers.runtime.log import Log
from holdfast.operations.stack.context import StackContext


def stack_login(context: StackContext) -> Callable[[], Connection]:
    """Logs in to the cluster of a stack."""

    def log_in() -> Connection:
        return connection_of(context.kubeconfig, context.kube_context)

    return log_in


@dataclass(frozen=True)
class LoopReport:
    """Everything that listens to a loop's reconciler."""

    conditions: LoopConditions
    state: LoopState
    events: LoopEvents
    stack: StackReport

    @classmethod
    def of(cls, stack: str, actor: LoopActor, log: Log) -> "LoopReport":
        """What reports the state of a stack."""
        tracked = actor.tracked
        conditions = LoopConditions()
        held = HeldStack(stack, tracked.place, tracked.branch, actor.path, socket.gethostname())

        report = StackReport(held, conditions, actor.connect, log)
        events = LoopEvents(report.record)
        return cls(conditions, LoopState(stack, conditions), events, report)

    @property
    def listeners(self) -> Sequence[LoopListener]:
        """In the order in which they are called: what others read comes first."""
        return (self.conditions, self.state, self.events, self.stack)

    def leads(self, is_leader: bool) -> None:
        """Take whether this loop is the one that acts."""
        self.state.leads(is_leader)
        self.stack.leads(is_leader)

    def end(self) -> None:
        """Report that the loop has ended; while the lease is still held."""
        self.stack.end()
