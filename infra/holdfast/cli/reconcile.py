"""`holdfast reconcile`: a stack held to a branch, for ever. Wiring only."""

import fcntl
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from holdfast.cli.loop_actor import LoopActor
from holdfast.cli.loop_watch import watch_for_drift
from holdfast.engine.folders import state_directory
from holdfast.errors import ExitCode, HoldfastError, InputError
from holdfast.git.tracking import TrackedBranch
from holdfast.reconcile.hook_server import Answers, HookServer
from holdfast.reconcile.loop_state import LoopState
from holdfast.reconcile.reconciler import COMMIT, DRIFT, Poll, Reconciler
from holdfast.report.loop_log import log_line

HOOK_SECRET = "HOLDFAST_HOOK_SECRET"  # noqa: S105  (the name of a variable)
_SECONDS = click.FloatRange(min=1.0)
_STUCK_AFTER_SECONDS = 1800.0


@click.command()
@click.option("-s", "--stack", required=True, help="Stack to hold to the branch.")
@click.option("--repo", required=True, metavar="URL", help="Repository, as `git clone` takes it.")
@click.option(
    "--branch", default="main", show_default=True, help="Branch that says what is wanted."
)
@click.option("--path", default=".", show_default=True, help="The project's folder in it.")
@click.option(
    "--interval",
    type=_SECONDS,
    metavar="SECONDS",
    default=60.0,
    show_default=True,
    help="How often the repository is asked for a new commit.",
)
@click.option(
    "--resync",
    type=_SECONDS,
    metavar="SECONDS",
    default=600.0,
    show_default=True,
    help="How often everything is compared, as a safety net beside the watch.",
)
@click.option(
    "--listen",
    metavar="HOST:PORT",
    help="Take hooks at /hook; tell /healthz, /status and /metrics.",
)
@click.option("--require-signed", is_flag=True, help="Use signed commits only.")
@click.option("--once", is_flag=True, help="Bring the stack to the newest commit, and end.")
@click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def command(stack: str, output: str, *, once: bool, **asked: Any) -> int:  # noqa: ANN401  (by name)
    """Hold a stack to a branch: every new commit is brought to it, drift is put back. For ever.

    Clones the branch into the state folder and asks for new commits at an interval, or at once
    when a hook is posted to /hook (HOLDFAST_HOOK_SECRET is the secret of GitHub's signature or
    GitLab's token). A commit is validated, judged, previewed, applied, watched and recorded as by
    `holdfast up`. Beside that the cluster is watched: drift is dealt with as spec.drift.mode of
    each agent says. A field that was put back five times within an hour is only reported then.

    Nothing is done while the stack is paused (`holdfast pause`) or somebody holds its lock. A
    second loop for the stack waits until the first has ended. SIGINT and SIGTERM end it in order.

    \b
    Examples:
      holdfast reconcile -s prod --repo https://git.example/fleet.git --branch main
      holdfast reconcile -s prod --repo git@git.example:fleet.git --interval 30 \\
        --listen 127.0.0.1:9465 --require-signed -o json
      holdfast reconcile -s dev --repo . --once

    \b
    Exit codes: 8 ended as told   2 bad input   with --once: 0 there   else as `holdfast up`
    """
    asking = _Asking(**asked)
    address = _address(asking.listen) if asking.listen else None
    log = _Log(as_json=output == "json")
    folder = state_directory() / "reconcile" / stack.rpartition("/")[2]
    actor = LoopActor(
        TrackedBranch(_absolute(asking.repo), asking.branch, folder / "clone"),
        stack,
        asking.path,
        asking.require_signed,
        tell=lambda line: log("progress", text=line.strip()),
    )
    with _only_one(folder, log):
        actor.begin()
        if once:
            commit = actor.newest()
            log("act", key=COMMIT, commit=commit.short, done=actor.update(commit))
            return ExitCode.OK
        _work(actor, asking, address, log)
    log("end", reason="as told")
    return ExitCode.CANCELLED


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


def _work(actor: LoopActor, asking: _Asking, address: tuple[str, int] | None, log: "_Log") -> None:
    state = LoopState(actor.stack)
    reconciler = Reconciler(actor, actor, log, [state])
    server = _server(address, reconciler, state, log) if address else None
    _stop_when_told(reconciler)
    watch_for_drift(actor.stack, reconciler.ask, log)
    try:
        reconciler.run([Poll(COMMIT, asking.interval), Poll(DRIFT, asking.resync)])
    finally:
        if server is not None:
            server.close()


class _Log:
    """Writes a line a phase to standard output, from any thread."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._lock = threading.Lock()

    def __call__(self, phase: str, **told: Any) -> None:  # noqa: ANN401 - whatever is told
        line = log_line(datetime.now(UTC), phase, told, as_json=self._as_json)
        with self._lock:
            click.echo(line)
            sys.stdout.flush()


def _absolute(repo: str) -> str:
    """A folder here is named from the root: the clone asks from a folder of its own."""
    return str(Path(repo).resolve()) if Path(repo).is_dir() else repo


def _address(listen: str) -> tuple[str, int]:
    host, separator, port = listen.rpartition(":")
    if not separator or not port.isdigit():
        raise InputError(
            f"--listen: expected HOST:PORT, got {listen!r}", remedy="such as 127.0.0.1:9465"
        )
    return host.strip("[]"), int(port)


def _server(
    address: tuple[str, int], reconciler: Reconciler, state: LoopState, log: _Log
) -> HookServer:
    host, port = address
    answers = Answers(
        on_hook=lambda: reconciler.ask(COMMIT, is_urgent=True),
        is_alive=lambda: reconciler.seconds_since_turn() < _STUCK_AFTER_SECONDS,
        status=state.status,
        metrics=state.metrics,
    )
    server = HookServer(host, port, answers, os.environ.get(HOOK_SECRET, ""))
    log("listen", address=f"{host}:{server.port}")
    return server


@contextmanager
def _only_one(folder: Path, log: _Log) -> Iterator[None]:
    """Hold the place of the one loop that acts on a stack, waiting for it if need be."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with (folder / "loop.lock").open("w") as place:
            try:
                fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                log("standby", reason="another loop holds this stack to its branch")
                fcntl.flock(place, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise HoldfastError(f"{folder} cannot be used ({error.strerror or error})") from error


def _stop_when_told(reconciler: Reconciler) -> None:
    """The first signal ends the loop in order, the second one at once."""

    def stop(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        reconciler.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
