"""What is sent to the engine: diagnostics for violations, and what counts as passed.

The engine takes for passed every policy that is neither disabled, nor reported as not applicable,
nor named by a diagnostic. So every rule that was not run is reported as not applicable, and a rule
that could not be decided is: its diagnostic, always advisory, goes by the name `undetermined`.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from holdfast_policies.evaluation.judge import Judgement, Violation
from holdfast_policies.evaluation.profile import Profile, environment_of
from holdfast_policies.evaluation.remediation import AppliedRemediation
from holdfast_policies.evaluation.rule_set import RuleSet
from holdfast_policies.evaluation.waivers import WaiverFault
from holdfast_policies.evaluation.weakened import (
    NO_RULE_ASKED,
    RULE_WEAKENED,
    asks_nothing,
    in_words,
    weakenings,
)
from holdfast_policies.model.kinds import Kind
from holdfast_policies.model.rule import Level, Rule, Severity
from holdfast_policies.model.subject import Subject
from holdfast_policies.model.wording import printable
from holdfast_policies.pack.sdk import proto
from holdfast_policies.version import PACK_NAME, PACK_VERSION

UNDETERMINED = "undetermined"
REMEDIATION_LOST = "remediation-lost"

_LEVELS = {
    Level.ADVISORY: proto.ADVISORY,
    Level.MANDATORY: proto.MANDATORY,
    Level.REMEDIATE: proto.REMEDIATE,
    Level.DISABLED: proto.DISABLED,
}
_LEVEL_NAMES = {int(number): level for level, number in _LEVELS.items()}
_SEVERITIES = {
    Severity.LOW: proto.POLICY_SEVERITY_LOW,
    Severity.MEDIUM: proto.POLICY_SEVERITY_MEDIUM,
    Severity.HIGH: proto.POLICY_SEVERITY_HIGH,
    Severity.CRITICAL: proto.POLICY_SEVERITY_CRITICAL,
}


@cache
def no_remediation_response(rules: RuleSet) -> proto.RemediateResponse:
    """Every rule by name: one that is not named counts as passed."""
    return proto.RemediateResponse(
        not_applicable=[
            proto.PolicyNotApplicable(policy_name=rule.id, reason="changes nothing here")
            for rule in rules.rules
        ]
    )


def remediation_response(
    remediations: Sequence[AppliedRemediation], steps: Sequence[Any], rules: RuleSet
) -> proto.RemediateResponse:
    """What was put right: for each rule, the properties as they are after it.

    Args:
        remediations: What was changed, in order.
        steps: The properties after each.
        rules: All rules of the run.
    """
    if not remediations:
        return no_remediation_response(rules)
    changing = {each.ruling.rule.id for each in remediations}
    return proto.RemediateResponse(
        remediations=[
            proto.Remediation(
                policyName=each.ruling.rule.id,
                policyPackName=PACK_NAME,
                policyPackVersion=PACK_VERSION,
                description=printable(f"{each.ruling.rule.description}; put right: {each.words}"),
                properties=properties,
            )
            for each, properties in zip(remediations, steps, strict=True)
        ],
        not_applicable=[
            each
            for each in no_remediation_response(rules).not_applicable
            if each.policy_name not in changing
        ],
    )


def of_lost(judgements: Iterable[Judgement]) -> list[proto.AnalyzeDiagnostic]:
    """What was put right and is wrong again after the update: the engine has lost it."""
    found = []
    for judgement in judgements:
        for each in judgement.violations:
            lost = diagnostic(each)
            lost.policyName = REMEDIATION_LOST
            lost.message = printable(
                f"{each.rule} had put this right, and the engine lost that when it replaced the "
                f"object: run `pulumi up` again. {each.message}"
            )
            found.append(lost)
    return found


def level_number(level: Level) -> int:
    """The engine's number for a level."""
    return int(_LEVELS[level])


def level_of(number: int) -> Level:
    """Level behind the engine's number."""
    return _LEVEL_NAMES[number]


def not_applicable(kind: Kind | None, profile: Profile) -> list[proto.PolicyNotApplicable]:
    """The rules that are not run on a resource, each with the reason."""
    applied = {ruling.rule.id for ruling in profile.for_kind(kind)} if kind else set()
    what = str(kind) if kind else "what is no Kubernetes object"
    return [
        _no_verdict(ruling.rule, _reason_against(ruling.rule, ruling.level, what))
        for ruling in profile.rulings
        if ruling.rule.id not in applied
    ]


def left_out(subject: Subject, profile: Profile) -> list[proto.PolicyNotApplicable]:
    """The rules that would be run on an object of its kind, and are not about this one."""
    return [
        _no_verdict(ruling.rule, f"applies to {ruling.applies_to}")
        for ruling in profile.for_kind(subject.kind)
        if not ruling.is_about(subject)
    ]


def _reason_against(rule: Rule, level: Level, what: str) -> str:
    if level is Level.DISABLED:
        return "disabled in this profile"
    return "judges the whole stack" if rule.check is None else f"says nothing about {what}"


def add_judgements(
    response: proto.AnalyzeResponse, judgements: Iterable[Judgement], urn: str = ""
) -> None:
    """Add violations, and one note about everything that could not be decided, to a response."""
    open_rules: dict[str, list[str]] = {}
    for judgement in judgements:
        response.diagnostics.extend(diagnostic(each) for each in judgement.violations)
        if judgement.undecided:
            rule = judgement.ruling.rule
            open_rules[rule.id] = sorted({each.path for each in judgement.undecided})
            if not judgement.violations:
                response.not_applicable.append(_no_verdict(rule, "cannot be decided at preview"))
    if open_rules:
        response.diagnostics.append(_note(open_rules, urn))


def diagnostic(violation: Violation) -> proto.AnalyzeDiagnostic:
    """One violation, under the name, level and severity of its rule."""
    return proto.AnalyzeDiagnostic(
        policyName=violation.rule,
        policyPackName=PACK_NAME,
        policyPackVersion=PACK_VERSION,
        description=violation.description,
        message=f"{violation.description}\n{violation.message}",
        enforcementLevel=_LEVELS[violation.level],
        severity=_SEVERITIES[violation.severity],
        urn=violation.subject.urn,
    )


def of_waivers(faults: Iterable[WaiverFault]) -> list[proto.AnalyzeDiagnostic]:
    """Waivers that grant nothing."""
    return [
        proto.AnalyzeDiagnostic(
            policyName=each.rule,
            policyPackName=PACK_NAME,
            policyPackVersion=PACK_VERSION,
            description=each.description,
            message=printable(f"{each.description}: {_named(each)}: {each.got}; {each.remedy}"),
            enforcementLevel=proto.MANDATORY if each.is_refused else proto.ADVISORY,
        )
        for each in faults
    ]


def of_weakened(profile: Profile, stack: str) -> list[proto.AnalyzeDiagnostic]:
    """Rules that ask less than the stack's profile wants; that none is asked at all is refused.

    Args:
        profile: Rules as they are in force.
        stack: Name of the stack; empty where the engine names none.
    """
    wanted = environment_of(stack) if stack else profile.environment
    found = list(weakenings(profile, wanted))
    if not found:
        return []
    is_nothing = asks_nothing(profile)
    description = "No rule is asked" if is_nothing else "Rules ask less than their profile wants"
    required = f"expected the levels of profile {wanted}"
    return [
        proto.AnalyzeDiagnostic(
            policyName=NO_RULE_ASKED if is_nothing else RULE_WEAKENED,
            policyPackName=PACK_NAME,
            policyPackVersion=PACK_VERSION,
            description=description,
            message=f"{description}\n{required}, got {in_words(found)}; raise the levels again",
            enforcementLevel=proto.MANDATORY if is_nothing else proto.ADVISORY,
            severity=proto.POLICY_SEVERITY_MEDIUM,
        )
    ]


def _named(fault: WaiverFault) -> str:
    waiver = fault.waiver
    target = f"{waiver.kind} {waiver.namespace}/{waiver.object_name}"
    return f"{waiver.name} ({', '.join(waiver.rules)} on {target})"


def _no_verdict(rule: Rule, reason: str) -> proto.PolicyNotApplicable:
    return proto.PolicyNotApplicable(policy_name=rule.id, reason=reason)


def _note(open_rules: dict[str, list[str]], urn: str) -> proto.AnalyzeDiagnostic:
    description = "Cannot be decided at preview: values are not known yet"
    lines = [f"{rule}: {', '.join(paths)}" for rule, paths in open_rules.items()]
    return proto.AnalyzeDiagnostic(
        policyName=UNDETERMINED,
        policyPackName=PACK_NAME,
        policyPackVersion=PACK_VERSION,
        description=description,
        message="\n".join([f"{description}; decided during the update", *map(printable, lines)]),
        enforcementLevel=proto.ADVISORY,
        urn=urn,
    )
