"""What the pack puts right before it judges, and what the engine loses of it."""

from typing import Any

import pytest
from google.protobuf import json_format
from holdfast_policies.pack.answers import REMEDIATION_LOST
from holdfast_policies.pack.sdk import proto
from holdfast_policies.table import RULES

from tests.policies.pack_engine import DEPLOYMENT, POD, Context, Engine, pod, struct, summary
from tests.policies.rule_cases import with_value


@pytest.mark.parametrize("token", [POD, DEPLOYMENT, "pulumi:pulumi:Stack"])
def test_nothing_passes_because_nothing_was_remediated(token: str) -> None:
    response = Engine().remediate(pod() if token == POD else {"spec": {"template": pod()}}, token)
    assert not response.remediations
    assert {each.policy_name for each in response.not_applicable} == {rule.id for rule in RULES}


def workload(**context: Any) -> dict[str, Any]:
    made = pod()
    template = {"metadata": made["metadata"], "spec": made["spec"]}
    whole = {"metadata": {**made["metadata"], "name": "a"}, "spec": {"template": template}}
    return with_value(
        whole, "/spec/template/spec/securityContext", {"runAsNonRoot": True, **context}
    )


WITHOUT_PROFILE = workload()
BAD_PROFILE = workload(seccompProfile={"type": "Unconfined"})


@pytest.mark.parametrize("properties", [WITHOUT_PROFILE, BAD_PROFILE], ids=["absent", "unconfined"])
def test_what_was_remediated_is_reported_and_then_passes(properties: dict[str, Any]) -> None:
    engine = Engine()
    response = engine.remediate(properties)
    (remediation,) = response.remediations
    assert remediation.policyName == "pss-seccomp"
    place = "spec.template.spec.securityContext.seccompProfile"
    assert f'put right: {place} = {{"type": "RuntimeDefault"}}' in remediation.description
    changed = json_format.MessageToDict(remediation.properties)
    _, failed = summary(engine, engine.analyze(changed, DEPLOYMENT))
    assert "pss-seccomp" not in failed
    assert not engine.remediate(changed).remediations
    others = {each.policy_name for each in response.not_applicable}
    assert others == {rule.id for rule in RULES} - {"pss-seccomp"}


def test_rules_remediated_each_after_the_one_before() -> None:
    broken = with_value(
        WITHOUT_PROFILE,
        "/spec/template/spec/containers/0/securityContext/allowPrivilegeEscalation",
        True,
    )
    first, second = Engine().remediate(broken).remediations
    assert {first.policyName, second.policyName} == {"pss-seccomp", "pss-privilege-escalation"}
    spec = json_format.MessageToDict(second.properties)["spec"]["template"]["spec"]
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["containers"][0]["securityContext"]["allowPrivilegeEscalation"] is False


def test_nothing_is_remediated_at_another_level() -> None:
    for level in ("disabled", "advisory", "mandatory"):
        assert not Engine(config={"pss-seccomp": level}).remediate(WITHOUT_PROFILE).remediations
    assert not Engine(stack=None).remediate(WITHOUT_PROFILE).remediations


def test_what_the_engine_lost_of_it_is_reported_after_the_update() -> None:
    """As after a replacement that deleted first: the new object is what the program declared."""
    engine = Engine()
    urn = f"urn:pulumi:prod::p::{DEPLOYMENT}::x"
    assert engine.remediate(WITHOUT_PROFILE).remediations
    request = proto.AnalyzeStackRequest()
    made = request.resources.add(type=DEPLOYMENT, name="x", urn=urn)
    made.properties.CopyFrom(struct(WITHOUT_PROFILE))
    found = engine.servicer.AnalyzeStack(request, Context()).diagnostics
    lost = next(each for each in found if each.policyName == REMEDIATION_LOST)
    assert lost.enforcementLevel == proto.MANDATORY
    assert lost.urn == urn
    assert "pss-seccomp had put this right" in lost.message
    assert "run `pulumi up` again" in lost.message
    made.properties.CopyFrom(struct(workload(seccompProfile={"type": "RuntimeDefault"})))
    found = engine.servicer.AnalyzeStack(request, Context()).diagnostics
    assert not [each for each in found if each.policyName == REMEDIATION_LOST]
