"""One named action on one agent: its steps, and the record of what came of it.

An action is planned (everything that can refuse is asked, nothing is changed), shown to a person,
and then applied; the history of the stack says that it was done, or why it was not.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import msgspec

from holdfast.adapters.engine.update_record import DONE, NOT_DONE, UpdateRecord
from holdfast.errors import HoldfastError
from holdfast.kube.objects import ObjectRef
from holdfast.operations.progress import Progress
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.update_history import action_record, journal_of


@dataclass(frozen=True, slots=True)
class ActionStep:
    """One thing that an action does.

    Attributes:
        operation: A verb: `restart`, `evict`, `delete`, `create`, `keep`, `declare`, `hand over`.
        ref: What it is done to; None for a file.
        why: What makes it necessary, or what is meant; empty where that is plain.
    """

    operation: str
    ref: ObjectRef | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class ActionRequest:
    """What is asked for.

    Attributes:
        action: Its name, such as `restart`.
        agents: Names of the agents that it is done to.
        reason: Why, for the history.
    """

    action: str
    agents: tuple[str, ...]
    reason: str


class ActionPlan(Protocol):
    """What every plan says of itself."""

    @property
    def steps(self) -> Sequence[ActionStep]:
        """What is done, for the person who agrees to it; empty when there is nothing to do."""

    @property
    def summary(self) -> str:
        """The same in a few words, for the history."""


PlanT = TypeVar("PlanT", bound=ActionPlan)


def execute(
    context: StackContext,
    request: ActionRequest,
    plan: PlanT,
    apply: Callable[[StackContext, PlanT, Progress], None],
    progress: Progress,
) -> None:
    """Apply a plan, and record in the history that it was done or why it was not.

    Raises:
        HoldfastError: it could not be done; the history says so.
    """
    record = msgspec.structs.replace(
        action_record(request.action, context.name, request.reason), agents=request.agents
    )
    began = time.monotonic()
    try:
        apply(context, plan, progress)
    except HoldfastError as error:
        _record(context, record, began, NOT_DONE, f"{plan.summary}: {error.message}")
        raise
    _record(context, record, began, DONE, plan.summary)


def _record(
    context: StackContext, begun: UpdateRecord, began: float, outcome: str, detail: str
) -> None:
    seconds = round(time.monotonic() - began, 1)
    record = msgspec.structs.replace(begun, detail=detail, outcome=outcome, seconds=seconds)
    journal_of(context.root, context.name).add(record)
