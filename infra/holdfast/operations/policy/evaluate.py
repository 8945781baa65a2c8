"""The policy pack's verdicts in the words of reports."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from holdfast_policies.decode.unknown import UndeterminedError
from holdfast_policies.evaluation.census import Census, census_of
from holdfast_policies.evaluation.judge import Judgement, Violation, violations
from holdfast_policies.evaluation.profile import Profile, profile_of
from holdfast_policies.evaluation.rule_set import SHIPPED_RULES
from holdfast_policies.evaluation.waivers import Waivers, target_of
from holdfast_policies.model.finding import Undecided
from holdfast_policies.model.rule import Level
from holdfast_policies.model.rule import Severity as RuleSeverity
from holdfast_policies.model.subject import Subject, text

from holdfast.drift.finding import Severity
from holdfast.drift.severity import BrokenRule, RuleJudge
from holdfast.errors import SourceLocation
from holdfast.kube.objects import ObjectRef
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.operations.policy.model import JudgedObject, PolicyFinding, Verdict
from holdfast.render.objects.admission import waivers_of
from holdfast.render.objects.rule_set import rules_of

LocateField = Callable[[str], SourceLocation | None]
"""Where a field of the object is declared."""


def _nowhere(_: str) -> None:
    return None


@dataclass(frozen=True)
class Judged:
    """One object to judge, and what is known of it besides.

    Attributes:
        subject: The object, as rules see it.
        agent: Agent that it belongs to; empty where there is none.
        place_of: Where its fields are declared.
        approximate_location: Known at once, where finding the exact one takes long; None where it
            does not.
        stack_view: The object as rules about the whole stack see it; None for just the same.
        context_only: Nobody asks about the object itself; only the stack is judged with it.
    """

    subject: Subject
    agent: str = ""
    place_of: LocateField = _nowhere
    approximate_location: SourceLocation | None = None
    stack_view: Subject | None = None
    context_only: bool = False

    def location(self, path: str, *, is_exact: bool) -> SourceLocation | None:
        """Place of a field, or one nearby."""
        return (
            self.place_of(path)
            if is_exact or self.approximate_location is None
            else self.approximate_location
        )


def rule_judge(environment: str, rules: Mapping[str, Any], fleet: Fleet | None) -> RuleJudge:
    """What judges one object in the words of the drift room; what is waived refuses nothing.

    Args:
        environment: Profile, or the name of a stack.
        rules: What a stack says of single rules.
        fleet: Whose exceptions hold; None for plain objects.
    """
    granted = waivers_of(fleet) if fleet else ()
    known = rules_of(fleet) if fleet else SHIPPED_RULES
    profile = profile_of(environment, rules, known)
    weakening = {RuleSeverity.CRITICAL, RuleSeverity.HIGH}

    def waived_today() -> Profile:
        # A judge may serve for weeks: a waiver ends with its day.
        return replace(profile, waivers=Waivers(granted, datetime.now(UTC).date()))

    def judge(kube_object: Mapping[str, Any]) -> Mapping[str, BrokenRule]:
        return {
            each.rule: BrokenRule(
                each.rule, each.level is Level.MANDATORY, each.severity in weakening
            )
            for each in violations(kube_object, waived_today())
        }

    return judge


def verdicts(
    judged: Iterable[Judged], profile: Profile, *, is_exact: bool = False
) -> tuple[tuple[PolicyFinding, ...], tuple[JudgedObject, ...]]:
    """What all rules say of objects and of the stack that they are: findings, and what passed.

    Args:
        judged: The objects.
        profile: Rules, settings and waivers.
        is_exact: Find the exact place of everything; else only of what would be refused.
    """
    everything = tuple(judged)
    together = [each.stack_view or each.subject for each in everything]
    known = {id(each.subject): each for each in everything}
    known |= {id(subject): each for subject, each in zip(together, everything, strict=True)}
    findings: list[PolicyFinding] = []
    objects: list[JudgedObject] = []
    single = [each.subject for each in everything if not each.context_only]
    for census in census_of(single, profile, together):
        about = known.get(id(census.subject))
        subject = census.subject or Subject.of({})
        objects.append(
            JudgedObject(reference_of(subject), about.agent if about else "", census.passed)
        )
        findings += _findings(census, subject, known, is_exact=is_exact)
    ordered = sorted(findings, key=lambda each: (each.ref.identity, _rank(each), each.path))
    return tuple(ordered), tuple(objects)


def waiver_findings(
    judged: Iterable[Judged],
    findings: Iterable[PolicyFinding],
    profile: Profile,
    *,
    is_whole: bool,
    place_of: Callable[[str], SourceLocation | None] = _nowhere,
) -> Iterator[PolicyFinding]:
    """Waivers that have ended, that name no object, or that nothing needs any more.

    Args:
        judged: The objects.
        findings: What the rules have against them.
        profile: Rules, settings and waivers.
        is_whole: Whether these are all objects of the stack.
        place_of: Name of a waiver to where it is declared.
    """
    waivers = profile.waivers
    needed = {(each.ref.kind, each.ref.namespace, each.ref.name, each.rule) for each in findings}
    seen = [target for each in judged if (target := target_of(each.subject))]
    used = [
        waiver.name
        for waiver in waivers.entries
        if any((*waiver.target, rule) in needed for rule in waiver.rules)
    ]
    for fault in waivers.faults(seen, used, profile.levels, seen if is_whole else None):
        waiver = fault.waiver
        yield PolicyFinding(
            rule=fault.rule,
            verdict=Verdict.VIOLATED,
            is_mandatory=fault.is_refused,
            severity=Severity.MEDIUM if fault.is_refused else Severity.LOW,
            ref=ObjectRef(waiver.namespace, waiver.kind, waiver.object_name, ""),
            expected=fault.required,
            found=f"{waiver.name}: {fault.got}",
            remedy=fault.remedy,
            location=place_of(waiver.name),
        )


def _rank(finding: PolicyFinding) -> tuple[bool, bool, int, str]:
    is_violated = finding.verdict is Verdict.VIOLATED
    return not is_violated, not finding.is_mandatory, finding.severity.rank, finding.rule


def _findings(
    census: Census, subject: Subject, known: dict[int, Judged], *, is_exact: bool
) -> Iterable[PolicyFinding]:
    for judgement in census.judgements:
        for violation in judgement.violations:
            about = known.get(id(violation.subject))
            yield _violation(violation, about, is_exact=is_exact)
        for undecided in judgement.undecided:
            meant = undecided.subject or subject
            yield _undecided(judgement, undecided, meant, known.get(id(meant)))


def _violation(violation: Violation, about: Judged | None, *, is_exact: bool) -> PolicyFinding:
    is_refused = violation.level is Level.MANDATORY
    place = about.location(violation.path, is_exact=is_exact or is_refused) if about else None
    return PolicyFinding(
        rule=violation.rule,
        verdict=Verdict.WAIVED if violation.is_waived else Verdict.VIOLATED,
        is_mandatory=is_refused,
        severity=Severity(str(violation.severity)),
        ref=reference_of(violation.subject),
        path=violation.path,
        expected=violation.required,
        found=violation.got,
        remedy=violation.remedy,
        agent=about.agent if about else "",
        location=place,
        note=violation.note,
    )


def _undecided(
    judgement: Judgement, undecided: Undecided, subject: Subject, about: Judged | None
) -> PolicyFinding:
    return PolicyFinding(
        rule=judgement.ruling.rule.id,
        verdict=Verdict.UNDETERMINED,
        is_mandatory=judgement.ruling.level.refuses,
        severity=Severity(str(judgement.ruling.rule.severity)),
        ref=reference_of(subject),
        path=undecided.path,
        agent=about.agent if about else "",
        location=about.location(undecided.path, is_exact=False) if about else None,
    )


def reference_of(subject: Subject) -> ObjectRef:
    """Reference of an object as far as it is known."""
    return ObjectRef(
        namespace=_known(lambda: text(subject.metadata.get("namespace"))),
        kind=subject.kind.name,
        name=_known(lambda: subject.name),
        api_version=_known(lambda: text(subject.object.get("apiVersion"))) or subject.kind.group,
    )


def _known(read: Callable[[], str]) -> str:
    try:
        return read()
    except UndeterminedError:
        return ""
