"""Every agent has a budget."""

from collections.abc import Iterator

from holdfast_policies.api import (
    CONFIG_MAP,
    Breach,
    Fix,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Subject,
    either,
    mapping,
)
from holdfast_policies.facts.agent_settings import SETTINGS_PATH, settings_of

LIMITS = Parameter(
    name="limits",
    description="Fields of an agent's budget, any of which bounds what it spends.",
    schema={"type": "array", "items": {"type": "string"}, "minItems": 1},
    default=["maxTokensPerRun", "maxCostUSD"],
)


def check(subject: Subject, settings: Settings) -> Iterator[Breach]:
    """The settings of an agent with a model and without a bound on what it spends."""
    agent = settings_of(subject)
    if agent is None or not agent.get("model"):
        return
    budget = mapping(agent.get("budget"))
    if not any(budget.get(limit) for limit in settings["limits"]):
        yield Breach(
            SETTINGS_PATH, got="no budget", required=f"budget.{either(settings['limits'])}"
        )


RULE = Rule(
    id="token-budget-declared",
    title="A budget for every agent",
    description="An agent may spend without a limit",
    rationale="A loop of a thousand steps costs a month, and the bill is the first to tell.",
    remedy="set budget.maxTokensPerRun or budget.maxCostUSD of the agent",
    source="https://genai.owasp.org/llmrisk/llm102025-unbounded-consumption/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.ADVISORY, Level.MANDATORY),
    frameworks=(
        "SC-5",
        "LLM10",
        "ASI08",
    ),
    fix=Fix.NO,
    kinds=frozenset({CONFIG_MAP}),
    check=check,
    parameters=(LIMITS,),
    not_in_cluster="what it judges stands in agent.json, and CEL cannot read JSON within a text",
)
