"""`holdfast policy check --cluster`: agents that others deployed, with what rules say."""

import json
from typing import Any

import pytest

from tests.e2e.live_sandbox import Kubectl, LiveSandbox, run_holdfast
from tests.shared_material import shared_folder

pytestmark = pytest.mark.e2e

NAMESPACE = "team-x"
KAGENT_LABELS = {"app": "kagent", "kagent": "k8s-agent"}
KAGENT: list[dict[str, Any]] = [
    {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "k8s-agent", "namespace": NAMESPACE, "labels": KAGENT_LABELS},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": KAGENT_LABELS},
            "template": {
                "metadata": {"labels": KAGENT_LABELS},
                "spec": {
                    "serviceAccountName": "k8s-agent",
                    "containers": [
                        {"name": "kagent", "image": "cr.kagent.dev/kagent-dev/kagent/app:0.6.3"}
                    ],
                },
            },
        },
    },
    {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "k8s-agent", "namespace": NAMESPACE},
    },
    {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "k8s-agent"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "cluster-admin",
        },
        "subjects": [{"kind": "ServiceAccount", "name": "k8s-agent", "namespace": NAMESPACE}],
    },
]
"""What kagent's controller makes of one of its agents, as its chart binds it."""
SANDBOX = {
    "apiVersion": "agents.x-k8s.io/v1beta1",
    "kind": "Sandbox",
    "metadata": {"name": "hello", "namespace": NAMESPACE},
    "spec": {
        "podTemplate": {"spec": {"containers": [{"name": "main", "image": "example/hello:1"}]}}
    },
}
TOKEN = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {
        "name": "old-token",
        "namespace": NAMESPACE,
        "annotations": {"kubernetes.io/service-account.name": "k8s-agent"},
    },
    "type": "kubernetes.io/service-account-token",
}
PLAIN = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "plain", "namespace": NAMESPACE},
    "stringData": {"password": "the-secret-of-team-x"},
}


@pytest.fixture(scope="module", autouse=True)
def of_others(defined_sandbox: LiveSandbox, kubectl: Kubectl) -> None:
    kubectl("create", "namespace", NAMESPACE)
    kubectl.apply(*KAGENT, SANDBOX, TOKEN, PLAIN)
    pods = ("get", "pods", "-n", NAMESPACE, "-o", "name")
    kubectl("wait", "deployment/k8s-agent", "-n", NAMESPACE, "--for=condition=Available")
    assert kubectl(*pods)


def check(sandbox: LiveSandbox, *arguments: str, user: str = "admin") -> tuple[int, dict[str, Any]]:
    command = ("policy", "check", "--cluster", "--kubeconfig", str(sandbox.kubeconfig(user)))
    done = run_holdfast(*command, "-o", "json", *arguments)
    assert "the-secret-of-team-x" not in done.stdout + done.stderr
    assert done.stdout, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, document


def named(reference: dict[str, Any] | None) -> str:
    return f"{reference['kind']} {reference['name']}" if reference else ""


def broken(document: dict[str, Any], name: str) -> set[str]:
    return {each["rule"] for each in document["findings"] if named(each["object"]) == name}


def test_every_agent_is_listed_with_results_those_who_deployed_it(sandbox: LiveSandbox) -> None:
    code, document = check(sandbox, "-n", NAMESPACE, "--profile", "dev")
    assert code == 5
    assert document["complete"] is True
    listed = {named(each["object"]): each["passed"] for each in document["objects"]}
    assert {
        "Deployment k8s-agent",
        "ServiceAccount k8s-agent",
        "ClusterRoleBinding k8s-agent",
        "Sandbox hello",
        "Namespace team-x",
        "Secret old-token",
    } <= listed.keys()
    assert not {each for each in listed if each.startswith(("Pod ", "ReplicaSet ", "Secret p"))}
    assert "pss-host-path" in listed["Deployment k8s-agent"]
    assert {"dedicated-service-account", "image-registry-allowlist"} & broken(
        document, "Sandbox hello"
    )
    assert "no-token-automount" in broken(document, "Secret old-token")
    binding = broken(document, "ClusterRoleBinding k8s-agent")
    assert {"rbac-no-privileged-binding", "stack-effective-rbac"} <= binding


def test_everywhere_is_everywhere_but_where_kubernetes_runs_itself(sandbox: LiveSandbox) -> None:
    code, document = check(sandbox, "--all-namespaces")
    assert code == 5
    places = {each["object"]["namespace"] for each in document["objects"] if each["object"]}
    assert NAMESPACE in places
    assert "kube-system" not in places
    roles = [
        each for each in document["objects"] if named(each["object"]).startswith("ClusterRole ")
    ]
    assert not [each for each in roles if each["object"]["name"].startswith("system:")]
    assert any("of Kubernetes' own" in each for each in document["remarks"])


def test_what_may_not_be_read_is_reported_and_is_no_pass(sandbox: LiveSandbox) -> None:
    """Bob reads all but Secrets: what those would have shown is not known, and never fine."""
    code, document = check(sandbox, "-n", NAMESPACE, user="bob")
    assert code == 5
    assert document["complete"] is False
    reasons = {each["scope"]: each["reason"] for each in document["notChecked"]}
    assert "grant list on secrets" in reasons[f"Secret in {NAMESPACE}"]
    assert broken(document, "Deployment k8s-agent")


def test_manifests_of_public_projects_are_judged_as_they_run(
    sandbox: LiveSandbox, kubectl: Kubectl
) -> None:
    """Examples of agent-sandbox and of dapr-agents, applied by kubectl as their authors say."""
    corpus = shared_folder("corpus")
    files = [
        "agent-sandbox/examples/aio-sandbox/aio-sandbox.yaml",
        "agent-sandbox/examples/vscode-sandbox/vscode-sandbox.yaml",
        "agent-sandbox/examples/openclaw-gvisor-sandbox/openclaw-template.yaml",
        "dapr-agents/04-multi-agent-workflow-k8s/sam-deployment.yaml",
        "dapr-agents/04-multi-agent-workflow-k8s/workflow-agent-deployment.yaml",
    ]
    applied = [kubectl("apply", "-o", "json", "-f", str(corpus / each)) for each in files]
    _, document = check(sandbox, "-n", "default", "--profile", "dev")
    listed = {named(each["object"]): len(each["passed"]) for each in document["objects"]}
    for text in applied:
        one = json.loads(text)
        for each in one.get("items", [one]):
            name = f"{each['kind']} {each['metadata']['name']}"
            assert listed[name] > 0
            assert broken(document, name) or each["kind"] == "Service"
