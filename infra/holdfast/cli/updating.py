"""One update of a stack, from its files to its record: judged, previewed, done, told. Wiring."""

import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import click
import msgspec

from holdfast.cli.engine_access import stack_kubeconfig
from holdfast.cli.moments import now
from holdfast.cli.stack_state import StackState
from holdfast.cli.update_facts import journal_of, operator, pull_request, refuse_uncommitted
from holdfast.cli.validation import validate_project
from holdfast.engine.events import Event, StepDone
from holdfast.engine.failures import RunFailedError
from holdfast.engine.results import RunResult
from holdfast.engine.stack import Stack, open_stack
from holdfast.engine.update_record import UpdateRecord, message_of
from holdfast.errors import ExitCode, HoldfastError
from holdfast.git.source import Source, source_of
from holdfast.kube.objects import reference_of
from holdfast.report.update_text import changes_in_words
from holdfast.report.validation_report import validation_summary, validation_text

PACK_FOLDER = "policy-pack"
_AGENT_TYPE = "holdfast:index:Agent"
_UNTOLD = ("same", "refresh", "read")

Tell = Callable[[str], None]


def tell_terminal(text: str) -> None:
    """Progress, for people."""
    click.echo(text, err=True)


@dataclass(frozen=True)
class Order:
    """What is to be done.

    Attributes:
        root: Folder of the project whose files are wanted.
        stack: Name of the stack.
        action: Verb under which it is recorded.
        reason: Why, in the words of whoever does it.
        dirty_reason: Why files that are not committed may be used; empty when they may not.
        pack: Folder of the policy pack; None for that of `root`.
        source: What the files of `root` are; None to find out.
        is_validated: Check the files as `holdfast validate` does; the program does in any case.
        tell: Takes lines of progress.
    """

    root: Path
    stack: str
    action: str = "up"
    reason: str = ""
    dirty_reason: str = ""
    pack: Path | None = None
    source: Source | None = None
    is_validated: bool = True
    tell: Tell = field(default=tell_terminal)


@dataclass(frozen=True)
class Wave:
    """A part of an update that is done before the rest.

    Attributes:
        name: For people: `1 of 3: search, index`.
        urns: Resources to update.
        gate: Called afterwards; raises to end the update there.
    """

    name: str
    urns: tuple[str, ...]
    gate: Callable[[], None]


@dataclass(frozen=True)
class Updating:
    """One update, step by step; `run` does them all.

    Attributes:
        identifier: Joins what the engine and the journal record of it.
    """

    order: Order
    identifier: str = field(default_factory=lambda: secrets.token_hex(6))
    _started: float = field(default_factory=time.monotonic)
    _started_at: str = field(default_factory=now)

    def run(self) -> UpdateRecord:
        """Judge, preview, update and record.

        Raises:
            InputError: the files are not committed, or not valid; nothing was begun.
            EngineError: the policy pack refuses it (nothing was begun), or the update failed.
        """
        policy, _ = self.judge()
        return self.do(self.record(policy=policy))

    def judge(self) -> tuple[str, RunResult]:
        """Refuse what must not be done, and say what would be; nothing is written.

        Returns:
            The policy pack's verdict, and what would be done.

        Raises:
            InputError: the files are not committed, or not valid.
            EngineError: the policy pack refuses it, or the preview failed.
        """
        try:
            refuse_uncommitted(self.source, self.order.dirty_reason)
            if self.order.dirty_reason and self.source and not self.source.is_dirty:
                self.order.tell("the files are as committed: --allow-dirty was not needed")
            self._validate()
            if self.stack.init_if_absent():
                file = f"stacks/Pulumi.{self.stack.name.rpartition('/')[2]}.yaml"
                self.order.tell(f"made stack {self.stack.name}; commit {file}: it has its salt now")
            planned = self.stack.preview(policy_pack=self.pack)
        except HoldfastError as error:
            self.refuse(error)
            raise
        for step in planned.steps:
            if step.reference is not None:
                self.order.tell(f"would {step.operation:<8} {step.reference}")
        policy = verdict(planned) if self.pack else "not judged"
        self.order.tell(f"preview: {changes_in_words(planned.counts)}; policy: {policy}")
        return policy, planned

    def _validate(self) -> None:
        order = self.order
        if not order.is_validated:
            return
        report = validate_project(order.root, [order.stack], today=datetime.now(UTC).date())
        if report.exit_code is ExitCode.OK:
            return
        order.tell(validation_text(report).removesuffix("\n"))
        broken = sorted({each.rule for each in report.breaches if each.is_mandatory})
        said = f", of mandatory rules {', '.join(broken)}" if broken else ""
        raise HoldfastError(
            f"the project's files are refused: {validation_summary(report)}{said}",
            exit_code=report.exit_code,
        )

    def do(self, record: UpdateRecord, waves: Sequence[Wave] = ()) -> UpdateRecord:
        """Update, and record what came of it.

        Args:
            record: What is known before.
            waves: What is updated first, in this order; in the end all the rest is.

        Raises:
            EngineError: the update failed; later waves were not begun.
        """
        results: list[RunResult] = []
        try:
            for wave in waves:
                self.order.tell(f"wave {wave.name}")
                results.append(self._up(record, wave.urns, pack=None))
                wave.gate()
            results.append(self._up(record, (), pack=self.pack))
        except RunFailedError as error:
            self._note(record, "failed", [*results, error.result], error.message)
            raise
        except HoldfastError as error:
            self._note(record, "failed", results, error.message)
            raise
        done = self._note(record, "succeeded", results)
        for name, value in (("commit", record.commit), ("dirty", str(record.is_dirty).lower())):
            self.stack.set_tag(name, value or "none")
        return done

    def _up(self, record: UpdateRecord, urns: Sequence[str], pack: Path | None) -> RunResult:
        options = [f"--message={message_of(record)}", *(f"--target={urn}" for urn in urns)]
        return self.stack.up(policy_pack=pack, options=options, on_event=self._tell_step)

    @cached_property
    def source(self) -> Source | None:
        """What the project's files are, before anything of ours has touched them."""
        return self.order.source or source_of(self.order.root)

    @cached_property
    def stack(self) -> Stack:
        """The stack, whose program is told the commit that we found."""
        order, source = self.order, self.source
        commit = source.commit.name if source else ""
        is_dirty = source is None or source.is_dirty
        return open_stack(
            order.root,
            order.stack,
            kubeconfig=stack_kubeconfig(order.root, order.stack),
            variables={"HOLDFAST_COMMIT": commit, "HOLDFAST_DIRTY": str(is_dirty).lower()},
        )

    @cached_property
    def pack(self) -> Path | None:
        """The policy pack, if the project has one."""
        folder = self.order.pack or self.order.root / PACK_FOLDER
        return folder if folder.is_dir() else None

    @cached_property
    def agents(self) -> Mapping[tuple[str, str, str, str], str]:
        """Rendered object to the agent it belongs to."""
        rendered = StackState(self.order.root, self.order.stack).rendered
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

    def _note(
        self, record: UpdateRecord, outcome: str, results: Sequence[RunResult], detail: str = ""
    ) -> UpdateRecord:
        changes: Counter[str] = Counter()
        for result in results:
            changes.update(result.counts)
        return self.add(
            msgspec.structs.replace(
                record,
                outcome=outcome,
                detail=detail,
                changes=dict(changes),
                agents=self._agents_in(results),
            )
        )

    def add(self, record: UpdateRecord) -> UpdateRecord:
        """Record what is known of the update now."""
        seconds = round(time.monotonic() - self._started, 1)
        noted = msgspec.structs.replace(record, seconds=seconds)
        journal_of(self.order.root, self.order.stack).add(noted)
        return noted

    def _agents_in(self, results: Sequence[RunResult]) -> tuple[str, ...] | None:
        """Agents of which something was changed: by their objects, or gone as a whole.

        None where that cannot be told: the files of an old commit may be read by its code alone.
        """
        steps = [step for result in results for step in result.steps]
        found = {step.name for step in steps if step.type == _AGENT_TYPE}
        references = [step.reference.identity for step in steps if step.reference]
        try:
            found |= {self.agents[identity] for identity in references if identity in self.agents}
        except HoldfastError:
            return None
        return tuple(sorted(found - {""}))

    def _tell_step(self, event: Event) -> None:
        if isinstance(event, StepDone) and event.step.reference is not None:
            step = event.step
            if step.operation not in _UNTOLD:
                self.order.tell(f"  {step.operation:<8} {step.reference}")


def verdict(result: RunResult) -> str:
    """What the policy pack said, in a few words."""
    refused = sorted({each.policy for each in result.mandatory_violations})
    if refused:
        return f"refused: {', '.join(refused)}"
    levels = Counter(each.level for each in result.violations)
    return f"passed, {levels['advisory']} advisory" if levels["advisory"] else "passed"
