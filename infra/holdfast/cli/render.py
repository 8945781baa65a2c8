"""`holdfast render`: the objects that a stack stands for, as every other tool reads them."""

import re
from pathlib import Path

import click
import msgspec

from holdfast.cli.project import find_project_root
from holdfast.errors import InputError
from holdfast.manifest.loader import load_fleet
from holdfast.render.declared import plan_fleet
from holdfast.render.fleet import render_fleet
from holdfast.render.marks import RenderedObject
from holdfast.report.yaml_text import yaml_document, yaml_documents


@click.command()
@click.option("-s", "--stack", required=True, help="Stack whose settings and overrides hold.")
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(["yaml", "json", "dir"]),
    default="yaml",
    show_default=True,
    help="One YAML text, one JSON List, or a file an object.",
)
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for -o dir: empty, or absent.",
)
@click.option("--agent", help="Only the objects of this agent.")
def command(stack: str, form: str, folder: Path | None, agent: str | None) -> None:
    """Print the Kubernetes objects that the manifests stand for on a stack.

    Needs no cluster and no engine; the same manifests give the same bytes. What is printed is what
    `pulumi up` applies, and `kubectl apply --server-side -f -` accepts it unchanged.

    \b
    Examples:
      holdfast render -s dev
      holdfast render -s prod --agent support-rag -o json
      holdfast render -s staging -o dir --to rendered/staging
    """
    fleet = load_fleet(find_project_root(), stack)
    rendered = render_fleet(plan_fleet(fleet, stack))
    if agent is not None:
        rendered = tuple(item for item in rendered if item.agent == agent)
        if not rendered:
            names = ", ".join(each.name for each in fleet.agents)
            raise InputError(f"no agent {agent!r} on stack {stack}", remedy=f"there are: {names}")
    if form == "dir":
        click.echo(f"{_write_folder(rendered, folder)} files written to {folder}", err=True)
    elif form == "json":
        items = [item.manifest for item in rendered]
        listed = {"apiVersion": "v1", "kind": "List", "items": items}
        click.echo(msgspec.json.format(msgspec.json.encode(listed, order="sorted")).decode())
    else:
        click.echo(yaml_documents(item.manifest for item in rendered), nl=False)


def _write_folder(rendered: tuple[RenderedObject, ...], folder: Path | None) -> int:
    if folder is None:
        raise InputError("-o dir needs a folder", remedy="name one with --to")
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty", remedy="empty it, or name another folder")
    for item in rendered:
        metadata = item.manifest["metadata"]
        # Names are validated, but a file name is built from nothing that could leave the folder.
        parts = [metadata.get("namespace", ""), item.manifest["kind"], metadata["name"]]
        name = "-".join(re.sub(r"[^A-Za-z0-9.-]", "_", part) for part in parts if part)
        target = folder / (item.agent or "stack") / f"{name.lower()}.yaml"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(yaml_document(item.manifest))
    return len(rendered)
