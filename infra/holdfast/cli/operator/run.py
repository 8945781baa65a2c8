"""`holdfast operator run`: the loop, its lease, its endpoints and its signals. Wiring."""

import os
import signal
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from holdfast import __version__
from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.kubeconfig import Connection, connection_of
from holdfast.adapters.cluster.leadership import Leadership
from holdfast.adapters.cluster.reflector import SILENCE_SECONDS
from holdfast.adapters.tracing.opentelemetry import tracer_of
from holdfast.adapters.tracing.spans import Tracer
from holdfast.cli.options.lease import LeasePlace, leadership_of, lease_option, lease_place
from holdfast.cli.options.stack import STACK
from holdfast.controllers.operator.declaration import Verdicts
from holdfast.controllers.operator.endpoints import serve
from holdfast.controllers.operator.journal import Journal
from holdfast.controllers.operator.loop import AgentLoop, LoopSettings
from holdfast.controllers.operator.metrics import OperatorMetrics
from holdfast.errors import ClusterError, ExitCode, InputError
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.operations.policy.judge import judge_of
from holdfast.operations.stack.ignore_rules import ignore_rules

_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)
_REQUEST_SECONDS = 60.0


@click.command()
@click.option("-s", "--stack", type=STACK, required=True, help="Stack whose agents are held.")
@click.option("--kubeconfig", type=_FILE, help="Default: KUBECONFIG, ~/.kube/config, in-cluster.")
@click.option("--context", help="Context of the kubeconfig; default its current one.")
@click.option(
    "--address",
    default=":9464",
    show_default=True,
    metavar="HOST:PORT",
    help="Where /metrics, /healthz and /readyz are served; port 0 chooses a free one.",
)
@lease_option
@click.option(
    "--interval",
    type=click.FloatRange(min=1.0),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="Everything is read and looked at anew that often, as a safety net.",
)
@click.option(
    "--silence",
    type=click.FloatRange(min=1.0),
    default=SILENCE_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="What has been silent for so long is unknown, and read anew.",
)
def command(
    stack: str,
    kubeconfig: Path | None,
    context: str | None,
    address: str,
    lease: str | None,
    **seconds: float,
) -> int:
    """Watch the agents of a stack and their objects; tell how they are, and hold them to it.

    In mode observe Pulumi applies the objects; the operator writes each agent's status and Events,
    and puts drift back where its spec.drift.mode is revert. In mode expand it renders and applies
    the objects itself. The stack's holdfast:agentResources says which.

    It ends on SIGINT or SIGTERM, in order, with exit code 8. The log is on standard error, one JSON
    document a line. With OTEL_EXPORTER_OTLP_ENDPOINT every look at an agent is sent as a trace.

    \b
    Examples:
      holdfast operator run -s prod --lease holdfast-system/holdfast-prod
      holdfast operator run -s dev --context holdfast-default --address 127.0.0.1:0
    """
    name = stack.rpartition("/")[2]
    host, port = _served_at(address)

    def connect() -> Connection:
        return connection_of(kubeconfig, context)

    client = ApiClient(connect(), _REQUEST_SECONDS, connect)
    journal, tracer = _journal(name)
    metrics = OperatorMetrics(name)
    instance = os.environ.get("AGENT_POD_NAME") or socket.gethostname()
    loop = AgentLoop(
        LoopSettings(name, seconds["interval"], instance, seconds["silence"]),
        client,
        _verdicts_for(name),
        metrics,
        journal,
    )
    leadership = _leadership(lease_place(lease), instance, connect, loop, journal)
    _stop_when_told(loop, leadership)

    def is_waiting() -> bool:
        return leadership is not None and not leadership.is_held

    checks = {
        "/healthz": lambda: "" if is_waiting() else loop.dead,
        "/readyz": lambda: "" if is_waiting() else loop.unready,
    }
    served, end_serving = serve(host.strip("[]"), port, metrics.registry, checks)
    journal.say("start", address=f"{host or '0.0.0.0'}:{served}", instance=instance)  # noqa: S104
    try:
        return _run(loop, leadership, metrics, journal)
    finally:
        end_serving()
        tracer.close()


def _served_at(address: str) -> tuple[str, int]:
    host, separator, port = address.rpartition(":")
    if not separator or not port.isdigit():
        raise InputError(f"--address {address!r}: expected HOST:PORT", remedy="such as :9464")
    return host, int(port)


def _journal(stack: str) -> tuple[Journal, Tracer]:
    """The log, and the traces that the environment asks for."""

    def tell(problem: str) -> None:
        journal.say("trace", level="warning", problem=problem)

    tracer, place = tracer_of(os.environ, stack, __version__, tell)
    journal = Journal(stack, tracer)
    if place:
        journal.say("trace", to=place)
    return journal, tracer


def _run(
    loop: AgentLoop, leadership: Leadership | None, metrics: OperatorMetrics, journal: Journal
) -> int:
    if leadership is not None and not leadership.wait(_once(journal)):
        return ExitCode.CANCELLED
    metrics.set_leader(is_leader=True)
    journal.say("lead")
    try:
        loop.run()
    finally:
        was_held = leadership is None or leadership.is_held
        if leadership is not None:
            try:
                leadership.release()
            except ClusterError as error:
                journal.say("release", level="warning", problem=str(error))
        metrics.set_leader(is_leader=False)
        journal.say("end")
    # Who lost the lease has failed: its supervisor starts it anew, as one that waits.
    return ExitCode.CANCELLED if was_held else ExitCode.ERROR


def _once(journal: Journal) -> Callable[[str], None]:
    """Tells why the lease is not held when that is news."""
    told = ""

    def tell(reason: str) -> None:
        nonlocal told
        if reason != told:
            told = reason
            journal.say("wait", reason=reason)

    return tell


def _leadership(
    place: LeasePlace | None,
    instance: str,
    connect: Callable[[], Connection],
    loop: AgentLoop,
    journal: Journal,
) -> Leadership | None:
    if place is None:
        return None

    def lost(reason: str) -> None:
        journal.say("lost", level="error", reason=reason)
        loop.stop()

    return leadership_of(place, instance, connect, lost)


def _stop_when_told(loop: AgentLoop, leadership: Leadership | None) -> None:
    """The first signal ends it in order, the second one at once."""

    def stop(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        loop.stop()
        if leadership is not None and not leadership.is_held:
            leadership.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)


def _verdicts_for(stack: str) -> Callable[[Fleet], Verdicts]:
    def verdicts(fleet: Fleet) -> Verdicts:
        profile, rules = fleet.environment.profile_for(stack), fleet.environment.policy.rules
        judge = judge_of(profile, rules, lambda: fleet)

        def broken(manifest: Mapping[str, Any]) -> tuple[str, ...]:
            return tuple(name for name, rule in judge(manifest).items() if rule.is_mandatory)

        return Verdicts(judge, broken, ignore_rules(None, None, fleet))

    return verdicts
