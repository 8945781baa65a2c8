"""`holdfast operator run`: the loop, its lease, its endpoints and its signals."""

import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.kubeconfig import Connection, connection_of
from holdfast.adapters.cluster.reflector import SILENCE_SECONDS
from holdfast.cli.options.lease import lease_option, lease_place
from holdfast.cli.options.stack import stack_option
from holdfast.controllers.operator.declaration import Verdicts
from holdfast.controllers.operator.loop import AgentLoop, LoopSettings
from holdfast.controllers.operator.metrics import OperatorMetrics
from holdfast.controllers.runtime.http import EndpointServer
from holdfast.controllers.runtime.leader import Leader, WriteFence
from holdfast.controllers.runtime.log import Log, Logger, Output
from holdfast.controllers.runtime.process import host_and_port, stop_on_signals, tracer_for
from holdfast.errors import ExitCode
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.operations.stack.declaration import ignore_rules
from holdfast.operations.stack.declared_stack import judge_of

_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)
_REQUEST_SECONDS = 60.0


@click.command()
@stack_option("Stack whose agents are reconciled.")
@click.option("--kubeconfig", type=_FILE, help="Default: KUBECONFIG, ~/.kube/config, in-cluster.")
@click.option("--context", help="Context of the kubeconfig; default its current.")
@click.option(
    "--listen",
    default=":9464",
    show_default=True,
    metavar="HOST:PORT",
    help="Serve /metrics, /healthz and /readyz there; port 0 chooses a free one.",
)
@lease_option
@click.option(
    "--interval",
    type=click.FloatRange(min=1.0),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="Full resync interval.",
)
@click.option(
    "--silence",
    type=click.FloatRange(min=1.0),
    default=SILENCE_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="Time without events after which a watch stream is stale.",
)
def command(
    stack: str,
    kubeconfig: Path | None,
    context: str | None,
    listen: str,
    lease: str | None,
    **seconds: float,
) -> int:
    """Reconcile the agents of a stack until stopped: watch, report status, revert drift.

    In mode observe, Pulumi applies the objects; the operator writes each agent's status and Events,
    and reverts drift of agents whose spec.drift.mode is revert. In mode expand, it renders and
    applies the objects itself. The stack's holdfast:agentResources sets the mode.

    SIGINT and SIGTERM end it in order, with exit code 8. It logs to standard error, one JSON
    document a line. With OTEL_EXPORTER_OTLP_ENDPOINT every reconciliation is a trace.

    \b
    Examples:
      holdfast operator run -s prod --lease holdfast-system/holdfast-prod
      holdfast operator run -s dev --context holdfast-default --listen 127.0.0.1:0
    """
    name = stack.rpartition("/")[2]
    host, port = host_and_port("--listen", listen, ":9464")

    def connect() -> Connection:
        return connection_of(kubeconfig, context)

    fence = WriteFence()
    client = fence.guard(ApiClient(connect(), _REQUEST_SECONDS, connect))
    log = Logger(Output().note, as_json=True, facts={"stack": name})
    tracer = tracer_for(name, log)
    metrics = OperatorMetrics(name)
    instance = os.environ.get("AGENT_POD_NAME") or socket.gethostname()
    loop = AgentLoop(
        LoopSettings(name, seconds["interval"], instance, seconds["silence"]),
        client,
        _verdicts_for(name),
        metrics,
        log,
        tracer,
    )

    fence.when_closed(loop.stop)
    leader = Leader(
        lease_place(lease),
        instance,
        connect,
        log,
        lambda is_leader: metrics.set_leader(is_leader=is_leader),
        fence,
    )
    checks = {
        "/healthz": lambda: leader.problem or ("" if leader.is_waiting else loop.dead),
        "/readyz": lambda: leader.problem or ("" if leader.is_waiting else loop.unready),
    }

    def stop() -> None:
        loop.stop()
        leader.stop_waiting()

    stop_on_signals(stop)
    server = EndpointServer("--listen", (host, port), metrics.registry, checks)
    server.start()
    log("start", address=f"{host or '0.0.0.0'}:{server.port}", instance=instance)  # noqa: S104
    try:
        return _run(loop, leader, log)
    finally:
        server.close()
        tracer.close()


def _run(loop: AgentLoop, leader: Leader, log: Log) -> int:
    if not leader.take():
        return ExitCode.CANCELLED
    try:
        is_drained = False
        is_drained = loop.run()
    finally:
        # What was abandoned may still be on its way: the lease then expires by itself.
        leader.give_back(is_free=is_drained)
        log("end")
    # Its supervisor starts a process that lost the lease again, as one that waits.
    return ExitCode.ERROR if leader.was_lost else ExitCode.CANCELLED


def _verdicts_for(stack: str) -> Callable[[Fleet], Verdicts]:
    def verdicts(fleet: Fleet) -> Verdicts:
        profile, rules = fleet.environment.profile_for(stack), fleet.environment.policy.rules
        judge = judge_of(profile, rules, lambda: fleet)

        def broken(manifest: Mapping[str, Any]) -> tuple[str, ...]:
            return tuple(name for name, rule in judge(manifest).items() if rule.is_mandatory)

        return Verdicts(judge, broken, ignore_rules(None, None, fleet))

    return verdicts
