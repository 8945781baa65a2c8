"""`holdfast policy`: the rules, what they say, their settings, and what was waived."""

import click

from holdfast.cli.command_tree import VERBS, LazyGroup


@click.group(cls=LazyGroup, verbs=VERBS["policy"].below)
def command() -> None:
    """Judge objects by the rules, list, export and check them, compile what was waived.

    \b
    Examples:
      holdfast policy check -s prod
      holdfast policy report -s prod
      holdfast policy export -s prod -o dir --to policies
      holdfast policy list --profile prod
      holdfast policy lint
      holdfast policy lint policy-pack/config/prod.json
      holdfast policy waivers --write
    """
