"""Expected drift: which rule expects which finding, and what becomes of the rules themselves."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from holdfast.drift.exemption.ignore import IgnoreRule, IgnoreRules
from holdfast.drift.finding import Actor, DriftClass, DriftReport, Finding, Severity
from holdfast.errors import SourceLocation
from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import parse_path
from hypothesis import given
from hypothesis import strategies as st

TODAY = date(2026, 11, 21)
TOMORROW, YESTERDAY = date(2026, 11, 22), date(2026, 11, 20)
REF = ObjectRef("cx", "Deployment", "support-rag", "apps/v1")
SIDECAR = parse_path("spec.template.spec.containers[name=mesh]")
FOUND = Finding(REF, "support-rag", DriftClass.ADDED, SIDECAR, actors=(Actor("mesh-injector"),))
STRANGER = Finding(REF, "", DriftClass.UNMANAGED, actors=(Actor("helm"),))
PLACE = SourceLocation("stacks/drift-ignore.yaml", 2, 5)


def rule(line: int = 2, **parts: Any) -> IgnoreRule:
    """A rule that expects `FOUND` by its path, but for the parts given."""
    default = IgnoreRule(
        SourceLocation(PLACE.file, line, 5),
        kind="Deployment",
        name="support-*",
        namespace="cx",
        paths=(SIDECAR,),
        expires=TODAY,
    )
    return replace(default, **parts)


@pytest.mark.parametrize(
    ("parts", "finding"),
    [
        pytest.param({}, FOUND, id="the path itself"),
        pytest.param({}, replace(FOUND, path=(*SIDECAR, "image")), id="what stands below the path"),
        pytest.param(
            {"paths": (parse_path("spec.template.spec.containers[*]"),)}, FOUND, id="any item"
        ),
        pytest.param(
            {"paths": (parse_path("spec.ports[port=80]"),)},
            replace(FOUND, path=parse_path("spec.ports[port=80,protocol=TCP]")),
            id="a part of a composite key",
        ),
        pytest.param({"paths": (), "managers": ("mesh-*",)}, FOUND, id="a manager by glob"),
        pytest.param({"managers": ("mesh-*",)}, FOUND, id="path and manager"),
        pytest.param({"group": "apps", "kind": "*"}, FOUND, id="group"),
        pytest.param({"agent": "support-rag"}, FOUND, id="agent"),
        pytest.param({"expires": None}, FOUND, id="a rule without an end"),
        pytest.param({"paths": (), "managers": ("helm",)}, STRANGER, id="another tool's object"),
    ],
)
def test_a_rule_expects(parts: dict[str, Any], finding: Finding) -> None:
    report = IgnoreRules([rule(**parts)], TODAY).applied_to(DriftReport((finding,)))
    assert report.findings == ()
    (ignored,) = report.ignored
    assert ignored.findings == (finding,)


@pytest.mark.parametrize(
    ("parts", "finding"),
    [
        pytest.param({}, replace(FOUND, path=SIDECAR[:-1]), id="what stands around the path"),
        pytest.param({}, replace(FOUND, path=()), id="a whole object, by a path"),
        pytest.param({"name": "coder"}, FOUND, id="another name"),
        pytest.param({"namespace": "dev"}, FOUND, id="another namespace"),
        pytest.param({"kind": "deployment"}, FOUND, id="another spelling of the kind"),
        pytest.param({"agent": "coder"}, FOUND, id="another agent"),
        pytest.param({"group": ""}, FOUND, id="another group"),
        pytest.param({"paths": (), "managers": ("kubectl-*",)}, FOUND, id="another manager"),
        pytest.param(
            {"paths": (), "managers": ("mesh-*",)},
            replace(FOUND, actors=(Actor("mesh-injector"), Actor("kubectl-edit"))),
            id="one more manager",
        ),
        pytest.param(
            {"paths": (), "managers": ("*",)}, replace(FOUND, actors=()), id="nobody known"
        ),
    ],
)
def test_a_rule_does_not_expect(parts: dict[str, Any], finding: Finding) -> None:
    report = IgnoreRules([rule(**parts)], TODAY).applied_to(DriftReport((finding,)))
    assert report.findings == (finding,)
    assert [each.findings for each in report.ignored] == [()]


def test_an_expired_rule_hides_nothing_and_is_drift_itself() -> None:
    expired = rule(expires=YESTERDAY)
    report = IgnoreRules([expired], TODAY).applied_to(DriftReport((FOUND,)))
    assert report.ignored == ()
    assert {each.ref.kind for each in report.drift} == {"Deployment", "DriftIgnore"}
    (finding,) = (each for each in report.drift if each.ref.kind == "DriftIgnore")
    assert (finding.ref.name, finding.live) == (str(PLACE), "2026-11-20")
    assert finding.severity is Severity.MEDIUM


@given(st.lists(st.sampled_from([FOUND, STRANGER, replace(FOUND, path=())])), st.data())
def test_each_finding_is_reported_or_counted_by_exactly_one_rule(
    found: list[Finding], data: st.DataObject
) -> None:
    kinds = data.draw(st.lists(st.sampled_from(["Deployment", "Job"]), max_size=3))
    rules = [
        rule(line, kind=kind, paths=(), managers=("*",), expires=TOMORROW)
        for line, kind in enumerate(kinds, 2)
    ]
    report = IgnoreRules(rules, TODAY).applied_to(DriftReport(tuple(found)))
    counted = [each for ignored in report.ignored for each in ignored.findings]
    assert sorted(map(repr, [*report.findings, *counted])) == sorted(map(repr, found))
