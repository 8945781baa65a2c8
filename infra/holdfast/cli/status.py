"""`holdfast status`: what runs, from which commit, how it differs, who did that. Wiring only."""

from pathlib import Path

import click

from holdfast.drift.finding import AgentState
from holdfast.operations.scan.health import live_agents
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scanner import Scanner
from holdfast.operations.stack.agent_names import agent_named
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root
from holdfast.operations.stack.update_history import update_records
from holdfast.report.text.status_text import AgentReport, StackReport, status_json, status_text


@click.command()
@click.argument("name", default="", metavar="[AGENT]")
@click.option("-s", "--stack", required=True, help="Stack to look at.")
@click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def command(name: str, stack: str, output: str) -> int:
    """Print of every agent what runs, from which commit, how it differs, and who changed it.

    Sync is Synced, OutOfSync or Unknown: what runs against what is declared here. Health is that of
    its workloads. Only reads.

    \b
    Examples:
      holdfast status -s prod
      holdfast status support-rag -s prod -o json

    \b
    Exit codes: 0 all is as declared and healthy   7 drift   1 not healthy, or not known
      2 bad input   6 no such stack
    """
    report = _report(find_project_root(), stack, name)
    click.echo(status_json(report) if output == "json" else status_text(report), nl=False)
    return report.exit_code


def _report(root: Path, stack: str, name: str) -> StackReport:
    context = StackContext(root, stack)
    fleet = context.fleet
    agents = [agent_named(name, fleet)] if name else list(fleet.agents)
    scan = Scanner(ScanRequest(root, stack), context=context).scan()
    live = live_agents(context)
    good = [each for each in update_records(root, stack) if each.has_succeeded]
    sync = {each.name: each.state for each in scan.report.agents}
    reports = []
    for agent in agents:
        changes = (each for each in reversed(good) if agent.name in (each.agents or ()))
        reports.append(
            AgentReport(
                agent.name,
                agent.namespace,
                agent.spec.version,
                live[agent.name].version,
                sync.get(agent.name, AgentState.UNKNOWN),
                live[agent.name].health,
                next(changes, None),
                tuple(each for each in scan.report.drift if each.agent == agent.name),
            )
        )
    unseen = tuple(f"{each.scope}: {each.reason}" for each in scan.report.not_checked)
    return StackReport(stack, good[-1] if good else None, tuple(reports), unseen)
