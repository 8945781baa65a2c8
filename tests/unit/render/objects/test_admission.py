"""The rules of a stack as policies of its cluster."""

from collections.abc import Mapping
from typing import Any

import pytest
from holdfast.errors import RenderError
from holdfast.kube.managed_fields import FIELD_MANAGER
from holdfast.manifest.stack.admission import AdmissionSettings
from holdfast.render.objects.admission import AdmissionPlan, judged_by, render_admission
from holdfast.render.plan.metadata import Provenance, RenderedObject
from holdfast_policies.evaluation.profile import profile_of

ORIGIN = Provenance("prod")


def rendered(
    profile: str = "prod", namespaces: tuple[str, ...] = ("cx",), **settings: Any
) -> tuple[RenderedObject, ...]:
    chosen = AdmissionSettings(**settings)
    return render_admission(AdmissionPlan("prod", profile_of(profile), chosen, ORIGIN, namespaces))


def of_kind(items: tuple[RenderedObject, ...], kind: str) -> list[Mapping[str, Any]]:
    return [item.manifest for item in items if item.manifest["kind"] == kind]


def test_everything_stands_after_what_it_needs() -> None:
    kinds = [item.manifest["kind"] for item in rendered()]
    assert kinds[:2] == ["CustomResourceDefinition", "PolicyParameters"]
    policies = kinds.index("ValidatingAdmissionPolicyBinding")
    assert set(kinds[2:policies]) == {"ValidatingAdmissionPolicy"}
    assert set(kinds[policies:]) == {"ValidatingAdmissionPolicyBinding"}


def test_every_object_has_a_name_of_its_own_in_the_program() -> None:
    roles = [item.role for item in rendered()]
    assert len(set(roles)) == len(roles)


def test_only_the_kind_of_the_parameters_outlives_the_stack() -> None:
    kept = [item.role for item in rendered() if item.is_retained]
    assert kept == ["admission-definition"]


@pytest.mark.parametrize(("profile", "is_protected"), [("prod", True), ("dev", False)])
def test_the_kind_of_the_parameters_is_protected_where_a_rule_demands_it(
    profile: str, is_protected: bool
) -> None:
    protected = [item.role for item in rendered(profile) if item.is_protected]
    assert protected == (["admission-definition"] if is_protected else [])


def test_every_object_has_the_one_owner_and_its_revision() -> None:
    for item in rendered():
        annotations = item.manifest["metadata"]["annotations"]
        assert annotations["pulumi.com/patchFieldManager"] == FIELD_MANAGER
        assert annotations["holdfast.dev/revision"]


def test_policies_are_for_the_namespaces_of_the_stack() -> None:
    (parameters,) = of_kind(rendered(namespaces=("ops", "cx")), "PolicyParameters")
    assert parameters["spec"]["namespaces"] == ["cx", "ops"]


def test_policies_for_the_whole_cluster_leave_out_what_is_named() -> None:
    items = rendered(scope="cluster", left_out_namespaces=("legacy",))
    (parameters,) = of_kind(items, "PolicyParameters")
    assert parameters["spec"]["namespaces"] == []
    for binding in of_kind(items, "ValidatingAdmissionPolicyBinding"):
        (chosen,) = binding["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"]
        assert (chosen["operator"], chosen["values"]) == ("NotIn", ["legacy"])


def test_controllers_join_the_known_ones() -> None:
    (parameters,) = of_kind(rendered(controllers=("system:x",)), "PolicyParameters")
    assert "system:x" in parameters["spec"]["controllers"]
    assert "system:kube-controller-manager" in parameters["spec"]["controllers"]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        pytest.param("enforce", {"Deny", "Warn", "Audit"}, id="enforce"),
        pytest.param("warn", {"Warn", "Audit"}, id="warn"),
        pytest.param("audit", {"Audit"}, id="audit"),
    ],
)
def test_the_mode_says_what_follows(mode: str, expected: set[str]) -> None:
    bindings = of_kind(rendered("staging", mode=mode), "ValidatingAdmissionPolicyBinding")
    assert {each for item in bindings for each in item["spec"]["validationActions"]} == expected


def test_policies_for_namespaces_need_some() -> None:
    with pytest.raises(RenderError, match="a stack that has none"):
        rendered(namespaces=())


def test_unknown_rules_are_named() -> None:
    with pytest.raises(RenderError, match='there is no rule "pss-privilegd"'):
        judged_by("prod", {"pss-privilegd": "mandatory"})
