"""What is recorded of one update: who, from which commit, and what came of it. Wiring."""

import secrets
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from holdfast.adapters.clock import utc_now
from holdfast.adapters.engine.failures.failures import RunFailedError
from holdfast.adapters.engine.results import RunResult
from holdfast.adapters.engine.run.events import ResourceStep
from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.git.source import Source, source_of
from holdfast.errors import HoldfastError
from holdfast.kube.objects import Identity, reference_of
from holdfast.manifest.publish.component_types import AGENT_TYPE
from holdfast.operations.deploy.facts import journal_of, operator, pull_request
from holdfast.operations.deploy.request import Order
from holdfast.operations.stack.context import StackContext


@dataclass(frozen=True)
class UpdateAccount:
    """The account of one update.

    Attributes:
        identifier: Joins what the engine and the journal record of it.
    """

    order: Order
    identifier: str = field(default_factory=lambda: secrets.token_hex(6))
    _started: float = field(default_factory=time.monotonic)
    _started_at: str = field(default_factory=utc_now)

    @cached_property
    def source(self) -> Source | None:
        """What the project's files are, before anything of ours has touched them."""
        return self.order.source or source_of(self.order.root)

    @cached_property
    def agents(self) -> Mapping[Identity, str]:
        """Rendered object to the agent it belongs to."""
        rendered = StackContext(self.order.root, self.order.stack).rendered
        return {reference_of(item.manifest).identity: item.agent for item in rendered}

    def record(self, *, policy: str = "", outcome: str = "succeeded") -> UpdateRecord:
        """What is known of the update before it begins."""
        order, source = self.order, self.source
        commit = source.commit if source else None
        is_dirty = source is None or source.is_dirty
        return UpdateRecord(
            identifier=self.identifier,
            action=order.action,
            stack=order.stack,
            outcome=outcome,
            commit=commit.name if commit else "",
            is_dirty=is_dirty,
            dirty_reason=order.dirty_reason if is_dirty else "",
            author=commit.author if commit else "",
            author_time=commit.author_time if commit else "",
            pull_request=pull_request() or (commit.pull_request if commit else ""),
            operator=operator(),
            policy=policy,
            reason=order.reason,
            started_at=self._started_at,
        )

    def refuse(self, error: HoldfastError) -> None:
        """Record that nothing was begun, and why."""
        result = error.result if isinstance(error, RunFailedError) else None
        policy = verdict(result) if result is not None else ""
        record = self.record(policy=policy, outcome="refused")
        self.add(msgspec.structs.replace(record, detail=error.message, agents=()))

    def note(
        self, record: UpdateRecord, outcome: str, results: Sequence[RunResult], detail: str = ""
    ) -> UpdateRecord:
        """Record what came of the engine's runs."""
        changes: Counter[str] = Counter()
        for result in results:
            changes.update(result.counts)
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
        journal_of(self.order.root, self.order.stack).add(noted)
        return noted

    def agents_of(self, steps: Sequence[ResourceStep]) -> tuple[str, ...] | None:
        """Agents of which something was changed: by their objects, or gone as a whole.

        None where that cannot be told: the files of an old commit may be read by its code alone.
        """
        found = {step.name for step in steps if step.type == AGENT_TYPE}
        references = [step.reference.identity for step in steps if step.reference]
        try:
            found |= {self.agents[identity] for identity in references if identity in self.agents}
        except HoldfastError:
            return None
        return tuple(sorted(found - {""}))


def verdict(result: RunResult) -> str:
    """What the policy pack said, in a few words."""
    refused = sorted({each.policy for each in result.mandatory_violations})
    if refused:
        return f"refused: {', '.join(refused)}"
    if result.has_unread_verdicts:
        return f"not checked: events could not be read: {result.unread_events}"
    levels = Counter(each.level for each in result.violations)
    return f"passed, {levels['advisory']} advisory" if levels["advisory"] else "passed"
