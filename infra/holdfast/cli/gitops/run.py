"""`holdfast gitops run`: a controller that keeps a stack at the newest commit of a branch."""

import os
from pathlib import Path
from typing import Any

import click

from holdfast.cli.options.intervals import resync_option, seconds_option
from holdfast.cli.options.lease import lease_option, lease_place
from holdfast.cli.options.output import OUTPUT
from holdfast.cli.options.stack import stack_option
from holdfast.cli.options.updates import TIMEOUT
from holdfast.controllers.gitops.process import LoopRequest, run_loop
from holdfast.controllers.runtime.log import Logger, Output
from holdfast.controllers.runtime.process import host_and_port

HOOK_SECRET = "HOLDFAST_HOOK_SECRET"  # noqa: S105  (the name of a variable)


@click.command()
@stack_option("Stack to reconcile.")
@click.option("--repo", required=True, metavar="URL", help="Repository, as `git clone` takes it.")
@click.option("--branch", default=LoopRequest.branch, show_default=True, help="Branch to follow.")
@click.option(
    "--path", default=LoopRequest.path, show_default=True, help="The project's folder in it."
)
@seconds_option("interval", LoopRequest.interval_seconds, "Poll interval of the repository.")
@resync_option(LoopRequest.resync_seconds)
@TIMEOUT
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
    same --lease in the stack's cluster. SIGINT and SIGTERM shut it down gracefully. With
    OTEL_EXPORTER_OTLP_ENDPOINT each reconciliation is a trace. In a cluster that serves AgentStack
    (`holdfast operator install`), conditions and Events report the state of the stack
    (`kubectl describe agentstack prod`). With HOLDFAST_SLACK_URL or HOLDFAST_TEAMS_URL, digests of
    updates, refusals, rollbacks and drift go to that channel.

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
    repo, listen = asked.pop("repo"), asked.pop("listen")
    request = LoopRequest(
        stack,
        _absolute(repo),
        address=host_and_port("--listen", listen, "127.0.0.1:9465") if listen else None,
        lease=lease_place(asked.pop("lease")),
        hook_secret=os.environ.get(HOOK_SECRET, ""),
        **asked,
    )
    return run_loop(request, Logger(Output().write, as_json=output == "json"), once=once)


def _absolute(repo: str) -> str:
    """A folder here is named from the root: the clone asks from a folder of its own."""
    return str(Path(repo).resolve()) if Path(repo).is_dir() else repo
