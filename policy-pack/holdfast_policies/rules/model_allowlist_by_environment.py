"""Each environment says which models may be used in it."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from holdfast_policies.api import (
    CONFIG_MAP,
    Breach,
    Environment,
    Finding,
    Fix,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Subject,
    each,
    either,
    items,
    mapping,
    shown,
    text,
)
from holdfast_policies.facts.agent_settings import SETTINGS_PATH, settings_of

MODELS = Parameter(
    name="models",
    description="Models that may be used, as provider/name; * stands for any part. Empty: none.",
    schema={"type": "array", "items": {"type": "string", "pattern": ".+/.+", "examples": ["P/*"]}},
    default=[],
    defaults={Environment.DEV: ["*/*"]},
)


def check(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """The model of an agent, and those that stand in for it."""
    agent = settings_of(subject)
    if agent is None or not agent.get("model"):
        return
    model = mapping(agent.get("model"))

    def check_model(candidate: object, _: str) -> Iterator[Breach]:
        declared = mapping(candidate)
        name = f"{text(declared.get('provider'))}/{text(declared.get('name'))}"
        if not any(fnmatchcase(name, pattern) for pattern in settings["models"]):
            allowed = (
                either(settings["models"]) or "a model of the parameter `models` (it lists none)"
            )
            yield Breach(SETTINGS_PATH, got=shown(name), required=allowed)

    yield from each([model, *items(model.get("fallbacks"))], "", check_model)


RULE = Rule(
    id="model-allowlist-by-environment",
    title="Models allowed here",
    description="An agent uses a model that this environment does not allow",
    rationale="Which model sees this data is a decision, and falling back to another is one too.",
    remedy="use an allowed model, or add this one to the parameter `models` of the rule",
    source="https://genai.owasp.org/llmrisk/llm032025-supply-chain/",
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "CM-7",
        "RA-3",
        "LLM03",
        "ASI04",
    ),
    fix=Fix.NO,
    kinds=frozenset({CONFIG_MAP}),
    check=check,
    parameters=(MODELS,),
    not_in_cluster="what it judges stands in agent.json, and CEL cannot read JSON within a text",
)
