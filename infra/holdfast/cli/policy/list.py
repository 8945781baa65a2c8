"""`holdfast policy list`: every rule, and how it is judged in a profile."""

import click
from holdfast_policies.profile import profile_of
from holdfast_policies.rule import PROFILES

from holdfast.cli.options.colour import wants_colour
from holdfast.errors import ExitCode
from holdfast.report.documents.json_text import json_text
from holdfast.report.text.rule_words import rules_text


@click.command("list")
@click.option("--profile", type=click.Choice(PROFILES), default="prod", show_default=True)
@click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def command(profile: str, output: str) -> ExitCode:
    """Every rule with its level in a profile, its severity and what it is about.

    \b
    Example:
      holdfast policy list --profile dev
    """
    rulings = profile_of(profile).rulings
    if output == "text":
        click.echo(rules_text(rulings, colour=wants_colour()), nl=False)
        return ExitCode.OK
    document = {
        "schemaVersion": "holdfast.dev/rules/v1",
        "profile": profile,
        "rules": [
            {
                "name": each.rule.id,
                "level": str(each.level),
                "severity": str(each.rule.severity),
                "title": each.rule.title,
                "frameworks": each.rule.frameworks,
            }
            for each in rulings
        ],
    }
    click.echo(json_text(document), nl=False)
    return ExitCode.OK
