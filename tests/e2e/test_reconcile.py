"""The loop from a bare repository to the cluster, on the real engine and a real API server."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3
from holdfast.adapters.git.repository import run_git
from holdfast.controllers.runtime.conflicts import MOST_REVERTS

from tests.chat_channel import Channel, taking_messages
from tests.e2e.git_project import GitProject, agent
from tests.e2e.live_sandbox import Kubectl, LiveSandbox
from tests.e2e.promtool import check_metrics
from tests.e2e.running_loop import Loop
from tests.e2e.stub_prometheus import StubPrometheus, answering
from tests.trace_collector import Collector, collecting

pytestmark = pytest.mark.e2e

REVERT = "  drift: {mode: revert}\n"


@pytest.fixture(scope="module")
def prometheus() -> Iterator[StubPrometheus]:
    """A Prometheus whose one number the test sets."""
    with answering() as stub:
        yield stub


@pytest.fixture(scope="module")
def project(
    sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory, prometheus: StubPrometheus
) -> GitProject:
    """One agent whose drift is put back, in a repository; its cluster knows Holdfast's kinds."""
    done = sandbox.run("up", "--with", "holdfast")
    assert done.returncode == 0, done.stderr
    root = tmp_path_factory.mktemp("loop")
    errors = {"name": "errors", "query": "sum(errors)", "max": 2}
    updates = {"watchSeconds": 1, "prometheusUrl": prometheus.address, "metrics": [errors]}
    return GitProject.write(root, sandbox, agent("mover", "1.0.0", REVERT), {"updates": updates})


@pytest.fixture(scope="module")
def repository(project: GitProject, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bare repository that everybody pushes to."""
    bare = tmp_path_factory.mktemp("bare") / "fleet.git"
    run_git(project.root, "clone", "--quiet", "--bare", str(project.root), str(bare))
    run_git(project.root, "remote", "add", "origin", str(bare))
    return bare


def push(project: GitProject, version: str, more: str = REVERT) -> str:
    commit = project.commit(f"Move to {version}", agent("mover", version, more))
    run_git(project.root, "push", "--quiet", "origin", "HEAD:main")
    return commit


def version_of(kubectl: Kubectl) -> str:
    labels = kubectl.get("deployment", "mover", "-n", "loop")["metadata"]["labels"]
    return str(labels["app.kubernetes.io/version"])


def stack_of(kubectl: Kubectl) -> dict[str, Any]:
    """The resource in which the loop tells how the stack is."""
    return kubectl.get("agentstack", "dev")


def condition(kubectl: Kubectl, kind: str) -> dict[str, Any]:
    conditions: list[dict[str, Any]] = stack_of(kubectl)["status"]["conditions"]
    return next(each for each in conditions if each["type"] == kind)


def events(kubectl: Kubectl) -> list[str]:
    """Reasons of all Events about the stack, the oldest first."""
    found = kubectl.get("events.events.k8s.io", "-n", "default")["items"]
    about = [each for each in found if each["regarding"]["kind"] == "AgentStack"]
    return [each["reason"] for each in sorted(about, key=lambda each: each["eventTime"])]


@pytest.fixture
def collector() -> Iterator[Collector]:
    """Takes the loop's traces."""
    with collecting() as collector:
        yield collector


@pytest.fixture
def channel() -> Iterator[Channel]:
    """Takes the loop's messages."""
    with taking_messages() as channel:
        yield channel


@pytest.fixture
def polling(
    project: GitProject, repository: Path, collector: Collector, channel: Channel
) -> Iterator[Loop]:
    """A loop that asks every three seconds."""
    options = ("--interval", "3", "--resync", "5")
    variables = collector.variables | {"HOLDFAST_SLACK_URL": channel.url}
    loop = Loop.start(project, repository, *options, variables=variables)
    yield loop
    loop.close()


def test_commits_and_drift_become_what_was_declared(
    project: GitProject, polling: Loop, collector: Collector, channel: Channel, kubectl: Kubectl
) -> None:
    polling.updated()
    assert version_of(kubectl) == "1.0.0"
    kubectl.wait_for("condition=Synced", "agentstack/dev")
    kubectl.wait_for("condition=Drifted=False", "agentstack/dev", seconds=120)
    _rest(polling, kubectl)

    seen = len(polling.said)
    kubectl("set", "env", "deployment/mover", "-n", "loop", "HOTFIX=1")
    done = polling.wait_for(lambda line: line["phase"] == "act" and "agent" in line, seen)
    phases = [line["phase"] for line in polling.said if line.get("id") == done["id"]]
    assert phases[:3] == ["observe", "diff", "act"]
    code, report = project.project.drift()
    assert (code, report["findings"]) == (0, []), "the loop's own resource is no stranger"

    seen = len(polling.said)
    commit = push(project, "1.1.0")
    polling.updated(seen)
    assert version_of(kubectl) == "1.1.0"
    newest = json.loads(project.project.holdfast("history", "dev", "-o", "json").stdout)["updates"][
        0
    ]
    assert (newest["action"], newest["commit"], newest["outcome"]) == (
        "reconcile",
        commit,
        "succeeded",
    )

    seen = len(polling.said)
    push(project, "1.2.0", "  scaling: {minReplicas: many}\n")
    polling.wait_for(lambda line: line["phase"] == "error" and line["key"] == "commit", seen)
    kubectl.wait_for("condition=Stalled", "agentstack/dev")
    stuck = condition(kubectl, "Synced")
    assert (stuck["status"], stuck["reason"]) == ("False", "Invalid")
    assert "files are refused" in stuck["message"]
    kubectl("set", "env", "deployment/mover", "-n", "loop", "HOTFIX=2")
    polling.wait_for(lambda line: line["phase"] == "act" and "agent" in line, seen)
    assert version_of(kubectl) == "1.1.0", "what is faulty changes nothing, what runs is held"

    _suspend_and_resume(project, polling, kubectl)
    assert polling.end() == 8
    _is_in_the_channel(channel)
    assert {each["reason"] for each in stack_of(kubectl)["status"]["conditions"]} == {"LoopEnded"}
    # What somebody else has just written is put back at the second try.
    assert [each for each in events(kubectl) if each != "ReconcileFailed"] == [
        "Updated",
        *("DriftFound", "Reverted", "Updated"),
        *("UpdateRefused", "DriftFound", "Reverted"),
        *("Suspended", "Resumed", "Updated", "Suspended", "Resumed"),
    ]
    traced = [each for each in collector.spans if each.trace_id == done["trace_id"]]
    [root] = [each for each in traced if not each.parent]
    assert root.attributes["holdfast.id"] == done["id"]
    assert root.attributes["holdfast.outcome"] == "succeeded"
    assert [each.name for each in traced if each.parent] == ["observe", "diff", "act", "status"]
    refused = [each for each in collector.spans if "files are refused" in each.problem]
    assert {each.name for each in refused} == {"judge", "act", "reconcile"}


def _is_in_the_channel(channel: Channel) -> None:
    """Each Event is in one message, a refused commit among them, and no value of a field."""
    text = "\n".join(channel.texts)
    lines = [line.partition(":")[0] for line in text.splitlines()]
    assert (lines.count("UpdateRefused"), lines.count("Reverted")) == (1, 2)
    assert len(channel.messages) <= lines.count("Run"), "each names the command to look"
    assert "HOTFIX=" not in text
    assert "sEcReT" not in text


def _rest(polling: Loop, kubectl: Kubectl) -> None:
    """Nothing is written to the stack's resource while nothing happens."""
    told = stack_of(kubectl)
    assert told["status"]["commit"] == told["status"]["wantedCommit"]
    assert {each["observedGeneration"] for each in told["status"]["conditions"]} == {1}
    seen = len(polling.said)
    for _ in range(2):
        last = polling.wait_for(lambda line: line["phase"] == "diff", seen)
        seen = polling.said.index(last) + 1
    assert stack_of(kubectl) == told, "what stays as it is, is not written"


def _suspend_and_resume(project: GitProject, polling: Loop, kubectl: Kubectl) -> None:
    """A commit that comes while the stack is suspended waits, and says for what."""
    done = project.project.holdfast("gitops", "suspend", "-s", "dev", "--reason", "by hand")
    assert done.returncode == 0, done.stderr
    spec = stack_of(kubectl)["spec"]
    assert (spec["suspend"], spec["suspension"]["reason"], spec["branch"]) == (
        True,
        "by hand",
        "main",
    )
    seen = len(polling.said)
    push(project, "1.3.0")
    status = json.loads(project.project.holdfast("status", "-s", "dev", "-o", "json").stdout)
    assert status["suspension"] == spec["suspension"]
    waits = polling.wait_for(lambda line: line["phase"] == "wait", seen)
    assert waits["reason"].endswith(": by hand")
    assert version_of(kubectl) == "1.1.0"
    kubectl.wait_for("condition=Synced=Unknown", "agentstack/dev")
    assert condition(kubectl, "Stalled")["message"].endswith(": by hand")
    assert project.project.holdfast("gitops", "resume", "-s", "dev").returncode == 0
    polling.updated(seen)
    assert version_of(kubectl) == "1.3.0"
    assert "suspension" not in stack_of(kubectl)["spec"]
    seen = len(polling.said)
    merge = ("patch", "agentstack", "dev", "--type", "merge", "-p")
    kubectl(*merge, '{"spec":{"suspend":true}}')
    polling.wait_for(lambda line: line.get("reason") == "suspended", seen)
    seen = len(polling.said)
    kubectl(*merge, '{"spec":{"suspend":false}}')
    polling.wait_for(lambda line: "resumed" in line.get("trigger", ""), seen)


def test_a_hook_is_heard_at_once_and_the_loop_goes_on_after_a_restart(
    project: GitProject, repository: Path, kubectl: Kubectl, prometheus: StubPrometheus
) -> None:
    loop = Loop.start(project, repository, "--interval", "86400", "--resync", "86400")
    try:
        address = loop.wait_for(lambda line: line["phase"] == "listen")["address"]
        loop.wait_for(lambda line: line["phase"] == "diff" and not line.get("changed", True))
        seen = len(loop.said)
        commit = push(project, "1.4.0")
        with urllib3.PoolManager() as pool:
            assert pool.request("POST", f"http://{address}/hook").status == 202
            loop.updated(seen)
            assert version_of(kubectl) == "1.4.0"
            status = json.loads(pool.request("GET", f"http://{address}/status").data)
            assert (status["wantedCommit"], status["isRunning"]) == (commit, True)
            metrics = pool.request("GET", f"http://{address}/metrics").data.decode()
            assert 'holdfast_reconcile_behind{stack="dev"} 0.0' in metrics
            assert 'holdfast_reconcile_behind_seconds{stack="dev"} 0.0' in metrics
            check_metrics(metrics)
        prometheus.number = lambda: 9.0
        _lose_a_node(loop, kubectl)
        _fight(loop, kubectl)
        kubectl.wait_for("condition=Stable=False", "agentstack/dev")
        assert condition(kubectl, "Stable")["reason"] == "Conflict"
        assert events(kubectl).count("ConflictOpened") == 1
        looked = loop.wait_for(lambda line: "metric/errors" in line.get("trigger", ""), seen)
        assert "metric/errors 9 is above 2" in looked["trigger"]
        assert (looked["phase"], looked["key"]) == ("observe", "drift")
        prometheus.number = lambda: 1.0
        with urllib3.PoolManager() as pool:
            metrics = pool.request("GET", f"http://{address}/metrics").data.decode()
            assert 'holdfast_conflicts_total{stack="dev"} 1.0' in metrics
            status = json.loads(pool.request("GET", f"http://{address}/status").data)
            (stable,) = [each for each in status["conditions"] if each["type"] == "Stable"]
            assert (stable["status"], stable["reason"]) == ("False", "Conflict")
        assert loop.end() == 8
        _conflict_survives(project, repository, kubectl)
    finally:
        loop.close()


def _conflict_survives(project: GitProject, repository: Path, kubectl: Kubectl) -> None:
    """A field in conflict is only reported after a restart, too, until a person ends that."""
    loop = Loop.start(project, repository, "--interval", "86400", "--resync", "3")
    try:
        assert loop.wait_for(lambda line: line["phase"] == "conflicts")["restored"] == 1
        compared = loop.wait_for(lambda line: line["phase"] == "diff" and "agent" in line)
        assert (compared["fields"], compared["conflicts"]) == (0, 1)
        assert project.project.holdfast("gitops", "resume", "-s", "dev").returncode == 0
        loop.wait_for(lambda line: line["phase"] == "act" and "agent" in line)
        kubectl.wait_for("condition=Stable", "agentstack/dev")
        assert loop.end() == 8
    finally:
        loop.close()


def _lose_a_node(loop: Loop, kubectl: Kubectl) -> None:
    """A node that is not heard of makes the loop look at the agents with pods there."""
    seen = len(loop.said)
    node = kubectl.get("pods", "-n", "loop")["items"][0]["spec"]["nodeName"]
    lost = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}
    patch = json.dumps({"status": {"conditions": [lost]}})
    kubectl("patch", "node", node, "--subresource=status", "-p", patch)
    trigger = f"node/{node} NotReady"
    look = loop.wait_for(lambda line: trigger in line.get("trigger", ""), seen)
    assert (look["phase"], look["key"]) == ("observe", "mover")


def _fight(loop: Loop, kubectl: Kubectl) -> None:
    """Set a variable again and again, until the loop gives in."""
    for turn in range(MOST_REVERTS + 1):
        seen = len(loop.said)
        kubectl("set", "env", "deployment/mover", "-n", "loop", f"HOTFIX={turn}")
        loop.wait_for(lambda line: line["phase"] == "diff" and line.get("agent") == "mover", seen)
        if turn < MOST_REVERTS:
            loop.wait_for(lambda line: line["phase"] == "act" and "agent" in line, seen)
    assert [line["path"] for line in loop.said if line["phase"] == "conflict"] == [
        "spec.template.spec.containers[name=agent].env[name=HOTFIX]"
    ]
    kept = kubectl.get("deployment", "mover", "-n", "loop")["spec"]["template"]["spec"]
    assert {"name": "HOTFIX", "value": str(MOST_REVERTS)} in kept["containers"][0]["env"]


def another_machine(project: GitProject, kubectl: Kubectl, state: Path) -> dict[str, str]:
    """Variables of a machine with a state folder and an account of its own, on the same backend."""
    sandbox = project.project.sandbox
    kubectl("create", "serviceaccount", "second", "-n", "default")
    may = ("--clusterrole=cluster-admin", "--serviceaccount=default:second")
    kubectl("create", "clusterrolebinding", "second", *may)
    token = kubectl("create", "token", "second", "-n", "default").strip()
    config = json.loads(kubectl("config", "view", "--raw", "-o", "json"))
    for user in config["users"]:
        user["user"] = {"token": token}
    folder = state / "sandboxes" / sandbox.name
    folder.mkdir(parents=True)
    (folder / "admin.kubeconfig").write_text(json.dumps(config))
    ours = json.loads(project.project.holdfast("env", "-s", "dev", "-o", "json").stdout)
    shared = {
        name: ours["variables"][name] for name in ("PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE")
    }
    return {"HOLDFAST_STATE": str(state), **shared}


def writers(project: GitProject) -> list[str]:
    """Who wrote to the agent's workload, in order, Kubernetes' own controllers left out."""
    return [
        event["user"]["username"]
        for event in project.project.sandbox.audit_events()
        if event["objectRef"].get("name") == "mover"
        and event["objectRef"]["resource"] == "deployments"
        and event["objectRef"].get("subresource") is None
        and event["verb"] in {"create", "update", "patch", "delete"}
        and "dryRun" not in event["requestURI"]
        and not event["user"]["username"].startswith("system:kube-")
        and "controller" not in event["user"]["username"]
    ]


def test_of_loops_on_two_machines_only_the_holder_of_the_lease_writes(
    project: GitProject, repository: Path, kubectl: Kubectl, tmp_path: Path
) -> None:
    options = ("--interval", "3", "--resync", "5", "--lease", "default/loop-dev")
    variables = another_machine(project, kubectl, tmp_path)
    first = Loop.start(project, repository, *options)
    waiting = None
    try:
        first.wait_for(lambda line: line["phase"] == "lead")
        waiting = Loop.start(project, repository, *options, variables=variables)
        waiting.wait_for(lambda line: line["phase"] == "standby")
        # The first look brings what was there already, or finds that it runs.
        settled = ("act", "diff")
        first.wait_for(
            lambda line: (
                line["phase"] in settled
                and line.get("key") == "commit"
                and line.get("changed") is not True
            )
        )
        seen, before = len(first.said), len(writers(project))
        push(project, "2.0.0")
        first.updated(seen)
        seen = len(first.said)
        kubectl("set", "env", "deployment/mover", "-n", "loop", "TUNED=1", user="alice")
        first.wait_for(lambda line: line["phase"] == "act" and "agent" in line, seen)
        assert set(writers(project)[before:]) == {"admin", "alice@example.test"}
        assert not [line for line in waiting.said if line["phase"] == "act"]
        address = waiting.wait_for(lambda line: line["phase"] == "listen")["address"]
        with urllib3.PoolManager() as pool:
            assert pool.request("GET", f"http://{address}/healthz").status == 200
            status = json.loads(pool.request("GET", f"http://{address}/status").data)
            assert status["isLeader"] is False

        first.process.kill()
        waiting.wait_for(lambda line: line["phase"] == "lead")
        seen, before = len(waiting.said), len(writers(project))
        push(project, "2.1.0")
        waiting.updated(seen)
        assert version_of(kubectl) == "2.1.0"
        assert set(writers(project)[before:]) == {"system:serviceaccount:default:second"}
        seen = len(waiting.said)
        suspend = ("gitops", "suspend", "-s", "dev", "--reason", "from the first machine")
        assert project.project.holdfast(*suspend).returncode == 0
        waiting.wait_for(lambda line: "from the first machine" in line.get("reason", ""), seen)
        assert project.project.holdfast("gitops", "resume", "-s", "dev").returncode == 0
        assert waiting.end() == 8
        lease = kubectl.get("lease/loop-dev", "-n", "default")["spec"]
        assert not lease.get("holderIdentity"), "given back at the end"
    finally:
        for loop in (first, waiting):
            if loop is not None:
                loop.close()
