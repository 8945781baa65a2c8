"""Findings by name: a field's, and an object's with or without its fields."""

import pytest
from holdfast.drift.finding import DriftClass, Finding
from holdfast.errors import InputError
from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import parse_path
from holdfast.operations.remediate.selection import named_findings

CODER = ObjectRef("dev", "Deployment", "coder", "apps/v1")
FIELDS = [
    Finding(CODER, "coder", DriftClass.CHANGED, parse_path("spec.replicas")),
    Finding(CODER, "coder", DriftClass.ADDED, parse_path("spec.paused")),
]
GONE = Finding(ObjectRef("dev", "Service", "coder", "v1"), "coder", DriftClass.MISSING)


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        pytest.param("Deployment dev/coder", FIELDS, id="object"),
        pytest.param("Deployment dev/coder spec.replicas", FIELDS[:1], id="field"),
        pytest.param("Deployment coder spec", FIELDS, id="above fields"),
        pytest.param("Service dev/coder", [GONE], id="object that is gone"),
    ],
)
def test_only_takes_what_an_object_s_name_covers(name: str, chosen: list[Finding]) -> None:
    assert named_findings(name, [*FIELDS, GONE], "--only", with_fields=True) == chosen


def test_a_rule_of_expected_drift_is_never_about_all_fields_by_mistake() -> None:
    with pytest.raises(InputError, match=r"the scan found 'Deployment dev/coder spec.replicas'"):
        named_findings("Deployment dev/coder", FIELDS, "FINDING")
