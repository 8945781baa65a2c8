"""Kept data says what it is and how long it stays."""

from collections.abc import Iterator

from holdfast_policies.api import (
    CLAIM,
    Admission,
    Finding,
    Fix,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Subject,
    undeclared_in,
)
from holdfast_policies.facts.governance import DECLARATIONS, undeclared

KEYS = Parameter(
    name="keys",
    description="Annotations or labels that must declare it, as spec.governance gives them.",
    schema=DECLARATIONS,
    default=["holdfast.dev/data-class", "holdfast.dev/data-retention"],
)


def check(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """Declarations that a PersistentVolumeClaim lacks."""
    yield from undeclared(subject, settings["keys"])


RULE = Rule(
    id="data-class-and-retention-declared",
    title="Data with class and end",
    description="Data is kept that does not say what it is or how long it stays",
    rationale="What an agent remembers about people has to be found, and deleted, when they ask.",
    remedy="set spec.governance.dataClass and dataRetention of the agent",
    source="https://genai.owasp.org/llmrisk/llm022025-sensitive-information-disclosure/",
    severity=Severity.LOW,
    levels=Levels(Level.ADVISORY, Level.ADVISORY, Level.MANDATORY),
    frameworks=(
        "SI-12",
        "AU-11",
        "LLM02",
        "ASI06",
    ),
    fix=Fix.NO,
    kinds=frozenset({CLAIM}),
    check=check,
    parameters=(KEYS,),
    admission=Admission((undeclared_in("variables.settings.keys"),)),
)
