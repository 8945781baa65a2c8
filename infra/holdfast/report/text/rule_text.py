"""Rules of the policy pack as text and JSON: all of them with their levels, or one explained."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from holdfast_policies.evaluation.profile import Profile, Ruling

from holdfast.operations.describe.explain import RuleExplanation
from holdfast.report.documents.json_text import json_text
from holdfast.report.exchange.policy_notices import page_of
from holdfast.report.text.table import styled, table

RULES_SCHEMA_VERSION = "holdfast.dev/rules/v1"
_COLOURS = {
    "mandatory": "red",
    "remediate": "red",
    "advisory": "yellow",
    "disabled": "bright_black",
}


def rules_text(rules: Iterable[Ruling], *, colour: bool = False) -> str:
    """One line a rule: name, level, title."""
    rows = [
        (
            each.rule.id,
            styled(str(each.level), _COLOURS.get(str(each.level)), colour=colour),
            each.rule.title,
        )
        for each in rules
    ]
    return "".join(f"{line}\n" for line in table(("RULE", "LEVEL", "TITLE"), rows))


def rules_wide_text(rules: Iterable[Ruling], *, colour: bool = False) -> str:
    """The same with severity and frameworks."""
    rows = [
        (
            each.rule.id,
            styled(str(each.level), _COLOURS.get(str(each.level)), colour=colour),
            str(each.rule.severity),
            ", ".join(each.rule.frameworks),
            each.rule.title,
        )
        for each in rules
    ]
    head = ("RULE", "LEVEL", "SEVERITY", "FRAMEWORKS", "TITLE")
    return "".join(f"{line}\n" for line in table(head, rows))


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


RULE_SCHEMA_VERSION = "holdfast.dev/rule/v1"


def explained_text(rule: RuleExplanation, *, colour: bool = False) -> str:
    """One rule in words, ending in a line end."""
    title = styled(rule.name, colour=colour)
    levels = ", ".join(f"{profile} {level}" for profile, level in rule.levels.items())
    lines = [
        f"{title} ({rule.severity}): {rule.title}",
        f"{rule.description}. {rule.rationale}",
        "",
        f"remedy      {rule.remedy}",
        f"judges      {rule.judges}",
        f"levels      {levels}",
    ]
    if rule.in_force is not None:
        here = rule.in_force
        lines.append(f"on {here.stack:8} {here.level} (profile {here.profile})")
        lines += [
            f"            {name}: {_setting_text(value)}" for name, value in here.settings.items()
        ]
        lines += [f"            waived by {each}" for each in here.waivers]
    lines += [f"parameter   {each}" for each in rule.parameters]
    lines.append(f"controls    {', '.join(rule.frameworks)}")
    cluster = f"not judged there: {rule.not_in_cluster or 'no CEL says it'}"
    if rule.cel:
        cluster = "judged by the API server, too; the CEL is in -o json and on the page"
    lines += [
        f"in cluster  {cluster}",
        f"more        {page_of(rule.name, file=rule.file)}, {rule.source}",
    ]
    return "\n".join(lines) + "\n"


def explained_json(rule: RuleExplanation) -> str:
    """The same as one JSON document, ending in a line end."""
    names = {"not_in_cluster": "notInCluster", "in_force": "inForce"}
    document = {names.get(name, name): value for name, value in asdict(rule).items()}
    page = page_of(rule.name, file=rule.file)
    return json_text({"schemaVersion": RULE_SCHEMA_VERSION, **document, "page": page})


def _setting_text(value: Any) -> str:  # noqa: ANN401  (any JSON value)
    return value if isinstance(value, str) else " ".join(json_text(value).split())
