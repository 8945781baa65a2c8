"""`holdfast policy`: the rules, what they say, their settings, and what was waived."""

import click

from holdfast.cli.verb_parts import GroupOfParts

PARTS = {
    "check": (
        "holdfast.cli.policy.check",
        "judge what is declared, written, recorded or live",
    ),
    "report": (
        "holdfast.cli.policy.report",
        "preview a stack under the policy pack, and report both",
    ),
    "export": (
        "holdfast.cli.policy.export",
        "write the rules as policies that a cluster judges every client by",
    ),
    "list": ("holdfast.cli.policy.list", "print every rule with its level and severity"),
    "lint": (
        "holdfast.cli.policy.lint",
        "find unknown rules and parameters, and wrong values, in settings",
    ),
    "waivers": ("holdfast.cli.policy.waivers", "compile the PolicyException manifests"),
}


@click.group(cls=GroupOfParts, parts=PARTS)
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
