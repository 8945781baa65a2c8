"""Every rule on its cases: passing, violated, unknown, not applicable, and within workloads."""

from collections.abc import Mapping
from typing import Any

import pytest
from holdfast_policies.evaluation import judge
from holdfast_policies.evaluation.profile import profile_of
from holdfast_policies.model.kinds import POD_TEMPLATE_PATHS, Kind
from holdfast_policies.model.rule import Rule
from holdfast_policies.model.subject import Subject
from holdfast_policies.table import RULES

from tests.policies.rule_cases import (
    UNKNOWN,
    Case,
    all_cases,
    allowed_case,
    cases_of,
    decoded,
    is_pod,
    pointers,
    run,
    with_unknown,
)

EVERY_CASE = [pytest.param(case, id=case.id) for case in all_cases()]
EVERY_POD_CASE = [pytest.param(case, id=case.id) for case in all_cases() if is_pod(case)]
EVERY_EDIT = [
    pytest.param(case, pointer, id=f"{case.id}{pointer}")
    for rule in RULES
    for case in cases_of(rule)
    for pointer in case.edited
    if case.violates is not None and not case.settings and len(case.edited) == 1
]
EVERY_RULE = [pytest.param(rule, id=rule.id) for rule in RULES]
WRAPPERS = {kind: steps for kind, steps in POD_TEMPLATE_PATHS.items() if steps}
API_VERSIONS = {"": "v1", "apps": "apps/v1", "batch": "batch/v1"}


@pytest.mark.parametrize("case", EVERY_CASE)
def test_judges_the_case_as_expected(case: Case) -> None:
    outcome = run(case)
    assert not outcome.undecided
    assert outcome.paths == ([] if case.violates is None else [case.violates])
    for violation in outcome.violations:
        assert violation.remedy in violation.message
        assert case.says in violation.message
        assert not case.hides or case.hides not in violation.message


@pytest.mark.parametrize("case", EVERY_CASE)
def test_judges_the_same_after_the_way_through_the_engine(case: Case) -> None:
    """Floats, nulls and all: what the engine sends is what the object says."""
    assert run(case, decoded(case.kube_object)).paths == run(case).paths


@pytest.mark.parametrize("case", EVERY_POD_CASE)
def test_a_pod_within_a_workload_is_judged_as_the_pod(case: Case) -> None:
    of_pod = run(case).paths
    for kind, steps in WRAPPERS.items():
        prefix = ".".join(steps)
        expected = [] if _is_excepted(case, kind) else [f"{prefix}.{path}" for path in of_pod]
        assert run(case, wrapped(case.kube_object, kind, steps)).paths == expected, kind


@pytest.mark.parametrize(("case", "pointer"), EVERY_EDIT)
def test_a_value_that_could_violate_is_undetermined_while_unknown(case: Case, pointer: str) -> None:
    """Unknown at the place of the edit, or anywhere above it, is never a pass."""
    while pointer:
        allowed = case.kube_object if _is_of_its_own(case) else allowed_case(case.rule).kube_object
        outcome = run(case, with_unknown(allowed, pointer))
        assert outcome.undecided, pointer
        assert not outcome.violations
        pointer = pointer.rpartition("/")[0]
        if pointer in ("", "/kind"):
            return


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_an_unknown_anywhere_neither_violates_nor_fails(rule: Rule) -> None:
    case = allowed_case(rule)
    for pointer in pointers(case.kube_object):
        if pointer in ("/apiVersion", "/kind"):
            continue  # those come from the type token, which is always known
        outcome = run(case, with_unknown(case.kube_object, pointer))
        assert outcome.violations == (), pointer


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_an_unknown_container_does_not_hide_a_violation_in_the_next(rule: Rule) -> None:
    violating = [case for case in cases_of(rule) if case.violates and is_pod(case)]
    for case in violating:
        if (
            "containers[name=agent]" not in str(case.violates)
            or "initContainers" not in case.kube_object["spec"]
        ):
            continue
        unknown = with_unknown(case.kube_object, "/spec/initContainers/0")
        outcome = run(case, unknown)
        assert case.violates in outcome.paths
        assert outcome.undecided


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_says_nothing_about_kinds_it_does_not_apply_to(rule: Rule) -> None:
    foreign = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": {"holder": "x"}}
    assert run(Case(rule, "foreign", foreign)).paths == []


def test_unknown_is_one_of_the_engine_s_reserved_texts() -> None:
    subject = Subject.of(with_unknown(allowed_case(RULES[0]).kube_object, "/spec/hostNetwork"))
    (judgement,) = judge.judgements(
        subject, profile_of("prod", {"all": "disabled", "pss-host-namespaces": "mandatory"})
    )
    assert judgement.undecided[0].path == "spec.hostNetwork"
    assert UNKNOWN not in str(judgement)


def wrapped(pod: Mapping[str, Any], kind: Kind, steps: tuple[str, ...]) -> dict[str, Any]:
    """A workload whose template is the pod."""
    inner: Any = {"metadata": pod.get("metadata"), "spec": pod.get("spec")}
    for step in reversed(steps):
        inner = {step: inner}
    metadata = {
        key: value for key, value in pod["metadata"].items() if key in ("name", "namespace")
    }
    version = API_VERSIONS.get(kind.group, f"{kind.group}/v1beta1")
    return {"apiVersion": version, "kind": kind.name, "metadata": metadata, **inner}


def _is_excepted(case: Case, kind: Kind) -> bool:
    """Whether a case does not hold for a kind of workload.

    A SandboxTemplate's controller makes a network policy, whatever else is in the stack.
    """
    has_own_policy = case.rule.check is None and kind.name == "SandboxTemplate"
    return kind.name in case.excepted or has_own_policy


def _is_of_its_own(case: Case) -> bool:
    return case.kube_object.get("kind") != allowed_case(case.rule).kube_object.get("kind")
