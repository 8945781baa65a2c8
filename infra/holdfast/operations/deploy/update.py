"""One update of a stack, from its files to its record: judged, previewed, done, told. Wiring."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path

from holdfast.adapters.engine.failures.failures import RunFailedError
from holdfast.adapters.engine.results import RunResult
from holdfast.adapters.engine.run.memory import memory_limit_bytes, refuse_too_large
from holdfast.adapters.engine.stack import Stack, open_stack
from holdfast.adapters.engine.state.interrupted import interrupted, mend, past_dead_lock
from holdfast.adapters.engine.update_record import UpdateRecord, message_of
from holdfast.adapters.tracing.spans import Tracer
from holdfast.errors import ExitCode, HoldfastError
from holdfast.operations.deploy.facts import refuse_uncommitted
from holdfast.operations.deploy.progress import UpdateProgress
from holdfast.operations.deploy.recorder import UpdateAccount, verdict
from holdfast.operations.deploy.request import Order, Wave
from holdfast.operations.deploy.state_copies import kept_state
from holdfast.operations.deploy.traced import step
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.engine import make_if_absent
from holdfast.operations.stack.preflight.gitops_ownership import refuse_delivered
from holdfast.operations.stack.preflight.state_ownership import refuse_unmigrated
from holdfast.operations.validate.report import validation_summary, validation_text
from holdfast.operations.validate.validation import validate_project
from holdfast.report.text.update_text import changes_in_words

_FORCE = "PULUMI_K8S_ENABLE_PATCH_FORCE"


@dataclass(frozen=True)
class Updating:
    """One update, step by step; `run` does them all."""

    order: Order

    def run(self) -> UpdateRecord:
        """Judge, preview, update and record.

        Raises:
            InputError: the files are not committed, or not valid; nothing was begun.
            EngineError: the policy pack refuses it (nothing was begun), or the update failed.
        """
        policy, _ = self.judge()
        return self.do(self.account.record(policy=policy))

    @step("judge")
    def judge(self) -> tuple[str, RunResult]:
        """Refuse what must not be done, and say what would be; nothing is written.

        Returns:
            The policy pack's verdict, and what would be done.

        Raises:
            InputError: the files are not committed, or not valid.
            EngineError: the policy pack refuses it, or the preview failed.
        """
        try:
            self._refuse_too_large()
            refuse_uncommitted(self.account.source, self.order.dirty_reason)
            if self.order.dirty_reason and self.account.source and not self.account.source.is_dirty:
                self.order.tell("the files are as committed: --allow-dirty was not needed")
            self._validate()
            refuse_unmigrated(self.order.root, self.order.stack)
            StackContext(self.order.root, self.order.stack).require_sandbox()
            for made in make_if_absent(self.stack, self.order.root):
                self.order.tell(made)
            self._take_up()
            planned = self.stack.preview(policy_pack=self.order.pack_folder)
            if not self.order.takes_over:
                refuse_delivered(self.order.root, self.order.stack, planned, self.order.tell)
        except HoldfastError as error:
            self.account.refuse(error)
            raise
        self._progress.plan(planned.steps)
        policy = verdict(planned) if self.order.pack_folder else "not judged"
        self.order.tell(f"preview: {changes_in_words(planned.counts)}; policy: {policy}")
        return policy, planned

    def _take_up(self) -> None:
        """Refuse a stack that a killed run has left half done, or go on from there if told to."""
        left = interrupted(self.stack)
        if not self.order.recovers:
            if error := left.refusal(self.stack.name):
                raise error
            return
        for each in mend(self.stack, left):
            self.order.tell(f"recovery: {each}")

    def _refuse_too_large(self) -> None:
        try:
            count = len(self.account.agents)
        except HoldfastError:
            return  # the files of an old commit may be read by its code alone
        refuse_too_large(self.order.stack, count, memory_limit_bytes())

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

    @property
    def tracer(self) -> Tracer:
        """Records the steps."""
        return self.order.tracer

    @step("update")
    def do(
        self,
        record: UpdateRecord,
        waves: Sequence[Wave] = (),
        *,
        continues_on_error: bool = False,
    ) -> UpdateRecord:
        """Update, and record what came of it.

        Args:
            record: What is known before.
            waves: What is updated first, in this order; in the end all the rest is.
            continues_on_error: What does not depend on what failed is updated all the same.

        Raises:
            EngineError: the update failed; later waves were not begun.
        """
        with kept_state(self.stack, self.account.identifier, self.order.tell):
            return self._do(record, waves, continues_on_error=continues_on_error)

    def _do(
        self, record: UpdateRecord, waves: Sequence[Wave], *, continues_on_error: bool
    ) -> UpdateRecord:
        results: list[RunResult] = []
        try:
            for wave in waves:
                self.order.tell(f"wave {wave.name}")
                results.append(self._up(record, wave.urns, pack=None))
                wave.gate()
            goes_on = ("--continue-on-error",) if continues_on_error else ()
            results.append(self._up(record, (), pack=self.order.pack_folder, options=goes_on))
        except RunFailedError as error:
            self.account.note(record, "failed", [*results, error.result], self._detail_of(error))
            raise
        except HoldfastError as error:
            self.account.note(record, "failed", results, self._detail_of(error))
            raise
        done = self.account.note(record, "succeeded", results)
        for name, value in (("commit", record.commit), ("dirty", str(record.is_dirty).lower())):
            self.stack.set_tag(name, value or "none")
        return done

    def _up(
        self,
        record: UpdateRecord,
        urns: Sequence[str],
        pack: Path | None,
        options: Sequence[str] = (),
    ) -> RunResult:
        message, targets = f"--message={message_of(record)}", (f"--target={urn}" for urn in urns)
        up = partial(
            self.stack.up,
            policy_pack=pack,
            options=[message, *targets, *options],
            on_event=self._progress.take,
        )
        if not self.order.recovers:
            return up()
        return past_dead_lock(self.stack, up, lambda each: self.order.tell(f"recovery: {each}"))

    def _detail_of(self, error: HoldfastError) -> str:
        """Why an update failed and what it left undone, for the history."""
        left = self._progress.tell_left()
        agents = ", ".join(self.account.agents_of(left) or ())
        whose = f" of {agents}" if agents else ""
        return f"{len(left)} objects{whose} not done: {error.message}" if left else error.message

    @cached_property
    def account(self) -> UpdateAccount:
        """What is recorded of it."""
        return UpdateAccount(self.order)

    @cached_property
    def _progress(self) -> UpdateProgress:
        return UpdateProgress(self.order.tell)

    @cached_property
    def stack(self) -> Stack:
        """The stack, whose program is told the commit that we found."""
        order, source = self.order, self.account.source
        commit = source.commit.name if source else ""
        is_dirty = source is None or source.is_dirty
        return open_stack(
            order.root,
            order.stack,
            kubeconfig=StackContext(order.root, order.stack).sandbox_kubeconfig,
            variables={
                "HOLDFAST_COMMIT": commit,
                "HOLDFAST_DIRTY": str(is_dirty).lower(),
                # Another engine's values stand where it delivers another version.
                **({_FORCE: "true"} if order.takes_over else {}),
            },
        )
