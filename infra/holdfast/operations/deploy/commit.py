"""A stack brought to a commit that need not be checked out, and verified to be equal to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol

import msgspec

from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.git.source import Commit, Source, commit_named
from holdfast.adapters.tracing.spans import UNTRACED, Tracer
from holdfast.errors import EngineError, HoldfastError
from holdfast.operations.deploy.request import UpdateRequest
from holdfast.operations.deploy.update import StackUpdate, UpdatePlan
from holdfast.operations.deploy.verification import verify
from holdfast.operations.progress import SILENT, Progress
from holdfast.operations.stack.commit_project import CommitProject, project_at
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import policy_pack
from holdfast.operations.tracing import traced_update


class VerificationFailedError(EngineError):
    """The update was done, and what runs is not what its commit declares."""


class _Applies(Protocol):
    def apply(self, plan: UpdatePlan) -> UpdateRecord:
        """Do what was planned."""


class CommitDeployment:
    """The update to a commit, planned in a checkout of its own; nothing is written until `apply`.

    Attributes:
        commit: Where to.
        project: The checkout.
        update: The update of its files.
        plan: What it would do.
    """

    def __init__(
        self, commit: Commit, project: CommitProject, update: StackUpdate, plan: UpdatePlan
    ) -> None:
        self.commit, self.project, self.update, self.plan = commit, project, update, plan
        self.has_begun = False

    def apply(self, way: _Applies | None = None) -> UpdateRecord:
        """Do it, and compare every object with what the commit declares.

        Args:
            way: How the plan is applied; default at once and unwatched.

        Raises:
            EngineError: failed, or not equal afterwards; the history says why.
        """
        self.has_begun = True
        record = (way or self.update).apply(self.plan)
        stack, recorder = self.update.context.name, self.update.recorder
        found = verify(self.project, stack)
        self.update.progress.step(f"proof: {found.text}")
        proved = msgspec.structs.replace(record, proof=found.text)
        if found.is_equal:
            return recorder.add(proved)
        recorder.add(msgspec.structs.replace(proved, outcome="failed", detail=found.text))
        raise VerificationFailedError(
            f"stack {stack} was updated to {self.commit.short} and is not equal to it: "
            f"{found.text}",
            remedy=f"see `holdfast drift -s {stack}` at that commit",
            exit_code=found.exit_code,
        )


@contextmanager
def planned_deployment(
    home: StackContext,
    commit: Commit,
    request: UpdateRequest,
    progress: Progress = SILENT,
    tracer: Tracer = UNTRACED,
) -> Iterator[CommitDeployment]:
    """Plan the update of a stack to a commit; an error in the body refuses it in the history.

    Args:
        home: The stack in the working tree, which is not touched.
        commit: Where to.
        request: What is to be done; the working tree's policy pack judges.
        progress: Takes what a person should know.
        tracer: Records the steps.

    Raises:
        EngineError: refused, by the policy pack or for a run that was killed.
    """
    with project_at(home.root, commit.name) as project:
        there = replace(
            request,
            pack=policy_pack(home.root, request.pack),
            source=Source(commit),
            validates=False,
        )
        update = StackUpdate(replace(home, root=project.root), there, progress, tracer)
        deployment = CommitDeployment(commit, project, update, update.plan())
        try:
            yield deployment
        except HoldfastError as error:
            if not deployment.has_begun:
                update.recorder.refused(error)
            raise


@contextmanager
def planned_rollback(
    home: StackContext, commit: str, reason: str, progress: Progress = SILENT
) -> Iterator[CommitDeployment]:
    """Plan the way back to an earlier commit, as a trace; as `planned_deployment`.

    Args:
        home: The stack in the working tree, which is not touched.
        commit: Branch, tag or abbreviated hash.
        reason: Why, for the history.
        progress: Takes what a person should know.

    Raises:
        InputError: there is no such commit.
        EngineError: refused, by the policy pack or for a run that was killed.
    """
    found = commit_named(home.root, commit)
    request = UpdateRequest(
        action="rollback",
        reason=reason,
        recover=True,
        resume_command=f"holdfast rollback -s {home.name} {commit} --reason ...",
    )
    with (
        traced_update(request.action, home.name, reason, progress) as tracer,
        planned_deployment(home, found, request, progress, tracer) as deployment,
    ):
        yield deployment


def deploy_commit(
    home: StackContext,
    commit: Commit,
    request: UpdateRequest,
    progress: Progress = SILENT,
    tracer: Tracer = UNTRACED,
) -> UpdateRecord:
    """Update a stack to a commit without asking, and verify that it is equal to it.

    Raises:
        EngineError: refused, failed, or not equal afterwards; the history says why.
    """
    with planned_deployment(home, commit, request, progress, tracer) as deployment:
        return deployment.apply()
