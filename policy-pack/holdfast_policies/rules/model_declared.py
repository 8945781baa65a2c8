"""Every agent says which model it runs on."""

import re
from collections.abc import Iterator

from holdfast_policies.api import (
    CONFIG_MAP,
    Breach,
    Fix,
    Level,
    Levels,
    Rule,
    Settings,
    Severity,
    Subject,
    mapping,
    shown,
    text,
)
from holdfast_policies.facts.agent_settings import SETTINGS_PATH, settings_of

_FLOATING = re.compile(r"(?:.*[-:@/])?(?:latest|stable|default|auto)")


def check(subject: Subject, _: Settings) -> Iterator[Breach]:
    """Settings of an agent whose model lacks provider, name or version."""
    agent = settings_of(subject)
    if agent is None or "model" not in agent:
        return
    model = mapping(agent.get("model"))
    missing = [name for name in ("provider", "name") if not text(model.get(name))]
    if missing:
        got = f"no model.{' and no model.'.join(missing)}"
        yield Breach(SETTINGS_PATH, got=got, required="provider, name and version")
        return
    name = text(model.get("name"))
    pinned = text(model.get("digest")) or text(model.get("expectResolved"))
    if not pinned and (_FLOATING.fullmatch(name) or not any(char.isdigit() for char in name)):
        required = "a name that holds its version, or model.expectResolved"
        yield Breach(SETTINGS_PATH, got=f"model.name {shown(name)}", required=required)


RULE = Rule(
    id="model-declared",
    title="The model by name and version",
    description="An agent does not say which model, in which version, it runs on",
    rationale="An alias that moves is another agent tomorrow, with the same review.",
    remedy="name provider and model with its version, or set model.expectResolved",
    source="https://genai.owasp.org/llmrisk/llm032025-supply-chain/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "CM-8",
        "SR-4",
        "LLM03",
        "LLM04",
        "ASI04",
    ),
    fix=Fix.NO,
    kinds=frozenset({CONFIG_MAP}),
    check=check,
    not_in_cluster="what it judges stands in agent.json, and CEL cannot read JSON within a text",
)
