"""Every rule has cases of every sort: allowed, disallowed, unknown, waived, not applicable."""

from collections import Counter
from datetime import date
from functools import cache

import pytest
from holdfast_policies.evaluation import judge
from holdfast_policies.evaluation.profile import Profile, Ruling
from holdfast_policies.evaluation.waivers import Waiver, Waivers, target_of
from holdfast_policies.model.kinds import ANY_KIND, Kind
from holdfast_policies.model.rule import Environment, Level, Rule
from holdfast_policies.model.stack import Stack
from holdfast_policies.model.subject import Subject
from holdfast_policies.table import RULES

from tests.policies.rule_cases import Case, allowed_case, cases_of, pointers, run, with_unknown

EVERY_RULE = [pytest.param(rule, id=rule.id) for rule in RULES]
SORTS = ("allowed", "disallowed", "unknown", "waived", "not applicable")
DAY = date(2026, 3, 1)
FOREIGN = Kind("coordination.k8s.io", "Lease")
JUDGES_ALL = {
    "no-literal-credentials": "credentials stand anywhere",
    "no-security-ignore-changes": "any object may be updated with changes ignored",
    "stack-preview-certainty": "any object may hide a verdict",
    "typed-fields": "any object has fields with types",
    "no-opaque-deployment": "any kind may deliver others",
    "unjudged-kind": "any kind may be unknown",
}
"""Rules to which every kind of object is their business, and why."""
ALWAYS_KNOWN = {
    "image-signature-verification-in-place": "policies are known by their kinds",
    "no-opaque-deployment": "the kind is known by the type token",
    "stateful-protected": "the program's options are known",
    "stack-preview-certainty": "what is unknown was told by the other rules",
    "typed-fields": "what is computed has the type of its output",
    "unjudged-kind": "the kind is known by the type token",
}
"""Rules that read nothing which could be unknown, and why."""
OF_NO_OBJECT = {"stack-preview-certainty": "its violations are of the preview as a whole"}


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_every_rule_has_cases_of_every_sort(rule: Rule) -> None:
    counted = counts(rule)
    excused: set[str] = set()
    if rule.id in JUDGES_ALL:
        excused.add("not applicable")
    excused |= {"unknown"} if rule.id in ALWAYS_KNOWN else set()
    excused |= {"waived"} if rule.id in OF_NO_OBJECT else set()
    missing = [sort for sort in SORTS if not counted[sort] and sort not in excused]
    assert not missing, counted


def test_those_that_judge_everything_are_the_ones_that_say_so() -> None:
    assert {rule.id for rule in RULES if ANY_KIND in rule.kinds} == JUDGES_ALL.keys()


def test_there_are_more_than_a_thousand_cases_of_all_rules() -> None:
    total: Counter[str] = Counter()
    for rule in RULES:
        total += counts(rule)
    assert len(RULES) > 70
    assert total.total() > 1000, total


@cache
def counts(rule: Rule) -> Counter[str]:
    """How many cases of each sort a rule has."""
    written = [allowed_case(rule), *cases_of(rule)]
    violating = [case for case in written if case.violates is not None]
    unknown = [
        pointer
        for pointer in pointers(allowed_case(rule).kube_object)
        if pointer not in ("/apiVersion", "/kind")  # the type token says them
        and run(allowed_case(rule), with_unknown(allowed_case(rule).kube_object, pointer)).undecided
    ]
    return Counter(
        {
            "allowed": len(written) - len(violating),
            "disallowed": len(violating),
            "unknown": len(unknown),
            "waived": sum(is_waived(case) for case in violating),
            "not applicable": not {FOREIGN, ANY_KIND} & rule.kinds,
        }
    )


def is_waived(case: Case) -> bool:
    """Whether a waiver of the object makes a violation advisory, and nothing else of it."""
    before = judged(case, Waivers())
    targets = {target for each in before if (target := target_of(each.subject)) is not None}
    entries = tuple(
        Waiver(f"w{number}", (case.rule.id,), *target, "r", "o", "t", "a", DAY)
        for number, target in enumerate(sorted(targets))
    )
    after = judged(case, Waivers(entries, DAY))
    assert [each.path for each in after] == [each.path for each in before]
    return all(each.is_waived and each.level is Level.ADVISORY for each in after)


def judged(case: Case, waivers: Waivers) -> list[judge.Violation]:
    settings = {each.name: each.value_in(Environment.PROD) for each in case.rule.parameters}
    ruling = Ruling(case.rule, Level.MANDATORY, settings | dict(case.settings))
    profile = Profile(Environment.PROD, (ruling,), waivers)
    if case.rule.check is not None:
        found = judge.judgements(Subject.of(case.kube_object, options=case.options), profile)
    else:
        subjects = (Subject.of(each) for each in (case.kube_object, *case.others))
        found = judge.stack_judgements(Stack.of(subjects, case.hidden), profile)
    return [violation for each in found for violation in each.violations]
