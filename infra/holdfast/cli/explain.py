"""`holdfast explain`: what a field, a kind or a policy rule means."""

import re
from typing import Final

import click

from holdfast.cli.options.output import wants_colour
from holdfast.cli.options.stack import stack_option
from holdfast.cli.options.words import Word
from holdfast.errors import ExitCode, InputError
from holdfast.manifest.publish.json_schema import manifest_schema, stack_schema
from holdfast.manifest.publish.reference import STACK_FILE
from holdfast.operations.describe.explain import explain_field, explain_rule
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root
from holdfast.report.published import schema_text
from holdfast.report.text.listed import LIST_FORMATS, listed
from holdfast.report.text.manifest_reference import (
    KIND_NAMES,
    field_json,
    field_name,
    field_text,
    kinds_text,
)
from holdfast.report.text.rule_text import explained_json, explained_text

_RULE: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
"""The form of a rule's name, which no field has."""

_NAMED: Final = Word("FIELD|KIND|RULE", "field", "rule")


@click.command()
@click.argument("name", type=_NAMED, default="", metavar="[FIELD|KIND|RULE]")
@stack_option("Stack whose settings of the rule are shown.", required=False)
@click.option(
    "-o",
    "--output",
    type=click.Choice([*LIST_FORMATS, "schema"]),
    default="text",
    show_default=True,
    help="As everywhere; or the JSON Schema of manifests, or of KIND Stack.",
)
def command(name: str, stack: str, output: str) -> ExitCode:
    """Explain a field of a manifest or of a stack file, a kind, or a policy rule.

    FIELD begins with a kind unless it is of an Agent; the kind of stack files is Stack. Without an
    argument, lists the kinds. Editors with a YAML language server use the schema when a file begins
    with `# yaml-language-server: $schema=../docs/schema/agent.schema.json`.

    \b
    Examples:
      holdfast explain spec.scaling.maxReplicas
      holdfast explain MCPServer.spec
      holdfast explain Stack
      holdfast explain holdfast:network.gateway
      holdfast explain egress-scoped -s prod
      holdfast explain -o schema > agent.schema.json
      holdfast explain Stack -o schema > stack.schema.json
    """
    is_of_rule = _RULE.fullmatch(name) is not None
    if stack and not is_of_rule:
        raise InputError("-s has no effect on a field", remedy="remove it, or name a rule")
    if output == "schema":
        click.echo(_schema(name), nl=False)
    elif is_of_rule:
        context = StackContext(find_project_root(), stack) if stack else None
        rule = explain_rule(name, context)
        text = listed(
            output,
            text=lambda: explained_text(rule, colour=wants_colour()),
            document=lambda: explained_json(rule),
            names=(rule.name,),
        )
        click.echo(text, nl=False)
    elif not name and output in {"text", "wide", "name"}:
        click.echo(listed(output, text=kinds_text, document=str, names=KIND_NAMES), nl=False)
    else:
        field = explain_field(name)
        text = listed(
            output,
            text=lambda: field_text(field.entry, field.below),
            document=lambda: field_json(field.entry, field.below),
            names=map(field_name, field.below),
        )
        click.echo(text, nl=False)
    return ExitCode.OK


def _schema(name: str) -> str:
    if name not in {"", STACK_FILE}:
        raise InputError(
            f"there is no schema of {name} alone",
            remedy=f"`holdfast explain -o schema` prints that of manifests; {STACK_FILE}, of "
            "stack files",
        )
    return schema_text(stack_schema if name else manifest_schema)
