"""What is logged has an end, and is cleaned of what must not stand in logs."""

from collections.abc import Iterator

from holdfast_policies.api import (
    ONLY_AGENTS,
    POD_KINDS,
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
    default=["holdfast.dev/log-retention", "holdfast.dev/log-redaction"],
)


def check(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """Declarations that a workload lacks."""
    yield from undeclared(subject, settings["keys"])


RULE = Rule(
    id="log-retention-and-redaction-declared",
    title="Logs with end and redaction",
    description="An agent does not say how long its logs stay or what is cut out of them",
    rationale="Prompts and answers end in logs, and with them whatever people told the agent.",
    remedy="set spec.governance.logs.retention and redaction of the agent",
    source="https://cheatsheetseries.owasp.org/cheatsheets/Logging_Cheat_Sheet.html",
    severity=Severity.LOW,
    levels=Levels(Level.ADVISORY, Level.ADVISORY, Level.MANDATORY),
    frameworks=(
        "AU-11",
        "SI-12",
        "LLM02",
    ),
    fix=Fix.NO,
    kinds=POD_KINDS,
    applies_to=ONLY_AGENTS,
    check=check,
    parameters=(KEYS,),
    admission=Admission((undeclared_in("variables.settings.keys"),)),
)
