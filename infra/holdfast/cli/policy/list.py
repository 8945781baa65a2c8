"""`holdfast policy list`: every rule, and how it is judged in a profile."""

import click
from holdfast_policies.profile import profile_of
from holdfast_policies.rule import PROFILES

from holdfast.cli.options.output import OUTPUT, wants_colour
from holdfast.report.text.rule_text import rules_json, rules_text


@click.command("list")
@click.option(
    "--profile",
    type=click.Choice(PROFILES),
    default="prod",
    show_default=True,
    help="By which levels.",
)
@OUTPUT
def command(profile: str, output: str) -> None:
    """Every rule with its level in a profile, its severity and what it is about.

    \b
    Example:
      holdfast policy list --profile dev
    """
    chosen = profile_of(profile)
    if output == "json":
        click.echo(rules_json(chosen), nl=False)
    else:
        click.echo(rules_text(chosen.rulings, colour=wants_colour()), nl=False)
