"""`holdfast schema`: what an editor needs to complete and check manifests as they are written."""

import json
from collections.abc import Callable
from typing import Any

import click

from holdfast.cli.project import find_project_root
from holdfast.manifest.json_schema import manifest_schema, stack_schema

FILES: dict[str, Callable[[], dict[str, Any]]] = {
    "docs/schema/agent.schema.json": manifest_schema,
    "docs/schema/stack.schema.json": stack_schema,
}
"""Where the schemas are published, relative to the project, and what makes them."""


def schema_text(make: Callable[[], dict[str, Any]]) -> str:
    """A schema as it is published, to the byte."""
    return json.dumps(make(), indent=2, ensure_ascii=False) + "\n"


@click.command()
@click.option("--stack", "is_stack", is_flag=True, help="The schema of stack files instead.")
@click.option("--write", is_flag=True, help="Rewrite both files under docs/schema/ instead.")
def command(is_stack: bool, write: bool) -> None:
    """Print the JSON Schema (2020-12) of manifests: Agent and what agents share.

    Editors with a YAML language server use it when a file begins with
    `# yaml-language-server: $schema=../docs/schema/agent.schema.json`.

    \b
    Examples:
      holdfast schema > agent.schema.json
      holdfast schema --stack
      holdfast schema --write
    """
    if not write:
        click.echo(schema_text(stack_schema if is_stack else manifest_schema), nl=False)
        return
    root = find_project_root()
    for file, make in FILES.items():
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(schema_text(make), encoding="utf-8")
        click.echo(f"wrote {file}", err=True)
