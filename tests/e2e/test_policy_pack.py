"""The policy pack on the real engine: what it refuses, what it says, and what it leaves open."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from holdfast.adapters.engine.failures.failures import RunFailedError
from holdfast.adapters.engine.results import RunResult
from holdfast.errors import EngineError, ExitCode
from holdfast_policies.model.kinds import ANY_KIND, CONFIG_MAP, DEPLOYMENT, NETWORK_POLICY, Kind
from holdfast_policies.pack.answers import REMEDIATION_LOST, UNDETERMINED
from holdfast_policies.table import RULES

from tests.e2e.live_sandbox import Kubectl, LiveSandbox, run_holdfast
from tests.e2e.policy_project import LATER, PACK, PolicyProject

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("engine_of_the_toolchain")]

IMAGE = "/spec/containers/0/image"
PRIVILEGED = {"/spec/containers/0/securityContext/privileged": True}
NO_PROFILE = "/spec/securityContext"
DEFAULT_ACCOUNT = {"/spec/serviceAccountName": "default"}


@pytest.fixture
def project(sandbox: LiveSandbox, namespace: str, tmp_path: Path) -> PolicyProject:
    project = PolicyProject(tmp_path / "project", sandbox.kubeconfig(), namespace)
    project.create()
    return project


def found(result: RunResult) -> list[tuple[str, str]]:
    return [(violation.policy, violation.level) for violation in result.violations]


def rules_about(kind: Kind) -> set[str]:
    return {rule.id for rule in RULES if rule.check and {kind, ANY_KIND} & rule.kinds}


def test_a_compliant_agent_passes_every_rule_in_production(project: PolicyProject) -> None:
    result = project.preview(project.stack("prod"))
    assert found(result) == []
    assert set(project.summaries["deployment"].passed) == rules_about(DEPLOYMENT)
    assert set(project.summaries["networkpolicy"].passed) == rules_about(NETWORK_POLICY)
    assert set(project.summaries["source"].passed) == rules_about(CONFIG_MAP)
    about_stacks = {rule.id for rule in RULES if rule.check is None}
    assert set(project.summaries[""].passed) == about_stacks


def test_a_mandatory_violation_is_refused_with_rule_level_and_remedy(
    project: PolicyProject,
) -> None:
    project.declare(PRIVILEGED)
    with pytest.raises(RunFailedError) as raised:
        project.stack("prod").preview(policy_pack=PACK)
    assert raised.value.exit_code == ExitCode.POLICY
    (violation,) = raised.value.result.violations
    assert (violation.policy, violation.level) == ("pss-privileged", "mandatory")
    assert violation.severity == "critical"
    assert "spec.template.spec.containers[name=agent].securityContext.privileged" in str(violation)
    assert "remove privileged" in violation.message


def test_the_same_agent_is_only_warned_about_on_dev(project: PolicyProject) -> None:
    project.declare(DEFAULT_ACCOUNT)
    assert found(project.preview(project.stack("dev"))) == [
        ("dedicated-service-account", "advisory")
    ]


def test_a_config_file_changes_levels_and_parameters(project: PolicyProject) -> None:
    project.declare(DEFAULT_ACCOUNT)
    config = {
        "dedicated-service-account": "advisory",
        "image-registry-allowlist": {"registries": ["other.example"]},
    }
    assert set(found(project.preview(project.stack("prod"), config))) == {
        ("dedicated-service-account", "advisory"),
        ("image-registry-allowlist", "mandatory"),
        ("rule-weakened", "advisory"),
    }


def test_the_settings_of_a_stack_change_profile_and_parameters(project: PolicyProject) -> None:
    project.declare(DEFAULT_ACCOUNT)
    rules = {"image-registry-allowlist": {"registries": ["other.example"]}}
    stack = project.stack("eu-1", {"profile": "dev", "rules": rules})
    assert set(found(project.preview(stack))) == {
        ("dedicated-service-account", "advisory"),
        ("image-registry-allowlist", "advisory"),
        ("rule-weakened", "advisory"),
    }


@pytest.mark.parametrize(
    ("config", "fault"),
    [
        ({"pss-privilegd": "advisory"}, 'did you mean "pss-privileged"?'),
        ({"image-registry-allowlist": {"registries": []}}, "at least 1 items"),
    ],
)
def test_a_wrong_config_file_ends_the_run(
    project: PolicyProject, config: dict[str, object], fault: str
) -> None:
    with pytest.raises(EngineError) as raised:
        project.preview(project.stack("prod"), config)
    assert fault in str(raised.value)


def test_an_unknown_value_is_left_open_at_preview_and_decided_at_update(
    project: PolicyProject,
) -> None:
    project.declare({IMAGE: f"{LATER}registry.example/agent:latest"})
    stack = project.stack("prod")
    result = project.preview(stack)
    note, uncertain = result.violations
    assert (note.policy, note.level) == (UNDETERMINED, "advisory")
    assert (uncertain.policy, uncertain.level) == ("stack-preview-certainty", "mandatory")
    assert "image-digest-pinned at Deployment" in uncertain.message
    assert "image-digest-pinned: spec.template.spec.containers[name=agent].image" in note.message
    summary = project.summaries["deployment"]
    assert summary.failed == (UNDETERMINED,)
    assert not {"image-digest-pinned", "image-registry-allowlist"} & set(summary.passed)
    with pytest.raises(RunFailedError) as raised:
        stack.up(policy_pack=PACK)
    assert found(raised.value.result) == [("image-digest-pinned", "mandatory")]
    made = {step.type.rpartition(":")[2] for step in raised.value.result.steps}
    assert "ConfigMap" in made
    assert "Deployment" not in made


def test_what_was_remediated_runs_and_what_a_replacement_lost_of_it_is_reported(
    project: PolicyProject, kubectl: Kubectl
) -> None:
    """The engine deletes before it makes a Deployment with another selector anew."""
    kubectl("create", "serviceaccount", "agent", "-n", project.namespace)
    project.is_awaited = True
    project.declare({NO_PROFILE: {"runAsNonRoot": True}})
    stack = project.stack("staging")
    assert found(stack.up(policy_pack=PACK)) == []

    def profile() -> object:
        live = kubectl.get("deployment", "agent", "-n", project.namespace)
        return live["spec"]["template"]["spec"]["securityContext"].get("seccompProfile")

    assert profile() == {"type": "RuntimeDefault"}
    assert found(stack.up(policy_pack=PACK)) == []
    project.declare({NO_PROFILE: {"runAsNonRoot": True}, "/metadata/labels/release": "two"})
    with pytest.raises(RunFailedError) as raised:
        stack.up(policy_pack=PACK)
    assert {each for each, _ in found(raised.value.result)} == {REMEDIATION_LOST}
    assert profile() is None
    assert found(stack.up(policy_pack=PACK)) == []
    assert profile() == {"type": "RuntimeDefault"}


def test_existing_state_is_analysed_without_program_or_cluster(project: PolicyProject) -> None:
    """The stack is known from the state alone, and so is its profile."""
    stack = project.stack("dev")
    project.declare(DEFAULT_ACCOUNT, with_policy=False)
    expected = [
        ("dedicated-service-account", "advisory"),
        ("stack-network-policy-coverage", "advisory"),
    ]
    assert found(stack.up(policy_pack=PACK)) == expected
    lines: list[bytes] = []
    command = ["policy", "analyze", "--policy-pack", str(PACK), "--stack", "dev", "--json"]
    finished = stack.runner.run(command, lines.append, 60)
    events = [json.loads(line).get("policyEvent") for line in lines]
    judged = [(each["policyName"], each["enforcementLevel"]) for each in events if each]
    assert finished.exit_code == 0, finished.errors
    assert judged == expected
    export: list[bytes] = []
    stack.runner.run(["stack", "export", "--stack", "dev"], export.append, 60)
    state = project.root / "state.json"
    state.write_bytes(b"\n".join(export))
    done = run_holdfast("policy", "check", "--state-file", str(state), "-o", "json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    ours = [(each["rule"], each["level"]) for each in report["findings"]]
    assert sorted(ours) == sorted(judged)
    assert report["profile"] == "dev"
    config = project.root / "strict.json"
    config.write_text('{"all": "mandatory"}')
    finished = stack.runner.run([*command, "--policy-pack-config", str(config)], print, 60)
    assert finished.exit_code == 1
    strict = ("policy", "check", "--state-file", str(state), "--config", str(config))
    assert run_holdfast(*strict).returncode == 5


ENDLESS_PACK = """
import time
from pathlib import Path
from holdfast_policies import rules
from holdfast_policies.pack.server import serve
from holdfast_policies.table import RULES_BY_ID

file = Path(rules.__file__).with_name("pss_sysctls.py")
made = {"time": time}
exec(compile("def endless(*_):\\n    while True:\\n        time.sleep(1)", str(file), "exec"), made)
object.__setattr__(RULES_BY_ID["pss-sysctls"], "check", made["endless"])
serve(Path(__file__).parent)
"""
DYING_PACK = """
import os
from pathlib import Path
from holdfast_policies.pack.server import serve
from holdfast_policies.table import RULES_BY_ID

object.__setattr__(RULES_BY_ID["pss-sysctls"], "check", lambda *_: os._exit(70))
serve(Path(__file__).parent)
"""


@pytest.mark.parametrize(
    ("program", "said"),
    [
        pytest.param(ENDLESS_PACK, "rule pss-sysctls has not judged urn:pulumi:", id="hangs"),
        pytest.param(DYING_PACK, "", id="dies"),
    ],
)
def test_row_45_a_pack_that_hangs_or_dies_fails_closed(
    project: PolicyProject,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    program: str,
    said: str,
) -> None:
    pack = tmp_path / "pack"
    pack.mkdir()
    (pack / "__main__.py").write_text(program)
    runtime = (PACK / "PulumiPolicy.yaml").read_text()
    (pack / "PulumiPolicy.yaml").write_text(runtime.replace("../.venv", str(PACK.parent / ".venv")))
    monkeypatch.setenv("HOLDFAST_RULE_SECONDS", "3")
    with pytest.raises(RunFailedError) as raised:
        replace(project.stack("prod"), timeout_seconds=120).preview(policy_pack=pack)
    assert raised.value.exit_code == ExitCode.ERROR
    assert said in str(raised.value)
