"""A repository that `holdfast init` writes, from the wheel alone, beside no clone."""

import json
import resource
import subprocess
import time
from pathlib import Path

import pytest
from holdfast.errors import ExitCode

from tests.e2e.live_sandbox import Kubectl, LiveSandbox
from tests.e2e.wheel_installation import WheelInstallation

pytestmark = pytest.mark.e2e

AUTHOR = ("-c", "user.name=Ann", "-c", "user.email=ann@example.test")
LONGEST_SECONDS = 120
LONGEST_IMPORT_SECONDS = 30


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> WheelInstallation:
    root = tmp_path_factory.mktemp("deploying") / "environment"
    return WheelInstallation.create(root, "pulumi", "sandbox", further=("pip", "pytest"))


def test_it_is_valid_and_its_own_tests_pass_without_a_cluster(
    wheel: WheelInstallation, tmp_path: Path
) -> None:
    nowhere = {"KUBECONFIG": str(tmp_path / "absent"), "HOLDFAST_STATE": str(tmp_path / "state")}
    done = wheel.run("init", "fleet", folder=tmp_path, **nowhere)
    assert done.returncode == ExitCode.OK, done.stderr
    fleet = tmp_path / "fleet"
    for verb in (("validate",), ("policy", "check", "-s", "dev"), ("render", "-s", "dev")):
        done = wheel.run(*verb, folder=fleet, **nowhere)
        assert done.returncode == ExitCode.OK, done.stderr
    assert 'kind: "Deployment"' in done.stdout
    tests = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    done = wheel.start("python", *tests, folder=fleet, **nowhere)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout


@pytest.mark.parametrize(
    ("file", "text", "failing"),
    [
        pytest.param(
            "infra/__main__.py",
            '"""Declares nothing."""\n',
            "test_every_manifest_of_an_agent_is_deployed[dev]",
            id="a program that declares nothing",
        ),
        pytest.param(
            "tests/policy-cases/wrong.yaml",
            "profile: prod\nviolates: [pss-privileged]\nobject: {apiVersion: v1, kind: ConfigMap, "
            "metadata: {name: x, namespace: y}}\n",
            "test_a_case_comes_out_as_it_says[wrong]",
            id="a case that is wrong",
        ),
        pytest.param(
            "agents/hello.yaml",
            "apiVersion: holdfast.dev/v1alpha1\nkind: Agent\nmetadata: {name: hello}\nspec: {}\n",
            "test_every_manifest_of_an_agent_is_deployed[dev]",
            id="a manifest that is wrong",
        ),
    ],
)
def test_its_tests_see_what_is_broken(
    wheel: WheelInstallation, tmp_path: Path, file: str, text: str, failing: str
) -> None:
    assert wheel.run("init", "fleet", "--no-cluster", folder=tmp_path).returncode == 0
    (tmp_path / "fleet" / file).write_text(text)
    tests = ("-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", "tests")
    done = wheel.start("python", *tests, folder=tmp_path / "fleet")
    assert failing in done.stdout
    assert done.returncode == 1, done.stdout


def test_from_nothing_to_a_deployed_agent(
    wheel: WheelInstallation,
    sandbox: LiveSandbox,
    kubectl: Kubectl,
    tmp_path: Path,
) -> None:
    """Init, commit, up: the sandbox is there already."""
    variables = {"HOLDFAST_STATE": str(sandbox.state), "KUBECONFIG": str(tmp_path / "absent")}
    begun = time.monotonic()
    done = wheel.run("init", "fleet", "--context", sandbox.context, folder=tmp_path, **variables)
    assert done.returncode == ExitCode.OK, done.stderr
    assert f"context {sandbox.context}; it serves the kinds of" in done.stdout
    fleet = tmp_path / "fleet"
    for words in (["add", "-A"], ["commit", "-q", "-m", "First fleet"]):
        subprocess.run(["git", *AUTHOR, *words], cwd=fleet, check=True)
    try:
        done = wheel.run("up", "-s", "dev", folder=fleet, **variables)
        assert done.returncode == ExitCode.OK, done.stdout + done.stderr
        taken = time.monotonic() - begun
        ready = kubectl("get", "-n", "agents", "deploy/hello", "-o", "jsonpath={.status}")
        assert '"readyReplicas":1' in ready
        assert taken < LONGEST_SECONDS
        done = wheel.run("drift", "-s", "dev", folder=fleet, **variables)
        assert done.returncode == ExitCode.OK, done.stdout + done.stderr
    finally:
        kubectl("delete", "namespace", "agents", "--ignore-not-found")


FOREIGN = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: agent-{number}, namespace: {namespace}}}
spec:
  replicas: 1
  selector: {{matchLabels: {{app: agent-{number}}}}}
  template:
    metadata: {{labels: {{app: agent-{number}}}}}
    spec:
      containers:
        - name: agent
          image: registry.example/agents/a@sha256:{digest}
          env:
            - {{name: API_TOKEN, value: plain-{secret}}}
            - {{name: KEY, valueFrom: {{secretKeyRef: {{name: llm, key: token}}}}}}
---
apiVersion: v1
kind: Service
metadata: {{name: agent-{number}, namespace: {namespace}}}
spec:
  selector: {{app: agent-{number}}}
  ports: [{{name: http, port: 80, targetPort: 8080}}]
---
"""


def test_fifty_foreign_agents_become_a_repository_with_findings(
    wheel: WheelInstallation,
    sandbox: LiveSandbox,
    kubectl: Kubectl,
    namespace: str,
    tmp_path: Path,
) -> None:
    secret = "correct-horse-battery"
    objects = "".join(
        FOREIGN.format(number=number, namespace=namespace, digest="7" * 64, secret=secret)
        for number in range(50)
    )
    objects += (
        f"apiVersion: v1\nkind: Secret\nmetadata: {{name: llm, namespace: {namespace}}}\n"
        f"stringData: {{token: stored-{secret}}}\n"
    )
    file = tmp_path / "foreign.yaml"
    file.write_text(objects)
    kubectl("apply", "-f", str(file))
    file.unlink()
    variables = {"HOLDFAST_STATE": str(sandbox.state), "KUBECONFIG": str(tmp_path / "absent")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    asked = ("init", "fleet", "--from-cluster", "--context", sandbox.context, "-n", namespace)
    done = wheel.run(*asked, "-o", "json", folder=tmp_path, **variables)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Values in plain sight are no part of any manifest, and listed.
    assert done.returncode == ExitCode.ERROR, done.stderr
    said = json.loads(done.stdout)
    # Processor time: what else runs on this machine is not measured.
    assert (
        after.ru_utime + after.ru_stime < before.ru_utime + before.ru_stime + LONGEST_IMPORT_SECONDS
    )
    assert len(said["agents"]) == 50
    assert said["pending"] == []
    assert said["notRead"] == []
    assert said["findings"]["complete"], said["findings"]["notChecked"]
    assert said["findings"]["violations"]["requests-and-limits"] >= 50
    assert sum(said["findings"]["drift"].values()) > 0
    hidden = [
        each for each in said["notDeclared"] if each["path"].endswith("[name=API_TOKEN].value")
    ]
    assert len(hidden) == 50
    written = [each for each in (tmp_path / "fleet").rglob("*") if each.is_file()]
    assert [str(each) for each in written if secret.encode() in each.read_bytes()] == []
    assert secret not in done.stdout + done.stderr
    done = wheel.run("validate", folder=tmp_path / "fleet", **variables)
    assert done.returncode == ExitCode.OK, done.stderr
