"""The process of a Git loop: its place on the machine, its lease, its endpoints, its signals."""

import fcntl
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from io import TextIOWrapper
from pathlib import Path
from typing import Final

from holdfast.adapters.files import state_directory
from holdfast.adapters.git.tracking import TrackedBranch
from holdfast.adapters.tracing.spans import Tracer
from holdfast.controllers.gitops.loop import LoopReport, stack_login, start_triggers
from holdfast.controllers.gitops.loop_actor import LoopActor
from holdfast.controllers.gitops.loop_events import EventRecord
from holdfast.controllers.gitops.loop_messages import LoopMessages
from holdfast.controllers.gitops.reconciler import COMMIT, DRIFT, Poll, Reconciler
from holdfast.controllers.runtime.http import EndpointServer, is_loopback
from holdfast.controllers.runtime.leader import Leader, LeasePlace
from holdfast.controllers.runtime.log import Log, LogProgress
from holdfast.controllers.runtime.process import stop_on_signals, tracer_for
from holdfast.controllers.runtime.supervisor import Supervisor
from holdfast.errors import ExitCode, HoldfastError
from holdfast.operations.stack.context import StackContext

_STUCK_AFTER_SECONDS: Final = 1800.0


@dataclass(frozen=True)
class LoopRequest:
    """Which stack is kept at which branch, and how.

    Attributes:
        stack: Its name.
        repo: Repository, as `git clone` takes it; a folder by its absolute path.
        branch: Branch to follow.
        path: The project's folder in the repository.
        interval_seconds: Between two polls of the repository.
        resync_seconds: Between two full comparisons with the cluster.
        timeout_seconds: Of each run of the engine.
        address: Host and port of the endpoints; None for none.
        lease: The lease that lets the loop write; None for none.
        require_signed: Only commits with a trusted signature are deployed.
        hook_secret: Secret of the hooks; empty for none. Never shown.
    """

    stack: str
    repo: str
    branch: str = "main"
    path: str = "."
    interval_seconds: float = 60.0
    resync_seconds: float = 600.0
    timeout_seconds: float = StackContext.engine_timeout_seconds
    address: tuple[str, int] | None = None
    lease: LeasePlace | None = None
    require_signed: bool = False
    hook_secret: str = field(default="", repr=False)


def run_loop(request: LoopRequest, log: Log, *, once: bool = False) -> ExitCode:
    """Keep a stack at the newest commit of a branch until a signal ends it, or its lease is lost.

    Args:
        request: What is kept where.
        log: Takes what the loop does.
        once: Deploy the newest commit, and end.

    Returns:
        OK after a single deployment, CANCELLED after a signal, ERROR when the lease was lost.

    Raises:
        HoldfastError: the repository cannot be read, or a single deployment was not done.
    """
    stack = request.stack
    messages = LoopMessages.of(stack, os.environ, log)
    tracer = tracer_for(stack, log)
    folder = state_directory() / "reconcile" / stack.rpartition("/")[2]
    actor = LoopActor(
        TrackedBranch(request.repo, request.branch, folder / "clone"),
        stack,
        request.path,
        request.require_signed,
        progress=LogProgress(log),
        tracer=tracer,
        timeout_seconds=request.timeout_seconds,
    )
    with closing(tracer), only_one_loop(folder, log):
        context = StackContext(actor.root, stack)
        report = LoopReport.of(stack, actor, log, messages)
        actor.fence.when_closed(_end_update)
        leader = Leader(
            request.lease,
            socket.gethostname(),
            stack_login(context),
            log,
            report.leads,
            actor.fence,
        )
        try:
            if once:
                leader.take()
                commit = actor.newest()
                with tracer.span("reconcile", key=COMMIT, commit=commit.name):
                    log("act", key=COMMIT, commit=commit.short, done=actor.update(commit))
                return ExitCode.OK
            _work(_Loop(actor, report, leader, log, tracer), request)
        finally:
            if leader.was_lost:
                messages.record(EventRecord("LeaseLost", leader.problem, is_warning=True))
            report.end()
            leader.give_back()
    log("end", reason=leader.problem or "stopped")
    return ExitCode.ERROR if leader.was_lost else ExitCode.CANCELLED


def _end_update() -> None:
    """End the loop as a signal would: that reaches an update under way, too."""
    os.kill(os.getpid(), signal.SIGTERM)


@dataclass(frozen=True)
class _Loop:
    """The parts of one loop."""

    actor: LoopActor
    report: LoopReport
    leader: Leader
    log: Log
    tracer: Tracer


def _work(loop: _Loop, request: LoopRequest) -> None:
    listeners = loop.report.listeners
    reconciler = Reconciler(loop.actor, loop.log, listeners, loop.tracer)

    def stop() -> None:
        reconciler.stop()
        loop.leader.stop_waiting()

    stop_on_signals(stop)
    supervisor = Supervisor(loop.log)
    server = _server(request, reconciler, loop, supervisor)
    try:
        if loop.leader.take():
            start_triggers(loop.actor, reconciler.ask, loop.log, supervisor)
            if loop.report.messages.has_channels:
                supervisor.start("messages", loop.report.messages.run)
            polls = [Poll(COMMIT, request.interval_seconds), Poll(DRIFT, request.resync_seconds)]
            reconciler.run(polls)
    finally:
        if server is not None:
            server.close()


def _server(
    request: LoopRequest, reconciler: Reconciler, loop: _Loop, supervisor: Supervisor
) -> EndpointServer | None:
    if request.address is None:
        return None

    def unhealthy() -> str:
        is_stuck = reconciler.seconds_since_turn() >= _STUCK_AFTER_SECONDS
        if loop.leader.is_waiting or loop.leader.problem or not is_stuck:
            return loop.leader.problem or supervisor.problem
        return "the loop is stuck"

    state = loop.report.state
    server = EndpointServer("--listen", request.address, state.registry, {"/healthz": unhealthy})
    server.serve_status(state.status)
    server.take_hooks(lambda: reconciler.ask(COMMIT, "hook", is_urgent=True), request.hook_secret)
    server.start()
    loop.log("listen", address=f"{request.address[0]}:{server.port}")
    if not request.hook_secret and not is_loopback(request.address[0]):
        loop.log("listen", level="warning", problem="hooks are refused: no secret is set")
    return server


@contextmanager
def only_one_loop(folder: Path, log: Log) -> Iterator[None]:
    """Hold the place of the one loop that acts on a stack, waiting for it if need be."""
    with closing(_lock_file(folder)) as place:
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log("standby", reason="another loop keeps this stack at its branch")
            fcntl.flock(place, fcntl.LOCK_EX)
        yield


def _lock_file(folder: Path) -> TextIOWrapper:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return (folder / "loop.lock").open("w")
    except OSError as error:
        raise HoldfastError(f"{folder} cannot be used ({error.strerror or error})") from error
