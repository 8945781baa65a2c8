"""Running rules over objects: the pure entry point, without engine and without cluster.

`violations` judges one plain object, `judge_stack` all objects of a stack; `judgements` is what
both and the pack's servicer are made of. A rule that raises is a violation of its own: what cannot
be judged is never taken as fine.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from holdfast_policies.decode.unknown import UndeterminedError
from holdfast_policies.evaluation.embedded import NOT_ASKED, embedded_pods, runs_pods_elsewhere
from holdfast_policies.evaluation.profile import Profile, Ruling, profile_of
from holdfast_policies.evaluation.waivers import Waiver, Waivers
from holdfast_policies.model.bounds import (
    MOST_FINDINGS,
    RULE_SECONDS,
    STACK_RULE_SECONDS,
    TooLongError,
    time_limit,
)
from holdfast_policies.model.finding import Breach, Finding, Undecided
from holdfast_policies.model.kinds import ANY_KIND, DEPLOYMENT
from holdfast_policies.model.rule import Level, Settings, Severity
from holdfast_policies.model.stack import Stack
from holdfast_policies.model.subject import Options, Subject
from holdfast_policies.model.wording import printable

_J = TypeVar("_J", Subject, Stack)
_NOTHING = frozenset({"nothing", "no queue"})
"""What stands where a field is left out."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One violation of one rule by one object.

    Attributes:
        rule: Id of the rule.
        description: What is wrong when the rule is violated, in general.
        level: `advisory` or `mandatory`.
        severity: How bad it is, whatever follows from it.
        path: Field path, list items by name: `spec.containers[name=agent].image`.
        got: What stands there, in words; never the value of a secret.
        required: What must stand there.
        remedy: What to change.
        subject: The object.
        waiver: What allows it, or did until it ended; None when nothing does.
        is_waived: Whether that waiver holds, so that the violation is advisory.
    """

    rule: str
    description: str
    level: Level
    severity: Severity
    path: str
    got: str
    required: str
    remedy: str
    subject: Subject
    waiver: Waiver | None = None
    is_waived: bool = False

    @property
    def note(self) -> str:
        """What to say of the waiver; empty without one."""
        if self.waiver is None:
            return ""
        if self.is_waived:
            return f"waived {self.waiver.words}"
        return f"its waiver {self.waiver.name} ended on {self.waiver.expires}"

    @property
    def message(self) -> str:
        """Path, what was expected, what was found and the remedy, on one printable line."""
        place = f"{self.path}: " if self.path else ""
        note = f" [{self.note}]" if self.note else ""
        return printable(f"{place}expected {self.required}, got {self.got}; {self.remedy}{note}")


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one rule says about one object, or about a stack.

    Attributes:
        ruling: The rule as it is in force.
        violations: Empty when there are none.
        undecided: What could not be judged because a value is not known yet; a rule with neither
            violations nor undecided parts has passed.
    """

    ruling: Ruling
    violations: tuple[Violation, ...]
    undecided: tuple[Undecided, ...]


def violations(
    kube_object: Mapping[str, Any],
    environment: str | Profile,
    config: Mapping[str, Any] | None = None,
    options: Options | None = None,
) -> list[Violation]:
    """Violations of one plain object by the rules about single objects.

    Args:
        kube_object: Nested dicts, lists and JSON scalars with apiVersion and kind. Odd input is
            judged as far as it says anything, and never raises.
        environment: `dev`, `staging`, anything else for production; or a profile made before.
        config: Parsed policy config that overrides the environment.
        options: How a program treats the object; None for one that is in no program.

    Raises:
        PolicyConfigError: the config is wrong.
    """
    profile = _profile(environment, config)
    return [
        violation
        for judgement in judgements(Subject.of(kube_object, options=options), profile)
        for violation in judgement.violations
    ]


def judge_stack(
    kube_objects: Iterable[Mapping[str, Any]],
    environment: str | Profile,
    config: Mapping[str, Any] | None = None,
) -> list[Violation]:
    """Violations of the rules about a whole stack by all of its plain objects.

    Arguments and errors as `violations`.
    """
    profile = _profile(environment, config)
    stack = Stack.of(Subject.of(kube_object) for kube_object in kube_objects)
    return [
        violation
        for judgement in stack_judgements(stack, profile)
        for violation in judgement.violations
    ]


def judgements(subject: Subject, profile: Profile) -> Iterator[Judgement]:
    """What the rules that apply to an object have to say; those that it passes say nothing."""
    for ruling in profile.for_kind(subject.kind):
        if not ruling.is_about(subject):
            continue
        judgement = judgement_of(subject, ruling, profile.waivers)
        if judgement is not None:
            yield judgement
    if runs_pods_elsewhere(subject) and not subject.size_fault:
        yield from _of_embedded(subject, profile)


def _of_embedded(subject: Subject, profile: Profile) -> Iterator[Judgement]:
    """What the rules about pods say of those that stand in an object of another kind."""
    found = [replace(subject, found_pod=pod) for pod in embedded_pods(subject)]
    for ruling in profile.for_kind(DEPLOYMENT) if found else ():
        if ruling.rule.id in NOT_ASKED or subject.kind in ruling.rule.kinds:
            continue
        if ANY_KIND in ruling.rule.kinds or not ruling.is_about(subject):
            continue
        findings = [
            finding
            for each in found
            for finding in _findings(ruling.rule.check, each, ruling.settings, RULE_SECONDS)
            if not (isinstance(finding, Breach) and finding.got in _NOTHING)
        ]
        if findings:
            yield _waived(_judgement(ruling, subject, findings), profile.waivers)


def judgement_of(subject: Subject, ruling: Ruling, waivers: Waivers) -> Judgement | None:
    """What one rule has to say about an object; None when it passes."""
    if subject.size_fault:
        findings: list[Finding | Exception] = [TooLongError(subject.size_fault)]
    else:
        findings = _findings(ruling.rule.check, subject, ruling.settings, RULE_SECONDS)
    return _waived(_judgement(ruling, subject, findings), waivers) if findings else None


def stack_judgements(stack: Stack, profile: Profile) -> Iterator[Judgement]:
    """What the stack rules have to say; those that the stack passes say nothing."""
    nothing = Subject.of({})
    for ruling in profile.stack_rulings:
        if ruling.applies_to is not None and not any(map(ruling.is_about, stack.subjects)):
            continue
        findings = _findings(ruling.rule.check_stack, stack, ruling.settings, STACK_RULE_SECONDS)
        if ruling.applies_to is not None:
            findings = [each for each in findings if _is_meant(each, ruling)]
        if findings:
            yield _waived(_judgement(ruling, nothing, findings), profile.waivers)


def _is_meant(finding: Finding | Exception, ruling: Ruling) -> bool:
    """Whether what a stack rule found is about an object that the rule applies to."""
    subject = None if isinstance(finding, Exception) else finding.subject
    return subject is None or ruling.is_about(subject)


def _profile(environment: str | Profile, config: Mapping[str, Any] | None) -> Profile:
    return environment if isinstance(environment, Profile) else profile_of(environment, config)


def _findings(
    check: Callable[[_J, Settings], Iterable[Finding]] | None,
    judged: _J,
    settings: Settings,
    seconds: float,
) -> list[Finding | Exception]:
    assert check is not None  # noqa: S101  # a profile sorts the rules by what they judge
    findings: list[Finding | Exception] = []
    try:
        with time_limit(seconds):
            # What was found before a fault is kept, and of very much the beginning.
            findings.extend(islice(check(judged, settings), MOST_FINDINGS))
    except UndeterminedError as signal:
        findings.append(Undecided(signal.path))
    except Exception as fault:  # whatever a rule raises must not pass its object
        findings.append(fault)
    return findings


def _judgement(ruling: Ruling, subject: Subject, findings: list[Finding | Exception]) -> Judgement:
    return Judgement(
        ruling,
        tuple(
            _violation(ruling, subject, finding)
            for finding in findings
            if not isinstance(finding, Undecided)
        ),
        tuple(finding for finding in findings if isinstance(finding, Undecided)),
    )


def _waived(judgement: Judgement, waivers: Waivers) -> Judgement:
    """The judgement with what is waived made advisory, and what was waived told."""
    if not waivers.entries or not judgement.violations:
        return judgement
    found = []
    for violation in judgement.violations:
        waiver = waivers.of(violation.subject, violation.rule)
        if waiver is None or waivers.has_ended(waiver):
            found.append(replace(violation, waiver=waiver))
        else:
            level = Level.ADVISORY
            found.append(replace(violation, waiver=waiver, is_waived=True, level=level))
    return replace(judgement, violations=tuple(found))


def _violation(ruling: Ruling, subject: Subject, finding: Breach | Exception) -> Violation:
    rule = ruling.rule
    if isinstance(finding, Breach):
        return Violation(
            rule=rule.id,
            description=rule.description,
            level=Level.MANDATORY if ruling.level.refuses else ruling.level,
            severity=rule.severity,
            path=finding.path,
            got=finding.got,
            required=finding.required,
            remedy=finding.remedy or rule.remedy,
            subject=finding.subject or subject,
        )
    if isinstance(finding, TooLongError):
        return Violation(
            rule=rule.id,
            description=finding.description,
            level=Level.MANDATORY,
            severity=rule.severity,
            path="",
            got=str(finding),
            required="an object that can be judged",
            remedy=finding.remedy,
            subject=subject,
        )
    # The text of the fault may hold a value of the object, even a secret: its place says enough.
    return Violation(
        rule=rule.id,
        description="A rule failed, so that nothing is known about what it judges",
        level=Level.MANDATORY,
        severity=rule.severity,
        path="",
        got=f"{type(finding).__name__} at {_place_of(finding)}",
        required=f"rule {rule.id} to judge {subject.label}",
        remedy="this is a fault of the rule: report it with the object that caused it",
        subject=subject,
    )


def _place_of(fault: Exception) -> str:
    """File and line in which an exception was raised."""
    frame = fault.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    if frame is None:
        return "a place unknown"
    file = Path(frame.tb_frame.f_code.co_filename)
    # Files of own rules go by their names in the repository.
    return f"{file.name if file.is_absolute() else file}:{frame.tb_lineno}"
