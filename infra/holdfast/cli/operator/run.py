"""`holdfast operator run`: the loop, its lease, its endpoints and its signals."""

from pathlib import Path

import click

from holdfast.cli.options.intervals import resync_option, silence_option
from holdfast.cli.options.lease import lease_option, lease_place
from holdfast.cli.options.stack import stack_option
from holdfast.controllers.operator.process import OperatorRunRequest, run_operator
from holdfast.controllers.runtime.log import Logger, Output
from holdfast.controllers.runtime.process import host_and_port

_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


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
@resync_option(OperatorRunRequest.resync_seconds)
@silence_option(OperatorRunRequest.silence_seconds)
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

    SIGINT and SIGTERM shut it down gracefully, with exit code 8. It logs to standard error, one
    JSON document per line. With OTEL_EXPORTER_OTLP_ENDPOINT every reconciliation is a trace.

    \b
    Examples:
      holdfast operator run -s prod --lease holdfast-system/holdfast-prod
      holdfast operator run -s dev --context holdfast-default --listen 127.0.0.1:0
    """
    name = stack.rpartition("/")[2]
    request = OperatorRunRequest(
        name,
        host_and_port("--listen", listen, ":9464"),
        lease_place(lease),
        kubeconfig,
        context,
        seconds["resync_seconds"],
        seconds["silence_seconds"],
    )
    return run_operator(request, Logger(Output().note, as_json=True, facts={"stack": name}))
