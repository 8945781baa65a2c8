"""Every rule of the policy pack with its level, as text and JSON."""

from collections.abc import Iterable

import click
from holdfast_policies.profile import Profile, Ruling

from holdfast.report.documents.json_text import json_text

RULES_SCHEMA_VERSION = "holdfast.dev/rules/v1"
_COLOURS = {
    "mandatory": "red",
    "remediate": "red",
    "advisory": "yellow",
    "disabled": "bright_black",
}


def rules_text(rules: Iterable[Ruling], *, colour: bool = False) -> str:
    """One line a rule: name, level, title."""
    lines = []
    for each in rules:
        level = f"{each.level!s:9}"
        if colour:
            level = click.style(level, fg=_COLOURS.get(str(each.level)))
        lines.append(f"{each.rule.id:38} {level} {each.rule.title}\n")
    return "".join(lines)


def rules_json(profile: Profile) -> str:
    """The same as one JSON document, with severity and frameworks."""
    return json_text(
        {
            "schemaVersion": RULES_SCHEMA_VERSION,
            "profile": str(profile.environment),
            "rules": [
                {
                    "name": each.rule.id,
                    "level": str(each.level),
                    "severity": str(each.rule.severity),
                    "title": each.rule.title,
                    "frameworks": each.rule.frameworks,
                }
                for each in profile.rulings
            ],
        }
    )
