"""One update, reported while it runs and recorded when it ends: who, which commit, what changed."""

import secrets
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import msgspec

from holdfast.adapters.clock import utc_now
from holdfast.adapters.engine.failures.failures import RunFailedError
from holdfast.adapters.engine.results import RunResult
from holdfast.adapters.engine.run.events import Event, ResourceStep, StepDone
from holdfast.adapters.engine.state.kept_objects import KeptObject, named_in
from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.git.source import Source, source_of
from holdfast.errors import HoldfastError
from holdfast.kube.objects import Identity, reference_of
from holdfast.manifest.publish.component_types import AGENT_TYPE
from holdfast.operations.deploy.request import UpdateRequest
from holdfast.operations.progress import Progress
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.update_history import caller, journal_of, pull_request

_UNCHANGED = ("same", "refresh", "read")
KEEP: Final = "keep"
"""Operation of an object that leaves the stack and stays in the cluster."""
ADOPT: Final = "adopt"
"""Operation of an object that comes to the stack and is in the cluster already."""


@dataclass(frozen=True)
class UpdateProgress:
    """The progress of one update, resource by resource."""

    progress: Progress
    _planned: dict[str, ResourceStep] = field(default_factory=dict)
    _operations: dict[tuple[str, str], str] = field(default_factory=dict)
    _done: set[str] = field(default_factory=set)

    def plan(
        self,
        steps: Iterable[ResourceStep],
        kept: Iterable[KeptObject] = (),
        adopted: Iterable[ResourceStep] = (),
    ) -> None:
        """Take what a preview would do, and say it."""
        self._planned.clear()
        # The engine calls deletion what only strikes out, and creation what only takes in.
        self._operations.clear()
        self._operations.update({(each.urn, "create"): ADOPT for each in adopted})
        for each in kept:
            self._operations[each.urn, "delete"] = KEEP
            self.progress.step(f"would {KEEP:<8} {each.reference}")
        for step in steps:
            if step.reference is not None:
                self._planned[step.urn] = step
                self.progress.step(f"would {self._operation(step):<8} {step.reference}")

    def take(self, event: Event) -> None:
        """Take what the engine has done, and say it."""
        if isinstance(event, StepDone) and event.step.reference is not None:
            step = event.step
            self._done.add(step.urn)
            if step.operation not in _UNCHANGED:
                self.progress.step(f"  {self._operation(step):<8} {step.reference}")

    def _operation(self, step: ResourceStep) -> str:
        return self._operations.get((step.urn, step.operation), step.operation)

    def left(self) -> tuple[ResourceStep, ...]:
        """What was planned and is not done; it is said, too."""
        left = tuple(step for urn, step in self._planned.items() if urn not in self._done)
        if left:
            self.progress.note(f"not done: {len(left)} of {len(self._planned)} objects")
        for step in left:
            self.progress.note(f"  {step.operation:<8} {step.reference}")
        return left


def changes_in_words(changes: Mapping[str, int]) -> str:
    """How many objects were changed, in words; `no changes` when none was."""
    changed = {key: value for key, value in changes.items() if key not in _UNCHANGED and value}
    return ", ".join(f"{count} {key}" for key, count in sorted(changed.items())) or "no changes"


@dataclass(frozen=True)
class UpdateRecorder:
    """Records one update.

    Attributes:
        identifier: Joins what the engine and the journal record of it.
        adopted: URNs whose objects were in the cluster already when the update was planned.
    """

    context: StackContext
    request: UpdateRequest
    identifier: str = field(default_factory=lambda: secrets.token_hex(6))
    adopted: set[str] = field(default_factory=set)
    _started: float = field(default_factory=time.monotonic)
    _started_at: str = field(default_factory=utc_now)

    @cached_property
    def source(self) -> Source | None:
        """What the project's files are, before the update has touched them."""
        return self.request.source or source_of(self.context.root)

    @cached_property
    def agents(self) -> Mapping[Identity, str]:
        """Rendered object to the agent it belongs to."""
        return {reference_of(one.manifest).identity: one.agent for one in self.context.rendered}

    def begun(self, *, policy: str = "", outcome: str = "succeeded") -> UpdateRecord:
        """What is known of the update before it begins."""
        request, source = self.request, self.source
        commit = source.commit if source else None
        is_dirty = source is None or source.is_dirty
        return UpdateRecord(
            identifier=self.identifier,
            action=request.action,
            stack=self.context.name,
            outcome=outcome,
            commit=commit.name if commit else "",
            is_dirty=is_dirty,
            dirty_reason=request.dirty_reason if is_dirty else "",
            author=commit.author if commit else "",
            author_time=commit.author_time if commit else "",
            pull_request=pull_request() or (commit.pull_request if commit else ""),
            operator=caller(),
            policy=policy,
            reason=request.reason,
            started_at=self._started_at,
        )

    def refused(self, error: HoldfastError) -> None:
        """Record that nothing was begun, and why."""
        result = error.result if isinstance(error, RunFailedError) else None
        policy = policy_verdict(result) if result is not None else ""
        record = self.begun(policy=policy, outcome="refused")
        self.add(msgspec.structs.replace(record, detail=error.message, agents=()))

    def succeeded(self, record: UpdateRecord, results: Sequence[RunResult]) -> UpdateRecord:
        """Record that the cluster was brought to the commit, by these runs of the engine."""
        return self._ended(record, "succeeded", results, "")

    def failed(
        self, record: UpdateRecord, results: Sequence[RunResult], detail: str
    ) -> UpdateRecord:
        """Record that the update failed, and what its runs of the engine had done."""
        return self._ended(record, "failed", results, detail)

    def _ended(
        self, record: UpdateRecord, outcome: str, results: Sequence[RunResult], detail: str
    ) -> UpdateRecord:
        changes: Counter[str] = Counter()
        kept = {each.reference.identity for each in named_in(record.kept)}
        for result in results:
            left = [each for each in result.steps if _leaves(each, kept)]
            # The engine counts as deleted what it only strikes out of its state.
            found = [
                each
                for each in result.steps
                if each.operation == "create" and each.urn in self.adopted
            ]
            counts = counted_apart(result.object_counts, "delete", KEEP, len(left))
            changes.update(counted_apart(counts, "create", ADOPT, len(found)))
        return self.add(
            msgspec.structs.replace(
                record,
                outcome=outcome,
                detail=detail,
                changes=dict(changes),
                agents=self.agents_of([step for result in results for step in result.steps]),
            )
        )

    def add(self, record: UpdateRecord) -> UpdateRecord:
        """Record what is known of the update now."""
        seconds = round(time.monotonic() - self._started, 1)
        noted = msgspec.structs.replace(record, seconds=seconds)
        journal_of(self.context.root, self.context.name).add(noted)
        return noted

    def agents_of(self, steps: Sequence[ResourceStep]) -> tuple[str, ...] | None:
        """Agents of which something was changed: by their objects, or gone as a whole.

        None where that is not known: the files of an old commit may be read by its code alone.
        """
        found = {step.name for step in steps if step.type == AGENT_TYPE}
        references = [step.reference.identity for step in steps if step.reference]
        try:
            found |= {self.agents[identity] for identity in references if identity in self.agents}
        except HoldfastError:
            return None
        return tuple(sorted(found - {""}))


def counted_apart(
    changes: Mapping[str, int], operation: str, other: str, count: int
) -> Mapping[str, int]:
    """The counts with so many of one operation under another name."""
    return Counter(changes) - Counter({operation: count}) + Counter({other: count})


def _leaves(step: ResourceStep, kept: Collection[Identity]) -> bool:
    return (
        step.operation == "delete"
        and step.reference is not None
        and (step.reference.identity in kept)
    )


def policy_verdict(result: RunResult) -> str:
    """What the policy pack said, in a few words."""
    refused = sorted({each.policy for each in result.mandatory_violations})
    if refused:
        return f"refused: {', '.join(refused)}"
    if result.has_unread_verdicts:
        return f"not checked: events could not be read: {result.unread_events}"
    levels = Counter(each.level for each in result.violations)
    return f"passed, {levels['advisory']} advisory" if levels["advisory"] else "passed"
