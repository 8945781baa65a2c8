"""What the rules of the policy pack say about objects, whoever asked.

One verdict a rule and object: passed (counted by name), violated, waived, or undetermined
because a value is not known. Rules that do not apply to an object say nothing.
"""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from holdfast_policies.evaluation.rule_set import SHIPPED_RULES, RuleSet

from holdfast.drift.finding import NotChecked, Severity
from holdfast.errors import SourceLocation
from holdfast.kube.objects import ObjectRef
from holdfast.kube.text import counted
from holdfast.operations.policy.changes import ObjectChange


class Verdict(StrEnum):
    """What a rule says of one object when it does not simply pass."""

    VIOLATED = "violated"
    WAIVED = "waived"
    UNDETERMINED = "undetermined"


@dataclass(frozen=True, slots=True)
class PolicyFinding:
    """What one rule has against one field of one object.

    Attributes:
        rule: Name of the rule.
        verdict: Violated, waived by a person, or undetermined.
        is_mandatory: Whether the policy pack would refuse it.
        severity: How bad a violation of the rule is.
        ref: The object; empty for the stack as a whole.
        path: Field of the object; empty for the whole object.
        expected: What must stand there; empty where the rule does not say.
        found: What stands there, in words; never the value of a secret.
        remedy: What to change.
        agent: Agent that the object belongs to; empty where there is none.
        location: Where the field is written, else what is around it; None when nobody knows.
        note: Who waived it and until when; empty without a waiver.
    """

    rule: str
    verdict: Verdict
    is_mandatory: bool
    severity: Severity
    ref: ObjectRef
    path: str = ""
    expected: str = ""
    found: str = ""
    remedy: str = ""
    agent: str = ""
    location: SourceLocation | None = None
    note: str = ""

    @property
    def level(self) -> str:
        """`mandatory` or `advisory`."""
        return "mandatory" if self.is_mandatory else "advisory"

    @property
    def refuses(self) -> bool:
        """Whether the policy pack would refuse the object for it."""
        return self.is_mandatory and self.verdict is Verdict.VIOLATED

    @property
    def is_open(self) -> bool:
        """Whether a mandatory rule could not decide: nothing may take that for a pass."""
        return self.is_mandatory and self.verdict is Verdict.UNDETERMINED

    @property
    def subject(self) -> str:
        """The object as people call it."""
        return str(self.ref).strip() or "the stack as a whole"

    @property
    def headline(self) -> str:
        """What is wrong, without the object; one sentence."""
        if self.verdict is Verdict.UNDETERMINED:
            return "undetermined: the value is not known yet"
        place = f"{self.path}: " if self.path else ""
        if not self.expected:
            return f"{place}{self.found}"
        return f"{place}expected {self.expected}, got {self.found}"


@dataclass(frozen=True, slots=True)
class JudgedObject:
    """One object that was evaluated.

    Attributes:
        ref: The object; empty for the stack as a whole.
        agent: Agent that it belongs to; empty where there is none.
        passed: Names of the rules that it passed.
    """

    ref: ObjectRef
    agent: str = ""
    passed: tuple[str, ...] = ()


@dataclass(frozen=True)
class PolicyReport:
    """Everything that was said.

    Attributes:
        title: Such as `Policy of stack prod`.
        identifier: Stable name of what was checked, such as `policy/prod`.
        profile: `dev`, `staging` or `prod`.
        findings: All but what passed, the worst first within an object.
        objects: Every object that was judged, with what it passed.
        not_checked: What could not be checked; with any, the report is incomplete.
        remarks: Further lines about the whole, such as what was left out on purpose.
        observed_at: RFC 3339 time; empty when it is not known.
        changes: What a deployment would do; None where that was not asked.
        known: All rules that there are.
    """

    title: str
    identifier: str
    profile: str
    findings: tuple[PolicyFinding, ...] = ()
    objects: tuple[JudgedObject, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()
    remarks: tuple[str, ...] = ()
    observed_at: str = ""
    changes: tuple[ObjectChange, ...] | None = None
    known: RuleSet = SHIPPED_RULES

    @property
    def passed(self) -> int:
        """How often a rule was passed by an object."""
        return sum(len(each.passed) for each in self.objects)

    @property
    def counts(self) -> Counter[Verdict]:
        """How many findings there are of each verdict."""
        return Counter(each.verdict for each in self.findings)

    @property
    def is_complete(self) -> bool:
        """Whether everything was checked, and every mandatory rule could decide."""
        return not self.not_checked and not any(each.is_open for each in self.findings)


def summary_line(report: PolicyReport) -> str:
    """One line: how much, how bad, whether everything could be determined."""
    violated = [each for each in report.findings if each.verdict is Verdict.VIOLATED]
    mandatory = sum(each.is_mandatory for each in violated)
    violations = [
        (mandatory, "mandatory violation"),
        (len(violated) - mandatory, "advisory violation"),
    ]
    parts = [counted(count, noun) for count, noun in violations if count] or ["no violation"]
    if waived := report.counts[Verdict.WAIVED]:
        parts.append(f"{waived} waived")
    if unknown := report.counts[Verdict.UNDETERMINED]:
        parts.append(f"{unknown} undetermined")
    objects = sum(bool(each.ref.kind) for each in report.objects)
    parts.append(f"{report.passed} passed")
    text = f"{', '.join(parts)} ({counted(objects, 'object')}, profile {report.profile})"
    if report.not_checked:
        text += f"; INCOMPLETE: {counted(len(report.not_checked), 'thing')} not checked"
    return text
