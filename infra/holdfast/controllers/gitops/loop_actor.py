"""What the reconciler acts on: a clone, its stack, the cluster."""

import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.engine.backend.stack_lock import ActivityReader
from holdfast.adapters.engine.project import PROJECT_FILE
from holdfast.adapters.engine.state.interrupted import interrupted, recover_interrupted
from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.git.source import Commit, Source, commit_named
from holdfast.adapters.git.tracking import SignatureError, TrackedBranch
from holdfast.adapters.tracing.spans import UNTRACED, Tracer
from holdfast.controllers.gitops.proposals import ProposalBranches
from holdfast.controllers.gitops.roles import (
    BlockedReason,
    Comparison,
    DriftedAgent,
    Field,
    RejectedCommitError,
)
from holdfast.controllers.runtime.leader import WriteFence
from holdfast.drift.finding import Finding
from holdfast.drift.plan.revert import Step
from holdfast.errors import ClusterError, ExitCode, HoldfastError
from holdfast.kube.paths import format_path
from holdfast.operations.deploy.guarded import ROLLBACK, GuardedUpdate, UpdateDegradedError
from holdfast.operations.deploy.request import UpdateRequest
from holdfast.operations.deploy.update import StackUpdate
from holdfast.operations.progress import SILENT, Progress
from holdfast.operations.remediate.by_mode import apply_by_mode, plan_by_mode
from holdfast.operations.remediate.revert import plans_for
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scanner import Scan, Scanner
from holdfast.operations.stack.agent_stack import LoopControl, read_control, stack_client
from holdfast.operations.stack.commit_project import lend_environment
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.preflight.gitops_ownership import ManagedElsewhereError
from holdfast.operations.stack.update_history import update_records

ACTION = "reconcile"
_BACK = (ROLLBACK, "rollback")
_WILL_NOT_DO = {ExitCode.BAD_INPUT: "Invalid", ExitCode.POLICY: "PolicyRefused"}


@dataclass
class LoopActor:
    """One stack, brought to the commits of one branch; source and actor of the reconciler.

    Attributes:
        tracked: The branch, in a clone of the loop's own.
        path: Folder of the project in the repository.
        needs_signature: Commits without a trusted signature are refused.
        progress: Takes what the operations say.
        tracer: Records the steps of updates.
        fence: Guards every client that writes to the stack's cluster.
        timeout_seconds: Of each run of the engine.
    """

    tracked: TrackedBranch
    stack: str
    path: str = "."
    needs_signature: bool = False
    progress: Progress = SILENT
    tracer: Tracer = UNTRACED
    fence: WriteFence = field(default_factory=WriteFence)
    timeout_seconds: float = StackContext.engine_timeout_seconds
    _client: ApiClient | None = None
    _checking_out: threading.RLock = field(default_factory=threading.RLock)

    @cached_property
    def root(self) -> Path:
        """Folder of the project in the clone, which is made when it is first asked for.

        Raises:
            HoldfastError: the repository cannot be read, or has no project there.
        """
        commit = self.tracked.newest()
        if self.needs_signature:
            # Nothing of another commit is read: its Pulumi.yaml would name the backend.
            commit = self.tracked.newest_verified()
        self.tracked.check_out(commit)
        root = (self.tracked.folder / self.path).resolve()
        if not (root / PROJECT_FILE).is_file():
            raise RejectedCommitError(
                f"commit {commit.short} of {self.tracked.place} has no Pulumi.yaml in {self.path}",
                remedy="correct --path",
            )
        return root

    def newest(self) -> Commit:
        """The newest commit of the branch.

        Raises:
            RejectedCommitError: it is not signed, or was taken back.
            HoldfastError: the repository cannot be read.
        """
        commit = self.tracked.newest()
        self._verify(commit)
        if taken := self._rolled_back_by(commit):
            raise RejectedCommitError(
                f"commit {commit.short} was taken back at {taken.started_at}: {taken.reason}",
                remedy="push another one",
                reason="TakenBack",
            )
        return commit

    def _verify(self, commit: Commit) -> None:
        if self.needs_signature:
            try:
                self.tracked.verify(commit)
            except SignatureError as error:
                raise RejectedCommitError(
                    error.message, remedy=error.remedy, reason="Unsigned"
                ) from error

    def context(self) -> StackContext:
        """The stack as the clone has it now, its settings read; from any thread.

        Raises:
            HoldfastError: the settings are not valid.
        """
        with self._checking_out:
            context = StackContext(self.root, self.stack, self.timeout_seconds)
            _ = context.environment
        return context

    def connect(self) -> ApiClient:
        """A client for the cluster of the stack that writes only while this process may.

        Raises:
            HoldfastError: the cluster is not to be found.
        """
        return self.fence.guard(stack_client(self.context()))

    def control(self) -> LoopControl:
        """What the stack's AgentStack says: whether it is suspended.

        Raises:
            HoldfastError: it cannot be read: whether anything may be done is not known.
        """
        try:
            self._client = self._client or self.connect()
            return read_control(self._client, self.stack)
        except ClusterError:
            self._client = None
            raise

    def blocked_by(self) -> BlockedReason | None:
        """The holder of the stack's lock; a lock whose process has ended here is removed."""
        if not self._activity.read().is_under_way:
            return None
        stack = StackContext(self.root, self.stack, self.timeout_seconds).engine()
        left = interrupted(stack)
        if left.holders and not left.worst.has_ended:
            who = left.worst
            return BlockedReason("Locked", f"{who} holds the lock of stack {self.stack}")
        self.fence.check()
        for each in recover_interrupted(stack, left):
            self.progress.note(f"recovery: {each}")
        return None

    def running_commit(self) -> str:
        """The commit of the last good update; empty where files were used that are in none."""
        done = [each for each in self._records() if each.has_succeeded]
        return done[-1].commit if done and not done[-1].is_dirty else ""

    def update(self, commit: Commit) -> str:
        """Bring the stack to a commit.

        Raises:
            RejectedCommitError: it is refused, or was taken back.
            HoldfastError: it could not be done now.
        """
        self.fence.check()
        self._check_out(commit)
        context = StackContext(self.root, self.stack, self.timeout_seconds)
        request = UpdateRequest(action=ACTION, source=Source(commit), recover=True)
        update = StackUpdate(context, request, self.progress, self.tracer)
        try:
            record = GuardedUpdate(update, context).run()
        except UpdateDegradedError as error:
            reason = "RolledBack" if error.was_rolled_back else "UpdateWorse"
            raise RejectedCommitError(error.message, remedy=error.remedy, reason=reason) from error
        except ManagedElsewhereError as error:
            raise RejectedCommitError(
                error.message, remedy=error.remedy, reason="ManagedElsewhere"
            ) from error
        except HoldfastError as error:
            if reason := _WILL_NOT_DO.get(error.exit_code, ""):
                raise RejectedCommitError(
                    error.message, remedy=error.remedy, reason=reason
                ) from error
            raise
        return f"updated {', '.join(record.agents or ()) or 'nothing'} in {record.seconds:g} s"

    def drifted(self, agent: str = "") -> Comparison:
        """How what runs differs from the commit that runs."""
        running = self.running_commit()
        if not running:
            return Comparison(unseen=("nothing to compare with: no commit is known to run",))
        self._check_out(commit_named(self.tracked.folder, running))
        self._sources = Scanner(ScanRequest(self.root, self.stack), self.progress)
        self.fence.guard(self._sources.cluster.client)
        self._scan = self._sources.scan(agent=agent)
        fields: dict[str, list[Field]] = defaultdict(list)
        for finding in self._scan.report.drift:
            if agent in ("", finding.agent):
                fields[finding.agent].append(field_of(finding))
        modes = self._sources.desired.modes
        agents = tuple(
            DriftedAgent(name, mode, tuple(found), self._left(name) if mode == "revert" else {})
            for name, found in sorted(fields.items())
            for mode in [modes.get(name, "report")]
        )
        unseen = tuple(f"{each.scope}: {each.reason}" for each in self._scan.report.not_checked)
        return Comparison(agents, unseen)

    def _left(self, agent: str) -> dict[Field, str]:
        """What of an agent's drift no revert restores, and why."""
        return {
            field_of(step.finding): step.reason
            for plan in plans_for(self._scan)
            for step in plan.steps
            if step.step is Step.LEAVE and step.finding.agent == agent
        }

    def remediate(self, agent: str, fields: Sequence[Field]) -> str:
        """Revert or propose these fields of the last look, as the agent's manifest says."""
        self.fence.check()
        wanted = set(fields)
        report = self._scan.report
        kept = tuple(
            each for each in report.findings if each.agent == agent and field_of(each) in wanted
        )
        chosen: Scan = replace(self._scan, report=replace(report, findings=kept))
        proposals = ProposalBranches(self.root)
        before = proposals.commits()
        plan = plan_by_mode(self._sources, chosen)
        outcome = apply_by_mode(self._sources, plan, None, self.progress)
        failures = outcome.failures if outcome else 0
        if self._sources.desired.modes.get(agent) == "adopt":
            made = proposals.push_since(before)
            return f"proposed on branch {', '.join(made)}" if made else "nothing new to propose"
        if failures:
            raise HoldfastError(f"{failures} objects of {agent} could not be reverted")
        return f"reverted {len(kept)} fields"

    def _check_out(self, commit: Commit) -> None:
        self._verify(commit)
        with self._checking_out:
            self.tracked.check_out(commit)
        lend_environment(None, self.root)

    def check_out_for_watch(self) -> Path:
        """The project as the running commit has it, in a working tree that only the watch reads.

        Raises:
            RejectedCommitError: it is not signed.
            HoldfastError: it cannot be written.
        """
        folder = self.tracked.folder.parent / "watch"
        commit = commit_named(self.tracked.folder, self.running_commit() or "HEAD")
        self._verify(commit)
        self.tracked.check_out_beside(folder, commit.name)
        return (folder / self.path).resolve()

    def _rolled_back_by(self, commit: Commit) -> UpdateRecord | None:
        """The update by which a commit was taken back; None when it was not."""
        was_tried = False
        back = None
        for record in self._records():
            if record.commit == commit.name and record.action not in _BACK:
                was_tried, back = True, None
            elif was_tried and record.action in _BACK and record.has_succeeded:
                back = record if record.commit != commit.name else None
        return back

    def _records(self) -> list[UpdateRecord]:
        return update_records(self.root, self.stack)

    @cached_property
    def _activity(self) -> ActivityReader:
        return ActivityReader(self.root, self.stack)


def field_of(finding: Finding) -> Field:
    """The object and the path that a finding is about."""
    return str(finding.ref), format_path(finding.path)
