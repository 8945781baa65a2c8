"""`holdfast schema`: what editors and clusters need to check manifests as they are written."""

import json
from collections.abc import Callable
from typing import Any

import click

from holdfast.errors import InputError
from holdfast.kube.text import yaml_documents
from holdfast.manifest.publish.custom_resource import custom_resource_definitions
from holdfast.manifest.publish.json_schema import manifest_schema, stack_schema
from holdfast.operations.stack.project import find_project_root
from holdfast.report.documents.drift import drift_schema
from holdfast.report.documents.drift_event import drift_event_schema
from holdfast.report.documents.fleet import fleet_schema
from holdfast.report.documents.history import history_schema
from holdfast.report.documents.policy import policy_schema
from holdfast.report.documents.stacks import stacks_schema
from holdfast.report.text.manifest_reference import reference_page


def _json_of(make: Callable[[], dict[str, Any]]) -> Callable[[], str]:
    """The text of a schema as it is published, to the byte."""
    return lambda: json.dumps(make(), indent=2, ensure_ascii=False) + "\n"


SCHEMA_FOLDER = "docs/schema"
SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "docs/schema/agent.schema.json": manifest_schema,
    "docs/schema/drift-event.schema.json": drift_event_schema,
    "docs/schema/drift-history.schema.json": history_schema,
    "docs/schema/drift-stacks.schema.json": stacks_schema,
    "docs/schema/drift.schema.json": drift_schema,
    "docs/schema/fleet.schema.json": fleet_schema,
    "docs/schema/policy.schema.json": policy_schema,
    "docs/schema/stack.schema.json": stack_schema,
}
"""Where the schemas are published, relative to the project, and what makes them."""

FILES: dict[str, Callable[[], str]] = {
    **{file: _json_of(make) for file, make in SCHEMAS.items()},
    "docs/manifest.md": reference_page,
}
"""Every file that is made from the models, and what makes its text."""


@click.command()
@click.option("--stack", "is_stack", is_flag=True, help="The schema of stack files instead.")
@click.option("--crd", is_flag=True, help="CustomResourceDefinitions of the kinds instead.")
@click.option("--write", is_flag=True, help="Rewrite what is made from the models under docs/.")
def command(is_stack: bool, crd: bool, write: bool) -> None:
    """Print the JSON Schema (2020-12) of manifests: agents, and what agents share.

    Editors with a YAML language server use it when a file begins with
    `# yaml-language-server: $schema=../docs/schema/agent.schema.json`. With --crd, the same kinds
    for a cluster: what `kubectl apply --dry-run=server -f agents/` then checks without Holdfast.

    \b
    Examples:
      holdfast schema > agent.schema.json
      holdfast schema --stack
      holdfast schema --crd | kubectl apply --server-side -f -
      holdfast schema --write
    """
    if is_stack + crd + write > 1:
        raise InputError("--stack, --crd and --write exclude one another", remedy="give one")
    if write:
        _write()
    elif crd:
        click.echo(yaml_documents(custom_resource_definitions()), nl=False)
    else:
        click.echo(_json_of(stack_schema if is_stack else manifest_schema)(), nl=False)


def _write() -> None:
    root = find_project_root()
    if not (root / SCHEMA_FOLDER).is_dir():
        raise InputError(
            f"no folder {SCHEMA_FOLDER} in {root}",
            remedy="--write is for a clone of Holdfast; without it the schema is printed",
        )
    for file, make in FILES.items():
        path = root / file
        path.write_text(make(), encoding="utf-8")
        click.echo(f"wrote {file}", err=True)
