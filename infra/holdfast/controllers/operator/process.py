"""The process of an operator: its loop, its lease, its endpoints and its signals. Wiring."""

import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.kubeconfig import Connection, connection_of
from holdfast.controllers.operator.declaration import Verdicts
from holdfast.controllers.operator.loop import AgentLoop, LoopSettings
from holdfast.controllers.operator.metrics import OperatorMetrics
from holdfast.controllers.runtime.http import EndpointServer
from holdfast.controllers.runtime.leader import Leader, LeasePlace, WriteFence
from holdfast.controllers.runtime.log import Log
from holdfast.controllers.runtime.process import stop_on_signals, tracer_for
from holdfast.errors import ExitCode
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.operations.stack.declaration import ignore_rules
from holdfast.operations.stack.declared_stack import judge_of

_REQUEST_SECONDS: Final = 60.0


@dataclass(frozen=True)
class OperatorRunRequest:
    """Which operator is run, and where.

    Attributes:
        stack: Whose agents; its name without organization and project.
        address: Host and port of the endpoints; an empty host for all addresses, 0 for a free port.
        lease: The lease that lets it write; None for none.
        kubeconfig: Default: the usual ones, else the pod's own account.
        context: Of the kubeconfig; None for the current one.
        resync_seconds: As of `LoopSettings`.
        silence_seconds: As of `LoopSettings`.
    """

    stack: str
    address: tuple[str, int]
    lease: LeasePlace | None = None
    kubeconfig: Path | None = None
    context: str | None = None
    resync_seconds: float = 600.0
    silence_seconds: float = LoopSettings.silence_seconds


def run_operator(request: OperatorRunRequest, log: Log) -> ExitCode:
    """Reconcile the agents of a stack until a signal ends it, or its lease is lost.

    Returns:
        CANCELLED after a signal, ERROR when the lease was lost.

    Raises:
        InputError: there is no such context, or the address cannot be used.
        LoginError: the login plugin failed.
    """

    def connect() -> Connection:
        return connection_of(request.kubeconfig, request.context)

    stack = request.stack
    fence = WriteFence()
    client = fence.guard(ApiClient(connect(), _REQUEST_SECONDS, connect))
    tracer = tracer_for(stack, log)
    metrics = OperatorMetrics(stack)
    instance = os.environ.get("AGENT_POD_NAME") or socket.gethostname()
    settings = LoopSettings(stack, request.resync_seconds, instance, request.silence_seconds)
    loop = AgentLoop(settings, client, _verdicts_for(stack), metrics, log, tracer)

    fence.when_closed(loop.stop)
    leader = Leader(
        request.lease,
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
    host = request.address[0] or "0.0.0.0"  # noqa: S104  (for the log)
    server = EndpointServer("--listen", request.address, metrics.registry, checks)
    server.start()
    log("start", address=f"{host}:{server.port}", instance=instance)
    try:
        return _run(loop, leader, log)
    finally:
        server.close()
        tracer.close()


def _run(loop: AgentLoop, leader: Leader, log: Log) -> ExitCode:
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
