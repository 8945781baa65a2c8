"""An agent says how far it acts alone, and a person stands before what cannot be undone."""

import re
from collections.abc import Iterator, Mapping

from holdfast_policies.api import (
    CONFIG_MAP,
    Breach,
    Finding,
    Fix,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Subject,
    all_of,
    each,
    items,
    mapping,
    shown,
    text,
)
from holdfast_policies.facts.agent_settings import SETTINGS_PATH, settings_of
from holdfast_policies.facts.governance import DECLARATIONS, undeclared

KEYS = Parameter(
    name="keys",
    description="Annotations or labels that must declare it, as spec.governance gives them.",
    schema=DECLARATIONS,
    default=["holdfast.dev/autonomy", "holdfast.dev/approver"],
)
DESTRUCTIVE = Parameter(
    name="destructive",
    description="Pattern (regular expression) of the names of tools that need a person's approval, "
    "of those whose annotations do not say whether they destroy.",
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
    """Destructive tools that no person approves.

    Annotations decide, as they were reviewed; a name decides where a tool has none.
    """
    agent = settings_of(subject)
    if agent is None:
        return

    def check_tool(tool: object, _: str) -> Iterator[Breach]:
        offered = mapping(tool)
        approved = items(offered.get("requireApproval"))
        annotations = mapping(offered.get("annotations"))
        alone = [
            name
            for name in items(offered.get("toolNames"))
            if _is_destructive(text(name), mapping(annotations.get(name)), settings["destructive"])
            and name not in approved
        ]
        if alone:
            required = "a person's approval"
            yield Breach(SETTINGS_PATH, shown(alone), required, "list them under requireApproval")

    yield from each(agent.get("tools"), SETTINGS_PATH, check_tool, "")


def _is_destructive(name: str, hints: Mapping[str, object], pattern: str) -> bool:
    """Whether a tool may destroy: by the protocol, what only says that it writes may do so."""
    if hints.get("destructiveHint") is True:
        return True
    if hints.get("readOnlyHint") is True or hints.get("destructiveHint") is False:
        return False
    return hints.get("readOnlyHint") is False or re.fullmatch(pattern, name) is not None


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
