"""An agent says how far it acts alone, and a person stands before what cannot be undone."""

import re
from collections.abc import Iterator

from holdfast_policies.agent_settings import SETTINGS_PATH, settings_of
from holdfast_policies.finding import Breach, Finding
from holdfast_policies.governance import DECLARATIONS, undeclared
from holdfast_policies.kinds import CONFIG_MAP
from holdfast_policies.parts import all_of, each
from holdfast_policies.rule import Fix, Level, Levels, Parameter, Rule, Settings, Severity
from holdfast_policies.subject import Subject, items, mapping, text
from holdfast_policies.wording import shown

KEYS = Parameter(
    name="keys",
    description="Annotations or labels that must declare it, as spec.governance gives them.",
    schema=DECLARATIONS,
    default=["holdfast.dev/autonomy", "holdfast.dev/approver"],
)
DESTRUCTIVE = Parameter(
    name="destructive",
    description="Pattern (regular expression) of the names of tools that need a person's approval.",
    schema={"type": "string"},
    default=(
        r"(?:.*[_./-])?(?:delete|drop|destroy|remove|terminate|purge|wipe|revoke|transfer|pay"
        r"|refund|execute|exec|deploy)(?:[_./-].*)?"
    ),
)


def check_declared(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """Autonomy and approver of an agent with tools; scaling it to none is its kill switch."""
    agent = settings_of(subject)
    if agent is None or not items(agent.get("tools")):
        return

    yield from undeclared(subject, settings["keys"])


def check_approval(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """Destructive tools that no person approves."""
    agent = settings_of(subject)
    if agent is None:
        return

    def check_tool(tool: object, _: str) -> Iterator[Breach]:
        offered = mapping(tool)
        approved = items(offered.get("requireApproval"))
        alone = [
            name
            for name in items(offered.get("toolNames"))
            if re.fullmatch(settings["destructive"], text(name)) and name not in approved
        ]
        if alone:
            required = "a person's approval"
            yield Breach(SETTINGS_PATH, shown(alone), required, "list them under requireApproval")

    yield from each(agent.get("tools"), SETTINGS_PATH, check_tool, "")


RULE = Rule(
    id="autonomy-and-oversight-declared",
    title="A person before what cannot be undone",
    description="An agent acts alone where a person must stand, or does not say how far",
    rationale="What is deleted or paid on the word of a model cannot be taken back by one.",
    remedy="set spec.governance.autonomy and approver, and requireApproval of destructive tools",
    source="https://genai.owasp.org/llmrisk/llm062025-excessive-agency/",
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "AC-5",
        "IR-4",
        "LLM06",
        "ASI09",
        "ASI10",
    ),
    fix=Fix.NO,
    kinds=frozenset({CONFIG_MAP}),
    check=all_of(check_declared, check_approval),
    parameters=(
        KEYS,
        DESTRUCTIVE,
    ),
    not_in_cluster="what it judges stands in agent.json, and CEL cannot read JSON within a text",
)
