"""`holdfast policy list`: every rule, and how it is judged in a profile."""

import click
from holdfast_policies.evaluation.profile import profile_of
from holdfast_policies.model.rule import PROFILES

from holdfast.cli.options.output import LIST_OUTPUT, wants_colour
from holdfast.operations.policy.own_rules import rules_here
from holdfast.report.text.listed import listed
from holdfast.report.text.rule_text import rules_json, rules_text, rules_wide_text


@click.command("list")
@click.option(
    "--profile",
    type=click.Choice(PROFILES),
    default="prod",
    show_default=True,
    help="By which levels.",
)
@LIST_OUTPUT
def command(profile: str, output: str) -> None:
    """Every rule with its level in a profile, its severity and what it is about.

    \b
    Example:
      holdfast policy list --profile dev
    """
    chosen = profile_of(profile, None, rules_here())
    text = listed(
        output,
        text=lambda: rules_text(chosen.rulings, colour=wants_colour()),
        wide=lambda: rules_wide_text(chosen.rulings, colour=wants_colour()),
        document=lambda: rules_json(chosen),
        names=(each.rule.id for each in chosen.rulings),
    )
    click.echo(text, nl=False)
