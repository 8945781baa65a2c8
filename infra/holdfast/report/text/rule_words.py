"""One rule of the policy pack in words."""

from dataclasses import asdict
from typing import Any

import click

from holdfast.operations.describe.explain import RuleExplanation
from holdfast.report.documents.json_text import json_text
from holdfast.report.exchange.policy_notices import page_of

SCHEMA_VERSION = "holdfast.dev/rule/v1"


def explained_text(rule: RuleExplanation, *, colour: bool = False) -> str:
    """One rule in words, ending in a line end."""
    title = click.style(rule.name, bold=True) if colour else rule.name
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
        lines += [f"            {name}: {_value(value)}" for name, value in here.settings.items()]
        lines += [f"            waived by {each}" for each in here.waivers]
    lines += [f"parameter   {each}" for each in rule.parameters]
    lines.append(f"controls    {', '.join(rule.frameworks)}")
    cluster = f"not judged there: {rule.not_in_cluster or 'no CEL says it'}"
    if rule.cel:
        cluster = "judged by the API server, too; the CEL is in -o json and on the page"
    lines += [f"in cluster  {cluster}", f"more        {page_of(rule.name)}, {rule.source}"]
    return "\n".join(lines) + "\n"


def explained_json(rule: RuleExplanation) -> str:
    """The same as one JSON document, ending in a line end."""
    names = {"not_in_cluster": "notInCluster", "in_force": "inForce"}
    document = {names.get(name, name): value for name, value in asdict(rule).items()}
    page = page_of(rule.name)
    return json_text({"schemaVersion": SCHEMA_VERSION, **document, "page": page})


def _value(value: Any) -> str:  # noqa: ANN401  (any JSON value)
    return value if isinstance(value, str) else " ".join(json_text(value).split())
