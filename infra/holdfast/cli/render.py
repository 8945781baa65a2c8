"""`holdfast render`: the objects that a stack stands for, as every other tool reads them."""

from collections.abc import Mapping
from pathlib import Path

import click

from holdfast.cli.options.words import AGENT, STACK, TEAM
from holdfast.convert.files.files import RenderedStack
from holdfast.errors import InputError
from holdfast.kube.text import yaml_documents
from holdfast.operations.describe.render import (
    FORMS,
    FROM_GIT,
    ONE_STACK,
    PRINTED,
    exported_files,
    git_source,
    rendered_stack,
    write_files,
)
from holdfast.operations.describe.topology import FleetGraph, fleet_graph
from holdfast.operations.stack.context import NOTHING_DECLARED, StackContext
from holdfast.operations.stack.project import find_project_root
from holdfast.report.documents.json_text import json_text
from holdfast.report.text.graph_text import GRAPHS, graph_text


@click.command()
@click.option(
    "-s",
    "--stack",
    "stacks",
    type=STACK,
    multiple=True,
    help="Stack to render; repeatable if the form holds several. Optional for graphs.",
)
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice([*FORMS, *GRAPHS]),
    default="yaml",
    show_default=True,
    metavar="FORM",
    help="See below.",
)
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to write, for every form but yaml and json: empty, or absent.",
)
@click.option("--force", is_flag=True, help="Write into a folder that holds something already.")
@click.option("--agent", type=AGENT, help="Only the objects of this agent.")
@click.option(
    "--team", type=TEAM, help="With a graph: only the members of this AgentTeam and their edges."
)
@click.option("--repo", help="Address of the Git repository, for argocd and flux.")
@click.option("--revision", help="Branch in it, for argocd and flux; default main.")
@click.option("--path", help="Folder of --to in it; default --to itself.")
def command(
    stacks: tuple[str, ...],
    form: str,
    folder: Path | None,
    *,
    force: bool,
    agent: str | None,
    team: str | None,
    **in_git: str | None,
) -> None:
    """Print the Kubernetes objects of a stack, write them for another tool, or draw the graph.

    Needs no cluster and no engine; the same manifests give the same bytes. yaml, json and dir hold
    what `pulumi up` applies, and in mode expand also what the operator creates; the other forms
    hold what a GitOps tool is to apply.

    \b
    yaml, json     one YAML text, one JSON List
    dir            a file an object
    kustomize      a base for all stacks, and an overlay a stack
    helm           a chart, with a file of values a stack
    argocd         as kustomize, and an Application a stack
    flux           as kustomize, and a GitRepository with a Kustomization a stack
    pko            a Program and a Stack of the Pulumi Kubernetes Operator
    mermaid, dot   the dependency graph: a flowchart, a Graphviz digraph
    graph          the same as JSON, with start-up waves and what teams reach

    With --force, files that an earlier run wrote and this one does not are removed.

    \b
    Examples:
      holdfast render -s dev | kubectl apply --server-side -f -
      holdfast render -s prod --agent support-rag -o json
      holdfast render -s dev -s prod -o kustomize --to deploy
      holdfast render -s prod -o argocd --to deploy \\
        --repo https://git.example/a.git
      holdfast render -s prod -o dot --team customer-care | dot -Tsvg -o fleet.svg
    """
    _refuse_without_effect(form, stacks, folder, is_forced=force, in_git=in_git)
    root = find_project_root()
    if form in GRAPHS:
        if agent:
            raise InputError(f"--agent has no effect with -o {form}", remedy="name a --team")
        _print_graph(fleet_graph(root, "".join(stacks), team), form)
        return
    if team:
        raise InputError("--team requires a graph", remedy=f"choose -o {', '.join(GRAPHS)}")
    if not stacks:
        raise click.MissingParameter(param_hint="'-s' / '--stack'", param_type="option")
    rendered = [
        rendered_stack(StackContext(root, name), form, agent) for name in dict.fromkeys(stacks)
    ]
    if not any(each.objects for each in rendered):
        click.echo(f"note: {NOTHING_DECLARED}", err=True)
    if form in PRINTED:
        click.echo(_text(rendered[0], form), nl=False)
        return
    if folder is None:
        raise InputError(f"-o {form} needs a folder", remedy="name one with --to")
    source = git_source(form, folder, **in_git) if form in FROM_GIT else None
    files = exported_files(rendered, form, source)
    write_files(files, folder, is_forced=force)
    click.echo(f"{len(files)} files written to {folder}", err=True)


def _refuse_without_effect(
    form: str,
    stacks: tuple[str, ...],
    folder: Path | None,
    *,
    is_forced: bool,
    in_git: Mapping[str, str | None],
) -> None:
    if form in {*ONE_STACK, *GRAPHS} and len(stacks) > 1:
        raise InputError(f"-o {form} holds one stack", remedy="name one -s, or another form")
    if form not in FROM_GIT and any(in_git.values()):
        raise InputError(
            f"--repo, --revision and --path have no effect with -o {form}",
            remedy="remove them, or choose -o argocd or -o flux",
        )
    if form in {*PRINTED, *GRAPHS} and (folder or is_forced):
        raise InputError(
            f"--to and --force have no effect with -o {form}",
            remedy="redirect the output, or choose a form that writes a folder",
        )


def _print_graph(graph: FleetGraph, form: str) -> None:
    text, notes = graph_text(graph, form)
    click.echo(text, nl=False)
    for note in notes:
        click.echo(note, err=True)


def _text(stack: RenderedStack, form: str) -> str:
    items = [item.manifest for item in stack.objects]
    if form == "yaml":
        return yaml_documents(items)
    listed = {"apiVersion": "v1", "kind": "List", "items": items}
    return json_text(listed, is_sorted=True)
