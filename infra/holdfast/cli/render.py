"""`holdfast render`: the objects that a stack stands for, as every other tool reads them."""

from collections.abc import Mapping
from pathlib import Path

import click

from holdfast.cli.options.stack import STACK
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
from holdfast.operations.stack.context import NOTHING_DECLARED, StackContext
from holdfast.operations.stack.project import find_project_root
from holdfast.report.documents.json_text import json_text


@click.command()
@click.option(
    "-s",
    "--stack",
    "stacks",
    type=STACK,
    multiple=True,
    required=True,
    help="Stack whose settings and overrides hold; repeatable where the form holds several.",
)
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(FORMS),
    default="yaml",
    show_default=True,
    help="See below.",
)
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to write, for every form but yaml and json: empty, or absent.",
)
@click.option("--force", is_flag=True, help="Write into a folder that holds something already.")
@click.option("--agent", help="Only the objects of this agent.")
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
    **in_git: str | None,
) -> None:
    """Print the Kubernetes objects that the manifests stand for, or write them for another tool.

    Needs no cluster and no engine; the same manifests give the same bytes. What is printed is what
    `pulumi up` applies, and `kubectl apply --server-side -f -` accepts it unchanged. Of a stack in
    mode expand, yaml, json and dir hold the agents' objects, too, which the operator makes there;
    the other forms hold what is to be delivered.

    \b
    yaml, json   one YAML text, one JSON List
    dir          a file an object
    kustomize    a base of what all stacks share, an overlay a stack with what is its own
    helm         a chart, with a file of values a stack
    argocd       the same as kustomize, and an Application a stack
    flux         the same as kustomize, and a GitRepository with a Kustomization a stack
    pko          a Program and a Stack of the Pulumi Kubernetes Operator, a file a stack

    With --force, files that an earlier run has written and this one does not are removed; others
    are left alone.

    \b
    Examples:
      holdfast render -s dev | kubectl apply --server-side -f -
      holdfast render -s prod --agent support-rag -o json
      holdfast render -s dev -s prod -o kustomize --to deploy
      holdfast render -s dev -s prod -o helm --to chart
      holdfast render -s prod -o argocd --to deploy --repo https://git.example.com/team/agents.git
    """
    _refuse_without_effect(form, stacks, folder, is_forced=force, in_git=in_git)
    root = find_project_root()
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
    if form in ONE_STACK and len(stacks) > 1:
        raise InputError(f"-o {form} holds one stack", remedy="name one -s, or another form")
    if form not in FROM_GIT and any(in_git.values()):
        raise InputError(
            f"--repo, --revision and --path have no effect with -o {form}",
            remedy="remove them, or choose -o argocd or -o flux",
        )
    if form in PRINTED and (folder or is_forced):
        raise InputError(
            f"--to and --force have no effect with -o {form}",
            remedy="redirect the output, or choose a form that writes a folder",
        )


def _text(stack: RenderedStack, form: str) -> str:
    items = [item.manifest for item in stack.objects]
    if form == "yaml":
        return yaml_documents(items)
    listed = {"apiVersion": "v1", "kind": "List", "items": items}
    return json_text(listed, is_sorted=True)
