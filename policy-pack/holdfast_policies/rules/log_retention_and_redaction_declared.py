"""What is logged has an end, and is cleaned of what must not stand in logs."""

from collections.abc import Iterator

from holdfast_policies.cel import Admission, undeclared_in
from holdfast_policies.finding import Finding
from holdfast_policies.governance import DECLARATIONS, undeclared
from holdfast_policies.kinds import POD_KINDS
from holdfast_policies.rule import Fix, Level, Levels, Parameter, Rule, Settings, Severity
from holdfast_policies.subject import Subject

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
    check=check,
    parameters=(KEYS,),
    admission=Admission((undeclared_in("variables.settings.keys"),)),
)
