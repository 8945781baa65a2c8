"""The pack as the engine meets it: real requests, real answers."""

import importlib.metadata
import json
from collections.abc import Iterator, Mapping
from typing import Any

import grpc
import pytest
from google.protobuf import json_format, struct_pb2
from holdfast_policies.finding import Finding
from holdfast_policies.kinds import ANY_KIND, Kind
from holdfast_policies.pack.answers import MENDING_LOST, UNDETERMINED
from holdfast_policies.pack.sdk import proto
from holdfast_policies.pack.servicer import Servicer
from holdfast_policies.rule import Settings
from holdfast_policies.subject import Subject
from holdfast_policies.table import RULES, RULES_BY_ID

from tests.policies.rule_cases import UNKNOWN, allowed_case, with_value

SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
POD = "kubernetes:core/v1:Pod"


class AbortedError(Exception):
    """What gRPC raises in place of an answer."""


class Context:
    """The part of a gRPC context that a servicer uses."""

    def abort(self, code: grpc.StatusCode, details: str) -> None:
        raise AbortedError(code, details)


class Engine:
    """Talks to a servicer as the engine does, in its order."""

    def __init__(
        self,
        stack: str | None = "prod",
        config: Mapping[str, Any] | None = None,
        stack_config: Mapping[str, str] | None = None,
    ) -> None:
        self.servicer: Any = Servicer()
        self.stack = stack
        if stack is not None:
            request = proto.AnalyzerStackConfigureRequest(stack=stack, project="p", dry_run=True)
            request.config.update(stack_config or {})
            self.servicer.ConfigureStack(request, Context())
        self.info = self.servicer.GetAnalyzerInfo(None, Context())
        self.configure(config or {})

    def configure(self, config: Mapping[str, Any]) -> None:
        """Send what we announced, with what a file overrides, as the engine merges them."""
        request = proto.ConfigureAnalyzerRequest()
        names = {policy.name: policy.enforcementLevel for policy in self.info.policies}
        for name in {**names, **config}:
            given = config.get(name, {})
            given = {"enforcementLevel": given} if isinstance(given, str) else dict(given)
            level = given.pop("enforcementLevel", None)
            number = proto.EnforcementLevel.Value(level.upper()) if level else names[name]
            request.policyConfig[name].enforcementLevel = number
            request.policyConfig[name].properties.update(given)
        self.servicer.Configure(request, Context())

    def analyze(self, properties: Mapping[str, Any], token: str = POD) -> Any:
        """Judge one resource."""
        urn = f"urn:pulumi:{self.stack or 'dev'}::p::{token}::x"
        request = proto.AnalyzeRequest(type=token, name="x", urn=urn)
        request.properties.CopyFrom(struct(properties))
        return self.servicer.Analyze(request, Context())

    def remediate(self, properties: Mapping[str, Any], token: str = DEPLOYMENT) -> Any:
        """Ask what is to be put right, as the engine does before it asks for a judgement."""
        urn = f"urn:pulumi:{self.stack or 'dev'}::p::{token}::x"
        request = proto.AnalyzeRequest(type=token, name="x", urn=urn)
        request.properties.CopyFrom(struct(properties))
        return self.servicer.Remediate(request, Context())

    def analyze_stack(self, *resources: tuple[str, Mapping[str, Any]]) -> Any:
        """Judge resources together."""
        request = proto.AnalyzeStackRequest()
        for number, (token, properties) in enumerate(resources):
            urn = f"urn:pulumi:prod::p::{token}::r{number}"
            resource = request.resources.add(type=token, name=f"r{number}", urn=urn)
            resource.properties.CopyFrom(struct(properties))
        return self.servicer.AnalyzeStack(request, Context())


def struct(properties: Mapping[str, Any]) -> struct_pb2.Struct:
    message = struct_pb2.Struct()
    json_format.ParseDict(dict(properties), message)
    return message


def pod(pointer: str = "", value: Any = None) -> dict[str, Any]:
    allowed = allowed_case(RULES[0]).kube_object
    return with_value(allowed, pointer, value) if pointer else allowed


def summary(engine: Engine, response: Any, stack: bool = False) -> tuple[set[str], set[str]]:
    """What the engine makes of an answer: names of policies that passed, and that failed."""
    wanted = proto.POLICY_TYPE_STACK if stack else proto.POLICY_TYPE_RESOURCE
    failed = {each.policyName for each in response.diagnostics}
    left_out = {each.policy_name for each in response.not_applicable}
    passed = {each.name for each in engine.info.policies if each.policy_type == wanted}
    return passed - failed - left_out, failed


PRIVILEGED = pod("/spec/containers/0/securityContext/privileged", True)


def test_the_sdk_is_of_the_versions_this_was_written_for() -> None:
    version = importlib.metadata.version("pulumi-policy")
    assert version.startswith("1.21."), "read pack/sdk.py and pack/servicer.py against the new one"


def test_tells_the_engine_everything_about_every_rule() -> None:
    info = Engine().info
    assert info.name == "holdfast"
    assert info.supportsConfig
    assert [policy.name for policy in info.policies] == [rule.id for rule in RULES]
    for policy in info.policies:
        rule = RULES_BY_ID[policy.name]
        assert policy.displayName == rule.title
        assert policy.remediation_steps == rule.remedy
        assert policy.url == rule.source
        assert list(policy.tags) == list(rule.frameworks)
        assert proto.PolicySeverity.Name(policy.severity).endswith(rule.severity.upper())
        is_stack_rule = rule.check is None
        assert (policy.policy_type == proto.POLICY_TYPE_STACK) is is_stack_rule


def test_config_schemas_bind_whole_texts() -> None:
    policies = {policy.name: policy for policy in Engine().info.policies}
    schema = json_format.MessageToDict(policies["pss-sysctls"].configSchema.properties)
    assert schema["pss_version"]["pattern"].startswith("^(?:")
    assert "default" not in schema["pss_version"]


def test_a_violation_has_the_name_level_and_severity_of_its_rule() -> None:
    (diagnostic,) = Engine().analyze(PRIVILEGED).diagnostics
    assert diagnostic.policyName == "pss-privileged"
    assert diagnostic.enforcementLevel == proto.MANDATORY
    assert diagnostic.severity == proto.POLICY_SEVERITY_CRITICAL
    assert diagnostic.message.startswith(RULES_BY_ID["pss-privileged"].description)
    assert "spec.containers[name=agent].securityContext.privileged" in diagnostic.message


@pytest.mark.parametrize(
    ("stack", "level"),
    [("dev", proto.ADVISORY), ("staging", proto.MANDATORY), ("x", proto.MANDATORY)],
)
def test_the_stack_sets_the_level(stack: str, level: int) -> None:
    (diagnostic,) = Engine(stack).analyze(pod("/spec/serviceAccountName", "default")).diagnostics
    assert diagnostic.enforcementLevel == level


def test_the_settings_of_the_stack_set_profile_and_rules() -> None:
    settings = {"profile": "dev", "rules": {"pss-privileged": {"enforcementLevel": "advisory"}}}
    engine = Engine("eu-1", stack_config={"holdfast:policy": json.dumps(settings)})
    announced = {policy.name: policy.enforcementLevel for policy in engine.info.policies}
    assert announced["pss-privileged"] == announced["dedicated-service-account"] == proto.ADVISORY
    (diagnostic,) = engine.analyze(PRIVILEGED).diagnostics
    assert diagnostic.enforcementLevel == proto.ADVISORY


def test_a_rule_in_the_settings_of_the_stack_may_be_a_level_alone() -> None:
    settings = json.dumps({"rules": {"all": "advisory", "pss-privileged": "disabled"}})
    engine = Engine("prod", stack_config={"holdfast:policy": settings})
    both = with_value(PRIVILEGED, "/spec/serviceAccountName", "default")
    (diagnostic,) = engine.analyze(both).diagnostics
    assert diagnostic.policyName == "dedicated-service-account"
    assert diagnostic.enforcementLevel == proto.ADVISORY


def test_a_config_file_overrides_the_settings_of_the_stack() -> None:
    rules = {"no-token-automount": {"enforcementLevel": "advisory", "accounts": ["agents/agent"]}}
    settings = json.dumps({"rules": rules})
    asked_for = pod("/spec/automountServiceAccountToken", True)
    engine = Engine("prod", stack_config={"holdfast:policy": settings})
    assert not engine.analyze(asked_for).diagnostics
    overridden = Engine(
        "prod",
        {"no-token-automount": {"accounts": ["agents/other"]}},
        stack_config={"holdfast:policy": settings},
    )
    (diagnostic,) = overridden.analyze(asked_for).diagnostics
    assert diagnostic.enforcementLevel == proto.ADVISORY


@pytest.mark.parametrize(
    "settings", ['{"profile": "production"}', '{"rules": {"nonsense": {}}}', "[]", "{"]
)
def test_wrong_settings_of_the_stack_are_refused(settings: str) -> None:
    with pytest.raises(AbortedError, match="holdfast:policy"):
        Engine("prod", stack_config={"holdfast:policy": settings})


def test_without_a_stack_the_urn_sets_the_level_unless_a_file_does() -> None:
    """`pulumi policy analyze` names no stack."""
    default_account = pod("/spec/serviceAccountName", "default")
    (diagnostic,) = Engine(None).analyze(default_account).diagnostics
    assert diagnostic.enforcementLevel == proto.ADVISORY
    config = {"dedicated-service-account": "mandatory"}
    (diagnostic,) = Engine(None, config).analyze(default_account).diagnostics
    assert diagnostic.enforcementLevel == proto.MANDATORY


def test_a_config_file_changes_level_and_parameters() -> None:
    config = {
        "pss-privileged": "advisory",
        "dedicated-service-account": {"shared_accounts": ["agent"]},
    }
    first, second = Engine("prod", config).analyze(PRIVILEGED).diagnostics
    assert (first.policyName, first.enforcementLevel) == ("pss-privileged", proto.ADVISORY)
    assert (second.policyName, second.enforcementLevel) == (
        "dedicated-service-account",
        proto.MANDATORY,
    )


def test_a_disabled_rule_neither_passes_nor_fails() -> None:
    engine = Engine("prod", {"pss-privileged": "disabled"})
    passed, failed = summary(engine, engine.analyze(PRIVILEGED))
    assert "pss-privileged" not in passed | failed


@pytest.mark.parametrize(
    ("config", "fault"),
    [
        ({"pss-privilegd": "advisory"}, 'did you mean "pss-privileged"?'),
        ({"pss-sysctls": {"versoin": "1.30"}}, 'no parameter "versoin"'),
        ({"pss-host-path": "remediate"}, "this rule never puts an object right"),
        ({"image-registry-allowlist": {"registries": []}}, "empty list"),
    ],
)
def test_a_wrong_config_file_is_refused(config: dict[str, Any], fault: str) -> None:
    with pytest.raises(AbortedError) as caught:
        Engine("prod", config)
    code, details = caught.value.args
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert fault in details


def test_an_unknown_value_is_a_note_and_neither_passes_nor_fails() -> None:
    engine = Engine()
    response = engine.analyze(pod("/spec/containers/0/image", UNKNOWN))
    (note,) = response.diagnostics
    assert note.policyName == UNDETERMINED
    assert note.enforcementLevel == proto.ADVISORY
    assert "image-digest-pinned: spec.containers[name=agent].image" in note.message
    passed, failed = summary(engine, response)
    assert failed == {UNDETERMINED}
    assert not passed & {"image-digest-pinned", "image-registry-allowlist"}


def test_a_violation_beside_an_unknown_still_counts() -> None:
    properties = with_value(
        PRIVILEGED, "/spec/initContainers/0/securityContext/privileged", UNKNOWN
    )
    violation, note = Engine().analyze(properties).diagnostics
    assert violation.policyName == "pss-privileged"
    assert violation.enforcementLevel == proto.MANDATORY
    assert note.policyName == UNDETERMINED


def test_every_rule_but_the_failed_ones_passes_where_it_applies() -> None:
    engine = Engine()
    passed, failed = summary(engine, engine.analyze(PRIVILEGED))
    pod = Kind("", "Pod")
    applied = {rule.id for rule in RULES if rule.check and {pod, ANY_KIND} & rule.kinds}
    assert failed == {"pss-privileged"}
    assert passed == applied - failed


@pytest.mark.parametrize("token", ["pulumi:pulumi:Stack", "pulumi:providers:kubernetes", "a:b:C"])
def test_nothing_passes_on_what_is_no_kubernetes_object(token: str) -> None:
    engine = Engine()
    assert summary(engine, engine.analyze({"spec": {}}, token)) == (set(), set())


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
def test_what_was_put_right_is_told_and_then_passes(properties: dict[str, Any]) -> None:
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


def test_rules_put_right_each_after_the_one_before() -> None:
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


def test_nothing_is_put_right_at_another_level() -> None:
    for level in ("disabled", "advisory", "mandatory"):
        assert not Engine(config={"pss-seccomp": level}).remediate(WITHOUT_PROFILE).remediations
    assert not Engine(stack=None).remediate(WITHOUT_PROFILE).remediations


def test_what_the_engine_lost_of_it_is_told_after_the_update() -> None:
    """As after a replacement that deleted first: the new object is what the program declared."""
    engine = Engine()
    urn = f"urn:pulumi:prod::p::{DEPLOYMENT}::x"
    assert engine.remediate(WITHOUT_PROFILE).remediations
    request = proto.AnalyzeStackRequest()
    made = request.resources.add(type=DEPLOYMENT, name="x", urn=urn)
    made.properties.CopyFrom(struct(WITHOUT_PROFILE))
    found = engine.servicer.AnalyzeStack(request, Context()).diagnostics
    lost = next(each for each in found if each.policyName == MENDING_LOST)
    assert lost.enforcementLevel == proto.MANDATORY
    assert lost.urn == urn
    assert "pss-seccomp had put this right" in lost.message
    assert "run `pulumi up` again" in lost.message
    made.properties.CopyFrom(struct(workload(seccompProfile={"type": "RuntimeDefault"})))
    found = engine.servicer.AnalyzeStack(request, Context()).diagnostics
    assert not [each for each in found if each.policyName == MENDING_LOST]


def test_a_patch_cannot_be_decided() -> None:
    engine = Engine()
    response = engine.analyze({"spec": {}}, "kubernetes:apps/v1:DeploymentPatch")
    (note,) = response.diagnostics
    assert note.policyName == UNDETERMINED
    passed, _ = summary(engine, response)
    assert not passed


def test_the_type_token_says_the_kind_where_the_program_does_not() -> None:
    template = {"metadata": {}, "spec": {"hostNetwork": True, "containers": []}}
    response = Engine().analyze({"spec": {"template": template}}, DEPLOYMENT)
    assert "pss-host-namespaces" in {each.policyName for each in response.diagnostics}


def test_a_secret_is_judged_and_never_shown() -> None:
    secret = {**SECRET, "value": "sk-ant-api03-AAAAbbbbCCCCddddEEEEffff"}
    response = Engine().analyze(pod("/spec/containers/0/env/0/value", secret))
    (diagnostic,) = response.diagnostics
    assert diagnostic.policyName == "no-literal-credentials"
    assert "AAAAbbbb" not in str(response)


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("/spec", {"hostNetwork": True, "containers": [{"name": "hush-1", "image": "hush-2"}]}),
        ("/spec/containers/0/image", "hush-3"),
        ("/spec/containers/0/securityContext/capabilities/add", ["hush-4"]),
        ("/spec/volumes/0/hostPath", {"path": "/hush-5"}),
        ("/spec/containers/0/name", "hush-6"),
    ],
)
def test_what_the_program_declared_secret_is_never_shown(pointer: str, value: Any) -> None:
    properties = with_value(PRIVILEGED, pointer, {**SECRET, "value": value})
    response = Engine().analyze(properties)
    assert response.diagnostics
    assert "hush" not in str(response)


def test_a_secret_does_not_hide_what_is_in_it() -> None:
    secret = {**SECRET, "value": {"privileged": True}}
    response = Engine().analyze(pod("/spec/containers/0/securityContext", secret))
    assert "pss-privileged" in {each.policyName for each in response.diagnostics}


@pytest.fixture
def broken_rule() -> Iterator[str]:
    """A rule that raises, with a value of the object in the text of what it raises."""
    rule = RULES_BY_ID["pss-sysctls"]
    check = rule.check

    def broken(subject: Subject, _: Settings) -> list[Finding]:
        raise KeyError(subject.spec["serviceAccountName"])

    object.__setattr__(rule, "check", broken)
    yield rule.id
    object.__setattr__(rule, "check", check)


def test_a_rule_that_raises_fails_closed_and_names_itself_and_the_resource(
    broken_rule: str,
) -> None:
    (diagnostic,) = Engine("dev").analyze(pod("/metadata/name", "w")).diagnostics
    assert diagnostic.policyName == broken_rule
    assert diagnostic.enforcementLevel == proto.MANDATORY
    assert "KeyError at test_servicer.py:" in diagnostic.message
    assert "Pod agents/w" in diagnostic.message
    assert "'agent'" not in diagnostic.message


OUTSIDE = {
    "image-signature-verification-in-place": "disabled",
    "stack-admission-parity": "disabled",
}
"""What a few resources alone would miss."""


def test_stack_rules_judge_all_resources_together() -> None:
    policy = {
        "metadata": {"name": "p", "namespace": "agents"},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
    }
    engine = Engine(config=OUTSIDE)
    about_stacks = {rule.id for rule in RULES if rule.check is None}
    covered = engine.analyze_stack(
        (POD, pod()), ("kubernetes:networking.k8s.io/v1:NetworkPolicy", policy)
    )
    assert not covered.diagnostics
    assert summary(engine, covered, stack=True) == (about_stacks, set())
    bare = engine.analyze_stack((POD, pod()))
    (diagnostic,) = bare.diagnostics
    assert diagnostic.policyName == "stack-network-policy-coverage"
    assert diagnostic.urn.endswith("::r0")


def test_two_agents_with_one_account_are_told_apart_by_label() -> None:
    policy = {
        "metadata": {"name": "p", "namespace": "agents"},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
    }
    covering = ("kubernetes:networking.k8s.io/v1:NetworkPolicy", policy)
    other = pod("/metadata/labels/app.kubernetes.io~1name", "other")
    response = Engine(config=OUTSIDE).analyze_stack(covering, (POD, pod()), (POD, other))
    assert [each.policyName for each in response.diagnostics] == ["dedicated-service-account"] * 2
    assert "which other uses as well" in response.diagnostics[0].message
    assert (
        not Engine(config=OUTSIDE).analyze_stack(covering, (POD, pod()), (POD, pod())).diagnostics
    )


def test_an_unknown_namespace_leaves_the_stack_rule_open() -> None:
    engine = Engine(config=OUTSIDE)
    response = engine.analyze_stack((POD, pod("/metadata/namespace", UNKNOWN)))
    (note,) = response.diagnostics
    assert note.policyName == UNDETERMINED
    assert "stack-network-policy-coverage: metadata.namespace" in note.message
    passed, _ = summary(engine, response, stack=True)
    assert "stack-network-policy-coverage" not in passed
