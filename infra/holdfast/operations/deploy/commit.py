"""A stack brought to a commit that need not be checked out, and proved equal to it. Wiring."""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import msgspec

from holdfast.adapters.engine.backend.lock_holder import recovery_command
from holdfast.adapters.engine.results import RunResult
from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.git.source import Commit, Source
from holdfast.errors import EngineError, ExitCode, HoldfastError
from holdfast.operations.deploy.request import Order
from holdfast.operations.deploy.update import Updating
from holdfast.operations.stack.commit_project import CommitProject, project_at
from holdfast.operations.stack.project import PACK_FOLDER

Do = Callable[[Updating, str, RunResult], UpdateRecord]
"""Takes the policy pack's verdict, and what a preview would do."""


class NotEqualError(EngineError):
    """The update was done, and what runs is not what its commit declares."""


def bring_to(
    order: Order,
    commit: Commit,
    before: Callable[[CommitProject], None],
    do: Do | None = None,
) -> UpdateRecord:
    """Update a stack to a commit, and compare every object with what it declares.

    Args:
        order: What is to be done; its `root` is the project in the working tree.
        commit: Where to.
        before: Called when what would change has been told; raises to stop there.
        do: Does the update when it has been judged; default at once, and with no aftermath.

    Raises:
        EngineError: refused, failed, or not equal afterwards; the history says why.
    """
    with _going_on(order), project_at(order.root, commit.name) as project:
        pack = order.pack or order.root / PACK_FOLDER
        there = replace(
            order, root=project.root, pack=pack, source=Source(commit), is_validated=False
        )
        updating = Updating(there)
        policy, planned = updating.judge()
        try:
            before(project)
        except HoldfastError as error:
            updating.account.refuse(error)
            raise
        record = (do or _at_once)(updating, policy, planned)
        proof, code = equality(project, order.stack)
        order.tell(f"proof: {proof}")
        proved = msgspec.structs.replace(record, proof=proof)
        if code is ExitCode.OK:
            return updating.account.add(proved)
        updating.account.add(msgspec.structs.replace(proved, outcome="failed", detail=proof))
    raise NotEqualError(
        f"stack {order.stack} was updated to {commit.short} and is not equal to it: {proof}",
        remedy=f"see `holdfast drift -s {order.stack}` at that commit",
        exit_code=code,
    )


@contextmanager
def _going_on(order: Order) -> Iterator[None]:
    """Errors that name how to go on after a killed run name the command that was asked for.

    `holdfast up` would bring the stack to the commit that is checked out here, and not to the one
    that was wanted.
    """
    try:
        yield
    except HoldfastError as error:
        if order.again:
            general = recovery_command(order.stack)
            error.message = error.message.replace(general, order.again)
            error.remedy = error.remedy.replace(general, order.again)
        raise


def _at_once(updating: Updating, policy: str, _: RunResult) -> UpdateRecord:
    return updating.do(updating.account.record(policy=policy))


def equality(project: CommitProject, stack: str) -> tuple[str, ExitCode]:
    """Whether what runs is what a commit declares: in words, and as the exit code of a scan."""
    done = project.holdfast("drift", "-s", stack, "-o", "json", "--no-engine", "--no-history")
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError:
        return f"the scan failed: {_last_line(done)}", ExitCode.ERROR
    if done.returncode == ExitCode.OK:
        return f"equal: {report['layers'][0]['detail']}", ExitCode.OK
    found = [
        f"{each['object']['kind']} {each['object']['name']} {each['path']}".strip()
        for each in report["findings"]
    ][:3]
    unseen = [each["reason"] for each in report["notChecked"]][:1]
    code = ExitCode.DRIFT if done.returncode == ExitCode.DRIFT else ExitCode.ERROR
    return f"not equal: {'; '.join([*found, *unseen])}", code


def _last_line(done: "subprocess.CompletedProcess[str]") -> str:
    return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
