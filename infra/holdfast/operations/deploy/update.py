"""One update of a stack: planned without writing anything, then applied and recorded."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Protocol

import msgspec

from holdfast.adapters.engine.backend.lock_holder import StackLockedError, worst_of
from holdfast.adapters.engine.failures.failures import RunFailedError
from holdfast.adapters.engine.results import RunResult
from holdfast.adapters.engine.run.events import Event, ResourceStep
from holdfast.adapters.engine.stack import Stack, open_stack
from holdfast.adapters.engine.state.interrupted import (
    interrupted,
    past_dead_lock,
    recover_interrupted,
)
from holdfast.adapters.engine.state.kept_objects import KeptObject
from holdfast.adapters.engine.update_record import UpdateRecord, message_of
from holdfast.adapters.git.source import source_of
from holdfast.adapters.tracing.spans import UNTRACED, Tracer
from holdfast.errors import EngineError, HoldfastError, InputError
from holdfast.manifest.stack.stack_files import read_stack_file
from holdfast.operations.deploy.kept_data import adoptions, kept_objects
from holdfast.operations.deploy.recorder import (
    ADOPT,
    KEEP,
    UpdateProgress,
    UpdateRecorder,
    changes_in_words,
    counted_apart,
    policy_verdict,
)
from holdfast.operations.deploy.request import UpdateRequest, check_preconditions
from holdfast.operations.deploy.rollouts import LiveWorkloads, RolloutGuard
from holdfast.operations.deploy.state_copies import backed_up, make_if_absent, there_for_a_preview
from holdfast.operations.deploy.verification import verify_stack
from holdfast.operations.deploy.waves import Wave
from holdfast.operations.progress import SILENT, Progress
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.preflight.gitops_ownership import (
    ensure_not_managed_elsewhere,
)
from holdfast.operations.stack.project import policy_pack
from holdfast.operations.tracing import step

_KEPT_FOR = "declare it again to use it; delete it with kubectl when its data may go"
_FORCE = "PULUMI_K8S_ENABLE_PATCH_FORCE"


@dataclass(frozen=True)
class UpdatePlan:
    """What an update would do; nothing has been written for it.

    Attributes:
        policy: The policy pack's verdict, in words.
        preview: What the engine would do.
        agents: Agents of which it would change something; None where that is not known.
        kept: Objects that would leave the stack and stay in the cluster.
        adopted: Steps whose objects are in the cluster already, such as claims kept earlier.
    """

    policy: str
    preview: RunResult
    agents: tuple[str, ...] | None
    kept: tuple[KeptObject, ...] = ()
    adopted: tuple[ResourceStep, ...] = ()


class Gate(Protocol):
    """Decides whether an update goes on after a wave."""

    def wait(self, wave: Wave) -> None:
        """Wait until the wave's agents are healthy; raises to end the update there."""


@dataclass(frozen=True)
class StackUpdate:
    """One update of one stack, step by step.

    Attributes:
        context: The stack, with the files to deploy.
        request: What is to be done.
        progress: Takes what a person should know.
        tracer: Records the steps.
    """

    context: StackContext
    request: UpdateRequest
    progress: Progress = SILENT
    tracer: Tracer = UNTRACED

    @step("judge")
    def plan(self) -> UpdatePlan:
        """Refuse what must not be done, and say what would be; nothing is written.

        Raises:
            InputError: there is no such stack (exit code 6); the files are not committed, or not
                valid.
            EngineError: the policy pack refuses it, or the preview failed.
        """
        # Before anything is recorded: a stack that does not exist has no history.
        read_stack_file(self.context.root, self.context.name)
        try:
            check_preconditions(self.context, self.request, self.recorder.source, self.progress)
            self._ensure_not_interrupted()
            with there_for_a_preview(self.stack, self.context.root):
                plan = self._preview()
            if not self.request.force_ownership:
                ensure_not_managed_elsewhere(self.context, plan.preview, self.progress)
        except HoldfastError as error:
            self.recorder.refused(error)
            raise
        self._announce(plan)
        return plan

    def ensure_files_unchanged(self) -> None:
        """Refuse to go on when the files are no longer those of the plan.

        The engine's program reads them again: what was confirmed is then not what is deployed.

        Raises:
            InputError: another commit is checked out, or files were changed.
        """
        if self.request.source is None and source_of(self.context.root) != self.recorder.source:
            raise InputError(
                "the project's files changed after the preview; nothing was updated",
                remedy="run the command again",
            )

    def begin(self, plan: UpdatePlan) -> UpdatePlan:
        """Create the stack, and resume after a killed run; the first that is written.

        Returns:
            The plan, computed again where a killed run had left something.

        Raises:
            EngineError: the backend refuses it, or the policy pack what is to be resumed.
        """
        try:
            for made in make_if_absent(self.stack, self.context.root):
                self.progress.note(made)
            if not self._resume_interrupted():
                return plan
            plan = self._preview()
        except HoldfastError as error:
            self.recorder.refused(error)
            raise
        self._announce(plan)
        return plan

    def apply(self, plan: UpdatePlan) -> UpdateRecord:
        """Do what was planned, and record what came of it.

        Raises:
            EngineError: the update failed.
        """
        return self.run(self.begin(plan))

    @step("update")
    def run(
        self,
        plan: UpdatePlan,
        waves: Sequence[Wave] = (),
        gate: Gate | None = None,
        *,
        continue_on_error: bool = False,
    ) -> UpdateRecord:
        """Update what `begin` has prepared, and record what came of it.

        Args:
            plan: What would be done.
            waves: What is updated first, in this order; in the end all the rest is.
            gate: Waited for after each wave.
            continue_on_error: Update what does not depend on what failed.

        Raises:
            EngineError: the update failed; later waves were not begun.
        """
        words = tuple(str(each) for each in plan.kept)
        record = msgspec.structs.replace(self.recorder.begun(policy=plan.policy), kept=words)
        with backed_up(self.stack, self.recorder.identifier, self.progress):
            done = self._run(record, plan, waves, gate, continue_on_error=continue_on_error)
        self._tag(done)
        for each in plan.kept:
            self.progress.note(f"kept in the cluster: {each.reference}: {_KEPT_FOR}")
        return done

    def _run(
        self,
        record: UpdateRecord,
        plan: UpdatePlan,
        waves: Sequence[Wave],
        gate: Gate | None,
        *,
        continue_on_error: bool,
    ) -> UpdateRecord:
        results: list[RunResult] = []
        try:
            for wave in waves:
                self.progress.step(f"wave {wave.name}")
                results.append(self._up(record, wave.urns, pack=None))
                if gate is not None:
                    gate.wait(wave)
            if protected := [each.urn for each in plan.kept if each.is_protected]:
                self.stack.unprotect(protected)
            options = ("--continue-on-error",) if continue_on_error else ()
            results.append(self._up(record, (), pack=self._pack, options=options))
        except RunFailedError as error:
            self.recorder.failed(record, [*results, error.result], self._detail_of(error))
            raise
        except HoldfastError as error:
            self.recorder.failed(record, results, self._detail_of(error))
            raise
        return self.recorder.succeeded(record, results)

    def _up(
        self,
        record: UpdateRecord,
        urns: Sequence[str],
        pack: Path | None,
        options: Sequence[str] = (),
    ) -> RunResult:
        guard = RolloutGuard(LiveWorkloads(self.context), self.progress)

        def take(event: Event) -> None:
            self._done.take(event)
            guard.take(event)

        message, targets = f"--message={message_of(record)}", (f"--target={urn}" for urn in urns)
        up = partial(
            self.stack.up,
            policy_pack=pack,
            options=[message, *targets, *options],
            on_event=take,
            stop_reason=guard.stop_reason,
        )
        try:
            with guard.following():
                if not self.request.recover:
                    return up()
                return past_dead_lock(self.stack, up, self._note_recovery)
        except StackLockedError as error:
            self._with_resume_command(error, is_running=not worst_of(error.holders).has_ended)
            raise

    @step("compare")
    def compared(self, done: UpdateRecord) -> UpdateRecord:
        """The record of a successful update, with what a comparison with the cluster shows.

        The engine compares with its own record: what others have changed since is no change to it.
        """
        found = verify_stack(self.context)
        if not found.is_equal:
            remedy = f"run `holdfast drift -s {self.context.name}`"
            self.progress.note(f"after the update: {found.text}; {remedy}")
        return self.recorder.add(msgspec.structs.replace(done, proof=found.text))

    def _tag(self, done: UpdateRecord) -> None:
        """Tag the stack with its commit; the update has succeeded whether the backend can or not.

        The tags are a convenience of `pulumi stack ls`: the history says the same.
        """
        tags = {"commit": done.commit or "none", "dirty": str(done.is_dirty).lower()}
        try:
            for name, value in tags.items():
                self.stack.set_tag(name, value)
        except EngineError as error:
            self.progress.note(f"note: the update is done, its tags are not set: {error}")

    def _detail_of(self, error: HoldfastError) -> str:
        """Why an update failed and what it left undone, for the history."""
        left = self._done.left()
        agents = ", ".join(self.recorder.agents_of(left) or ())
        whose = f" of {agents}" if agents else ""
        return f"{len(left)} objects{whose} not done: {error.message}" if left else error.message

    def _preview(self) -> UpdatePlan:
        kept = kept_objects(self.context, self.stack)
        preview = self.stack.preview(policy_pack=self._pack, excluded=[each.urn for each in kept])
        policy = policy_verdict(preview)
        agents, adopted = self.recorder.agents_of(preview.steps), adoptions(self.context, preview)
        return UpdatePlan(policy, preview, agents, kept, adopted)

    def _announce(self, plan: UpdatePlan) -> None:
        self._done.plan(plan.preview.steps, plan.kept, plan.adopted)
        self.recorder.adopted.update(each.urn for each in plan.adopted)
        counts = {**plan.preview.object_counts, KEEP: len(plan.kept)}
        changes = changes_in_words(counted_apart(counts, "create", ADOPT, len(plan.adopted)))
        self.progress.note(f"preview: {changes}; policy: {plan.policy}")

    def _ensure_not_interrupted(self) -> None:
        """Refuse a stack that a killed run has left unfinished, unless that is to be resumed."""
        left, name = interrupted(self.stack), self.context.name
        error = left.refusal(name)
        if error is None:
            return
        is_running = bool(left.holders) and not left.worst.has_ended
        if self.request.recover and not is_running:
            return
        raise self._with_resume_command(error, is_running=is_running)

    def _with_resume_command(self, error: EngineError, *, is_running: bool) -> EngineError:
        """The error, whose remedy names the command that was run where that resumes."""
        if self.request.resume_command and not is_running:
            error.remedy = f"run '{self.request.resume_command}' to resume"
        return error

    def _note_recovery(self, done: str) -> None:
        self.progress.note(f"recovery: {done}")

    def _resume_interrupted(self) -> bool:
        """Free the stack of what a killed run has left; whether there was anything."""
        if not self.request.recover:
            self._ensure_not_interrupted()
            return False
        done = list(recover_interrupted(self.stack, interrupted(self.stack)))
        for each in done:
            self._note_recovery(each)
        return bool(done)

    @cached_property
    def recorder(self) -> UpdateRecorder:
        """What is recorded of it."""
        return UpdateRecorder(self.context, self.request)

    @cached_property
    def _done(self) -> UpdateProgress:
        return UpdateProgress(self.progress)

    @property
    def _pack(self) -> Path:
        """The policy pack: no update is without one."""
        return policy_pack(self.context.root, self.request.pack)

    @cached_property
    def stack(self) -> Stack:
        """The engine's stack; its program gets the commit from us."""
        source = self.recorder.source
        is_dirty = source is None or source.is_dirty
        opened = open_stack(
            self.context.root,
            self.context.name,
            kubeconfig=self.context.sandbox_kubeconfig,
            variables={
                "HOLDFAST_COMMIT": source.commit.name if source else "",
                "HOLDFAST_DIRTY": str(is_dirty).lower(),
                # Another engine's values stand where it manages another version.
                **({_FORCE: "true"} if self.request.force_ownership else {}),
            },
            timeout_seconds=self.context.engine_timeout_seconds,
        )
        return replace(opened, resume_command=self.request.resume_command)
