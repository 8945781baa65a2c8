"""Updates that go wrong, on the real engine and a real API server: stopped, watched, taken back."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.e2e.git_project import IMAGE, GitProject, agent
from tests.e2e.live_sandbox import Kubectl, LiveSandbox
from tests.e2e.stub_prometheus import StubPrometheus, answering

pytestmark = pytest.mark.e2e

QUICK = "  rollout: {progressDeadlineSeconds: 15}\n"
HELD = "metadata: {annotations: {sandbox.holdfast.dev/hold: 'true'}, "


def chain(version: str) -> dict[str, str]:
    """Three agents in three waves."""
    called = "  network: {{ingressFrom: [{}]}}\n"
    second, third = called.format("second"), called.format("third")
    return {
        "first": agent("first", version, QUICK + second),
        "second": agent("second", version, f"{QUICK}{third}  dependsOn: [first]\n"),
        "third": agent("third", version, f"{QUICK}  dependsOn: [second]\n"),
    }


@pytest.fixture(scope="module")
def prometheus() -> Iterator[StubPrometheus]:
    """A Prometheus whose one number the test sets."""
    with answering() as stub:
        yield stub


@pytest.fixture(scope="module")
def project(
    sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory, prometheus: StubPrometheus
) -> GitProject:
    """Three agents, each in need of the one before, brought to the cluster in waves."""
    root = tmp_path_factory.mktemp("rollback")
    written = GitProject.write(root, sandbox, "".join(chain("1.0.0").values()))
    file = root / "stacks" / "Pulumi.dev.yaml"
    stack = yaml.safe_load(file.read_text())
    stack["config"]["holdfast:images"] = {"tools": IMAGE}
    stack["config"]["holdfast:updates"] = {
        "waves": True,
        "rollback": True,
        "watchSeconds": 6,
        "prometheusUrl": prometheus.address,
        "metrics": [{"name": "errors", "query": "sum(errors)", "maxIncreasePercent": 100}],
    }
    file.write_text(yaml.safe_dump(stack))
    written.commit("Updates in waves, watched, taken back")
    done = written.project.holdfast("up", "-s", "dev")
    assert done.returncode == 0, done.stderr
    assert "wave 1 of 3: first" in done.stderr
    assert "wave 2 of 3: second" in done.stderr
    return written


def versions(kubectl: Kubectl) -> dict[str, str]:
    return {
        each["metadata"]["name"]: each["metadata"]["labels"]["app.kubernetes.io/version"]
        for each in kubectl.get("deployments", "-n", "loop")["items"]
    }


def newest(project: GitProject) -> list[dict[str, Any]]:
    done = project.project.holdfast("history", "dev", "-o", "json")
    updates: list[dict[str, Any]] = json.loads(done.stdout)["updates"]
    return updates


def test_a_wave_that_never_becomes_ready_stops_the_rest_and_is_taken_back(
    project: GitProject, sandbox: LiveSandbox, kubectl: Kubectl
) -> None:
    good = newest(project)[0]["commit"]
    moved = chain("2.0.0")
    moved["second"] = moved["second"].replace("metadata: {", HELD)
    bad = project.commit("Move to 2.0.0", "".join(moved.values()))
    before = len(sandbox.audit_events())
    done = project.project.holdfast("up", "-s", "dev")
    assert done.returncode == 1, done.stderr
    third = [
        event["requestURI"]
        for event in sandbox.audit_events()[before:]
        if not event["user"]["username"].startswith("system:")
        and "dryRun=" not in event["requestURI"]
        and "/third" in event["requestURI"]
    ]
    assert third == [], "the wave after the one that failed was never begun"
    assert versions(kubectl) == dict.fromkeys(("first", "second", "third"), "1.0.0")
    back, failed = newest(project)[:2]
    assert (failed["commit"], failed["outcome"]) == (bad, "failed")
    assert (back["action"], back["commit"]) == ("automatic-rollback", good)
    assert back["outcome"] == "succeeded"
    assert back["reason"].startswith(f"{bad[:12]}: ")
    assert back["proof"].startswith("equal: compared ")


def test_a_metric_that_gets_worse_takes_the_update_back(
    project: GitProject, kubectl: Kubectl, prometheus: StubPrometheus
) -> None:
    count = len(newest(project))
    bad = project.commit("Move to 3.0.0", "".join(chain("3.0.0").values()))

    # One before the update, five as soon as a pod of the new version is there.
    prometheus.number = lambda: 5.0 if versions(kubectl).get("third") == "3.0.0" else 1.0
    done = project.project.holdfast("up", "-s", "dev")
    assert done.returncode == 1, done.stderr
    assert "metric errors: 5 is more than 100 % above 1, its value before" in done.stderr
    assert versions(kubectl) == dict.fromkeys(("first", "second", "third"), "1.0.0")
    updates = newest(project)
    assert len(updates) == count + 2, "one update, one way back"
    assert [each["action"] for each in updates[:2]] == ["automatic-rollback", "up"]
    assert updates[1]["commit"] == bad
    assert "metric errors" in updates[0]["reason"]
