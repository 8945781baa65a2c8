"""`holdfast graph`: who calls, uses and waits for whom. Wiring only."""

import click

from holdfast.cli.options.stack import STACK
from holdfast.errors import InputError
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.types.validation import suggestion
from holdfast.operations.describe.topology import (
    Graph,
    graph_of,
    graph_of_team,
    graphs_by_team,
    team_reaches,
    waves_of,
)
from holdfast.operations.stack.project import find_project_root
from holdfast.report.text.graph_text import (
    dot,
    graph_json,
    is_too_large_for_mermaid,
    mermaid,
    mermaid_by_team,
)


@click.command()
@click.option("-s", "--stack", type=STACK, help="Stack whose overrides hold; default none.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["mermaid", "dot", "json"]),
    default="mermaid",
    show_default=True,
    help="A Mermaid flowchart, a Graphviz digraph, or data.",
)
@click.option("--team", help="Only what has to do with the members of this AgentTeam.")
def command(stack: str | None, output: str, team: str | None) -> None:
    """Print the fleet as a graph: agents, the models and tools they use, and who may call them.

    Dashed arrows are dependsOn and fallbacks. JSON also has the waves in which agents start, and
    for each AgentTeam every agent and tool that a call to its entry points may lead to. A flowchart
    that Mermaid would refuse (50,000 characters, 500 edges) is split by team, as Markdown.

    \b
    Examples:
      holdfast graph
      holdfast graph -s prod --team customer-care
      holdfast graph -o dot | dot -Tsvg -o fleet.svg
      holdfast graph -o json | jq .waves
    """
    fleet = load_fleet(find_project_root(), stack)
    reaches = team_reaches(fleet)
    graph = graph_of(fleet)
    if team is not None:
        graph = _of_team(team, graph, fleet)
        reaches = [each for each in reaches if each.team.name == team]
    if output == "json":
        click.echo(graph_json(graph, waves_of(fleet), reaches), nl=False)
    elif output == "dot":
        click.echo(dot(graph), nl=False)
    elif is_too_large_for_mermaid(graph):
        parts = graphs_by_team(graph, reaches)
        click.echo(mermaid_by_team(parts), nl=False)
        click.echo(f"too large for one flowchart: {len(parts)} of them, by team", err=True)
        for part in parts:
            if is_too_large_for_mermaid(part):
                name = part.title or "of agents in no team"
                click.echo(f"the one {name} is still too large: use -o dot", err=True)
    else:
        click.echo(mermaid(graph), nl=False)


def _of_team(name: str, graph: Graph, fleet: Fleet) -> Graph:
    known = {each.team.name: each for each in team_reaches(fleet)}
    if name not in known:
        raise InputError(f"no AgentTeam {name!r}", remedy=suggestion(name, known))
    return graph_of_team(graph, known[name])
