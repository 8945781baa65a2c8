"""`holdfast gitops run`: a controller that keeps a stack at the newest commit of a branch."""

import fcntl
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import click

from holdfast.adapters.files import state_directory
from holdfast.adapters.git.tracking import TrackedBranch
from holdfast.adapters.tracing.spans import Tracer
from holdfast.cli.options.lease import lease_option, lease_place
from holdfast.cli.options.output import OUTPUT
from holdfast.cli.options.stack import stack_option
from holdfast.controllers.gitops.loop import LoopReport, stack_login, start_triggers
from holdfast.controllers.gitops.loop_actor import LoopActor
from holdfast.controllers.gitops.reconciler import COMMIT, DRIFT, Poll, Reconciler
from holdfast.controllers.runtime.http import EndpointServer
from holdfast.controllers.runtime.leader import Leader
from holdfast.controllers.runtime.log import Log, Logger, LogProgress, Output
from holdfast.controllers.runtime.process import host_and_port, stop_on_signals, tracer_for
from holdfast.controllers.runtime.supervisor import Supervisor
from holdfast.errors import ExitCode, HoldfastError
from holdfast.operations.stack.context import StackContext

HOOK_SECRET = "HOLDFAST_HOOK_SECRET"  # noqa: S105  (the name of a variable)
_SECONDS = click.FloatRange(min=1.0)
_STUCK_AFTER_SECONDS = 1800.0


@click.command()
@stack_option("Stack to reconcile.")
@click.option("--repo", required=True, metavar="URL", help="Repository, as `git clone` takes it.")
@click.option("--branch", default="main", show_default=True, help="Branch to follow.")
@click.option("--path", default=".", show_default=True, help="The project's folder in it.")
@click.option(
    "--interval",
    type=_SECONDS,
    metavar="SECONDS",
    default=60.0,
    show_default=True,
    help="Poll interval of the repository.",
)
@click.option(
    "--resync",
    type=_SECONDS,
    metavar="SECONDS",
    default=600.0,
    show_default=True,
    help="Full resync interval.",
)
@click.option(
    "--listen",
    metavar="HOST:PORT",
    help="Serve /hook, /healthz, /status and /metrics there.",
)
@lease_option
@click.option("--require-signed", is_flag=True, help="Deploy signed commits only.")
@click.option("--once", is_flag=True, help="Deploy the newest commit, and end.")
@OUTPUT
def command(stack: str, output: str, *, once: bool, **asked: Any) -> int:  # noqa: ANN401  (by name)
    """Reconcile a stack with a Git branch until stopped: deploy each commit, revert drift.

    Clones the branch into the state folder and polls it, or is notified by a hook posted to /hook
    (HOLDFAST_HOOK_SECRET is the secret of GitHub's signature or GitLab's token). Each commit is
    validated, policy-checked, previewed, applied, watched and recorded as by `holdfast up`. Drift
    is handled as spec.drift.mode of each agent says. After five reverts of the same field within an
    hour, the loop stops reverting it and only reports it.

    It does nothing while the stack is suspended (`holdfast gitops suspend`) or locked. A second
    loop for the stack waits until the first has ended: on this machine always, elsewhere with the
    same --lease in the stack's cluster. SIGINT and SIGTERM end it in order. With
    OTEL_EXPORTER_OTLP_ENDPOINT each reconciliation is a trace. In a cluster that serves AgentStack
    (`holdfast operator install`), conditions and Events report the state of the stack
    (`kubectl describe agentstack prod`).

    \b
    Examples:
      holdfast gitops run -s prod --repo https://git.example/fleet.git \\
        --branch main
      holdfast gitops run -s prod --repo git@git.example:fleet.git \\
        --interval 30 \\
        --listen 127.0.0.1:9465 --require-signed --lease ops/holdfast-prod -o json
      holdfast gitops run -s dev --repo . --once

    \b
    Exit codes: 8 stopped by a signal   1 the lease was lost   2 bad input
      with --once: 0 deployed, else as `holdfast up`
    """
    place = lease_place(asked.pop("lease"))
    asking = _Asking(**asked)
    address = host_and_port("--listen", asking.listen, "127.0.0.1:9465") if asking.listen else None
    log = Logger(Output().write, as_json=output == "json")
    tracer = tracer_for(stack, log)
    folder = state_directory() / "reconcile" / stack.rpartition("/")[2]
    actor = LoopActor(
        TrackedBranch(_absolute(asking.repo), asking.branch, folder / "clone"),
        stack,
        asking.path,
        asking.require_signed,
        progress=LogProgress(log),
        tracer=tracer,
    )
    with closing(tracer), _only_one(folder, log):
        context = StackContext(actor.root, stack)
        report = LoopReport.of(stack, actor, log)
        actor.fence.when_closed(_end_update)
        leader = Leader(
            place,
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
            _work(_Loop(actor, report, leader, log, tracer), asking, address)
        finally:
            report.end()
            leader.give_back()
    log("end", reason=leader.problem or "stopped")
    return ExitCode.ERROR if leader.was_lost else ExitCode.CANCELLED


@dataclass(frozen=True)
class _Asking:
    """How the loop was asked to work; as the options say."""

    repo: str
    branch: str
    path: str
    interval: float
    resync: float
    listen: str | None
    require_signed: bool


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


def _work(loop: _Loop, asking: _Asking, address: tuple[str, int] | None) -> None:
    listeners = loop.report.listeners
    reconciler = Reconciler(loop.actor, loop.log, listeners, loop.tracer)

    def stop() -> None:
        reconciler.stop()
        loop.leader.stop_waiting()

    stop_on_signals(stop)
    supervisor = Supervisor(loop.log)
    server = _server(address, reconciler, loop, supervisor) if address else None
    try:
        if loop.leader.take():
            start_triggers(loop.actor, reconciler.ask, loop.log, supervisor)
            reconciler.run([Poll(COMMIT, asking.interval), Poll(DRIFT, asking.resync)])
    finally:
        if server is not None:
            server.close()


def _absolute(repo: str) -> str:
    """A folder here is named from the root: the clone asks from a folder of its own."""
    return str(Path(repo).resolve()) if Path(repo).is_dir() else repo


def _server(
    address: tuple[str, int], reconciler: Reconciler, loop: _Loop, supervisor: Supervisor
) -> EndpointServer:
    def unhealthy() -> str:
        is_stuck = reconciler.seconds_since_turn() >= _STUCK_AFTER_SECONDS
        if loop.leader.is_waiting or loop.leader.problem or not is_stuck:
            return loop.leader.problem or supervisor.problem
        return "the loop is stuck"

    state = loop.report.state
    server = EndpointServer("--listen", address, state.registry, {"/healthz": unhealthy})
    server.serve_status(state.status)
    server.take_hooks(
        lambda: reconciler.ask(COMMIT, "hook", is_urgent=True), os.environ.get(HOOK_SECRET, "")
    )
    server.start()
    loop.log("listen", address=f"{address[0]}:{server.port}")
    return server


@contextmanager
def _only_one(folder: Path, log: Log) -> Iterator[None]:
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
