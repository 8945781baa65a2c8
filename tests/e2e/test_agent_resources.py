"""Agents as resources of a real API server: its schema, its rules, and what Pulumi registers."""

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from holdfast.errors import EngineError
from holdfast.manifest.agent.agent import Agent
from holdfast.manifest.text.documents import read_documents
from holdfast.manifest.text.origin import Origin
from holdfast.manifest.types.validation import validate

from tests.e2e.fleet_project import FleetProject
from tests.e2e.live_sandbox import Kubectl, LiveSandbox, run_holdfast

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
    assert "7 kinds of holdfast.dev/v1alpha1 are served" in done.stderr
    listed = kubectl("api-resources", "--api-group=holdfast.dev", "--no-headers")
    assert "agents " in listed
    assert " ag " in listed


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        pytest.param({"image": None}, "image is required", id="no-image"),
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


def rule_examples() -> Iterator[dict[str, Any]]:
    """Specs that keep or break each rule between fields, and no other."""
    image, declared = {"image": PLAIN["spec"]["image"]}, {"version": "1.0.0"}
    runs = {"schedules": [{"cron": "0 2 * * *"}], "triggers": [{"metric": "queue_depth"}]}
    thinks = {"model": {"provider": "a", "name": "b"}, "prompt": {"systemMessage": "c"}}
    kinds: tuple[dict[str, Any], ...] = (
        {"type": "Service"},
        {"runtime": "managed"},
        {"type": "Job"},
    )
    for kind, has_image, *given in product(kinds, *[(False, True)] * 3):
        fields = {name: runs[name] for name, is_given in zip(runs, given, strict=True) if is_given}
        yield declared | kind | thinks | fields | (image if has_image else {})
    for replicas, least, most in product((None, 1), (None, 1, 3), (None, 2)):
        ends = {"replicas": replicas, "minReplicas": least, "maxReplicas": most}
        scaling: dict[str, Any] = {name: end for name, end in ends.items() if end is not None}
        if least and most:
            scaling["metrics"] = [{"type": "Resource", "name": "cpu", "target": 70}]
        yield declared | image | {"scaling": scaling}
    ways: dict[str, Any] = {"agent": {"ref": "b"}, "http": {"url": "https://a.example/b"}}
    for chosen in ((), ("http",), ("agent",), ("agent", "http")):
        yield declared | image | {"tools": [{name: ways[name] for name in chosen}]}
    value, source = {"value": "x"}, {"valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    for way in ({}, value, source, value | source):
        yield declared | image | {"env": [{"name": "A", **way}]}
    for hook in ({}, {"sleep": {"seconds": 5}}, {"sleep": {"seconds": 5}, "httpGet": {}}):
        yield declared | image | {"lifecycle": {"preStop": hook}}


def test_the_server_and_the_models_accept_the_same(kubectl: Kubectl) -> None:
    """Every rule in CEL and every choice of the schema, against the models' own verdict."""
    agents = [
        {**PLAIN, "metadata": {"name": f"e-{index}", "namespace": "default"}, "spec": spec}
        for index, spec in enumerate(rule_examples())
    ]
    whole = json.dumps({"apiVersion": "v1", "kind": "List", "items": agents})
    done = kubectl.run("create", "--dry-run=server", "-o", "name", "-f", "-", stdin=whole)
    by_server = {line.rpartition("/")[2] for line in done.stdout.split()}
    by_models = {
        each["metadata"]["name"]
        for each in agents
        if isinstance(validate(Agent, each, Origin("e", 0, 0)), Agent)
    }
    assert by_server == by_models, done.stderr
    assert 0 < len(by_models) < len(agents)


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
