"""Agents as resources of a real API server: its schema, its rules, and what Pulumi registers."""

import json
from pathlib import Path
from typing import Any

import pytest
from holdfast.errors import EngineError
from holdfast.manifest.agent.agent import Agent
from holdfast.manifest.text.documents import read_documents
from holdfast.manifest.text.origin import Origin
from holdfast.manifest.types.conditions import FieldCondition
from holdfast.manifest.types.rules import Computed, OneOf, Rule, choice_words, rules_of
from holdfast.manifest.types.validation import validate
from hypothesis import given, settings

from tests.e2e.fleet_project import FleetProject
from tests.e2e.live_sandbox import Kubectl, LiveSandbox, run_holdfast
from tests.unit.manifest.rule_examples import Sampled

pytestmark = pytest.mark.e2e
ROOT = Path(__file__).parents[2]

MANIFESTS = """\
apiVersion: holdfast.dev/v1alpha1
kind: ModelConfig
metadata: {name: main, namespace: res}
spec: {provider: Anthropic, name: claude-sonnet-4-6}
---
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {name: one, namespace: res}
spec:
  version: 1.0.0
  image: registry.example/one@sha256:%s
  model: {ref: main}
  prompt: {systemMessage: Answer briefly.}
""" % ("1" * 64)

SAMPLED = Sampled().read()
STATED = {
    rule: rule.expected if isinstance(rule, Rule) else choice_words(model, rule)
    for model in SAMPLED.places
    for rule in rules_of(model)
    if isinstance(rule, OneOf) or not (isinstance(rule.holds, Computed) and rule.holds.why_not)
}
"""Rules that the server checks, too, to their words."""

PLAIN: dict[str, Any] = {
    "apiVersion": "holdfast.dev/v1alpha1",
    "kind": "Agent",
    "metadata": {"name": "plain", "namespace": "default"},
    "spec": {"version": "1.0.0", "image": f"registry.example/plain@sha256:{'2' * 64}"},
}


def changed(**spec: Any) -> str:
    return json.dumps({**PLAIN, "spec": {**PLAIN["spec"], **spec}})


def test_a_stack_whose_cluster_lacks_the_kinds_is_refused_with_what_to_install(
    sandbox: LiveSandbox, tmp_path: Path
) -> None:
    settings = {"agentResources": {"mode": "observe"}}
    project = FleetProject.write(tmp_path, sandbox, MANIFESTS, settings)
    stack = project.stack()
    stack.init_if_absent()
    with pytest.raises(EngineError) as refused:
        stack.preview()
    assert "holdfast.dev/v1alpha1 Agent of Holdfast" in str(refused.value)
    assert f"--name {sandbox.name} --with holdfast" in str(refused.value)


def test_the_kinds_are_installed_and_name_themselves(
    sandbox: LiveSandbox, kubectl: Kubectl
) -> None:
    kubeconfig = str(sandbox.kubeconfig())
    done = run_holdfast("operator", "install", "--kubeconfig", kubeconfig)
    assert done.returncode == 0, done.stderr
    assert "8 kinds of holdfast.dev/v1alpha1 are served" in done.stderr
    listed = kubectl("api-resources", "--api-group=holdfast.dev", "--no-headers")
    assert "agents " in listed
    assert " ag " in listed


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        pytest.param({"image": None}, "add image, or runtime: managed", id="no-image"),
        pytest.param({"type": "Job"}, "runs by its schedules", id="job-without-schedules"),
        pytest.param({"scaling": {"minReplicas": 2}}, "expected both", id="half-a-range"),
        pytest.param(
            {"scaling": {"minReplicas": 3, "maxReplicas": 2}}, "must not exceed", id="no-range"
        ),
        pytest.param(
            {"scaling": {"replicas": 1, "minReplicas": 1, "maxReplicas": 2}},
            "replicas excludes",
            id="both",
        ),
    ],
)
def test_rules_between_fields_are_the_servers_too(
    kubectl: Kubectl, spec: dict[str, Any], message: str
) -> None:
    refused = kubectl.run("create", "--dry-run=server", "-f", "-", stdin=changed(**spec))
    assert refused.returncode != 0
    assert message in refused.stderr


def mutants() -> list[dict[str, Any]]:
    """Samples that keep or break each rule between the fields of an agent that the server knows."""
    found: list[dict[str, Any]] = []
    for model in SAMPLED.places:
        for rule in rules_of(model):
            if not isinstance(rule, Rule) or (
                isinstance(rule.holds, Computed) and not rule.holds.cel
            ):
                continue

            @settings(max_examples=30, deadline=None, derandomize=True)
            @given(SAMPLED.mutants(model, rule))
            def collect(document: dict[str, Any]) -> None:
                if document not in found:
                    found.append(document)

            collect()
    for index, each in enumerate(found):
        each["metadata"] = {"name": f"e-{index}", "namespace": "default"}
    return found


def broken_rules(document: dict[str, Any]) -> set[str] | None:
    """What the models say of a document; None where single values are at fault, too."""
    read = validate(Agent, document, Origin("e", 0, 0))
    if isinstance(read, Agent):
        return set()
    found = {error.expected for error in read}
    return found if found <= {*STATED.values()} else None


def is_condition(rule: Rule | OneOf) -> bool:
    return isinstance(rule, Rule) and isinstance(rule.holds, FieldCondition)


def test_the_server_and_the_models_agree_on_generated_agents(kubectl: Kubectl) -> None:
    """Every rule in CEL, on specs that keep it and specs that break it."""
    agents = mutants()
    verdicts = {each["metadata"]["name"]: broken_rules(each) for each in agents}
    judged = [each for each in agents if verdicts[each["metadata"]["name"]] is not None]
    whole = json.dumps({"apiVersion": "v1", "kind": "List", "items": judged})
    flags = ("--dry-run=server", "--validate=false", "-o", "name", "-f", "-")
    done = kubectl.run("create", *flags, stdin=whole)
    by_server = {line.rpartition("/")[2] for line in done.stdout.split()}
    by_models = {name for name, broken in verdicts.items() if broken == set()}
    assert by_server == by_models, done.stderr
    broken = {each for found in verdicts.values() for each in found or ()}
    conditions = {words for rule, words in STATED.items() if is_condition(rule)}
    assert len(conditions & broken) > 0.8 * len(conditions)
    assert len(by_models) > 300


def test_the_server_accepts_every_sample(kubectl: Kubectl) -> None:
    names = set()
    for file in [*ROOT.glob("agents/*.yaml"), *ROOT.glob("tests/golden/agents/*.yaml")]:
        text = file.read_text(encoding="utf-8")
        for document in (each.data for each in read_documents(text, file.name).documents):
            document["metadata"]["namespace"] = "default"
            name = f"{document['kind']} {document['metadata']['name']}"
            done = kubectl.run("create", "--dry-run=server", "-f", "-", stdin=json.dumps(document))
            assert done.returncode == 0, f"{file.name}: {name}: {done.stderr}"
            names.add(name)
    assert len(names) > 10


def test_an_agent_has_a_scale_and_a_status_that_can_be_waited_for(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=json.dumps(PLAIN))
    kubectl("scale", "agent/plain", "--replicas=3")
    assert kubectl.get("ag/plain")["spec"]["scaling"] == {"replicas": 3}
    ready = {
        "type": "Ready",
        "status": "True",
        "lastTransitionTime": "2026-11-22T00:00:00Z",
        "reason": "AllReady",
        "message": "3 of 3 pods are ready",
    }
    patch = json.dumps({"status": {"phase": "Ready", "conditions": [ready]}})
    kubectl("patch", "ag/plain", "--subresource=status", "--type=merge", "-p", patch)
    kubectl.wait_for("condition=Ready", "agent/plain")
    [header, row] = kubectl("get", "agents", "plain").splitlines()
    assert header.split() == ["NAME", "READY", "DRIFT", "POLICY", "MODEL", "VERSION", "AGE"]
    assert row.split()[:3] == ["plain", "True", "1.0.0"]
    kubectl("delete", "ag/plain")


def test_pulumi_registers_a_resource_an_agent_beside_its_objects(
    sandbox: LiveSandbox, kubectl: Kubectl, tmp_path: Path
) -> None:
    settings = {"agentResources": {"mode": "observe"}}
    project = FleetProject.write(tmp_path, sandbox, MANIFESTS, settings)
    stack = project.stack()
    stack.init_if_absent()
    stack.up()
    agent = kubectl.get("agent/one", "-n", "res")
    assert agent["spec"]["prompt"] == {"systemMessage": "Answer briefly."}
    assert "finalizers" not in agent["metadata"]
    assert kubectl.get("modelconfig/main", "-n", "res")["spec"]["name"] == "claude-sonnet-4-6"
    assert kubectl.get("deployment/one", "-n", "res")
    assert project.drift()[0] == 0
    assert not stack.preview().steps
    kubectl("scale", "agent/one", "-n", "res", "--replicas=2")
    code, report = project.drift()
    assert code == 7
    assert [each["path"] for each in report["findings"]] == ["spec.scaling"]
