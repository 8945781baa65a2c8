"""The status of a stack judges what a scan judges: tool servers, and what is of no agent, too."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from holdfast.cli.exit_codes import exit_code_of
from holdfast.drift.finding import AgentState
from holdfast.errors import ExitCode, InputError
from holdfast.operations.describe.status import stack_status
from holdfast.report.text.status_text import status_json, status_text

from tests.unit.adapters.cluster.fake_api import Answer, FakeApi, failure, fake_api
from tests.unit.operations.declared_project import DeclaredProject, write_kubeconfig
from tests.unit.operations.describe.running_project import running, serve, write_project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DeclaredProject:
    written = write_project(tmp_path / "project")
    monkeypatch.chdir(written.root)
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    return written


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
    with fake_api() as fake:
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path / "config", fake.url)))
        yield fake


def test_a_stack_that_runs_as_declared_is_fine_and_lists_its_tool_servers(
    project: DeclaredProject, api: FakeApi
) -> None:
    serve(api, running(project).values())
    status = stack_status(project.context())
    assert [(each.name, each.sync, each.health.is_healthy) for each in status.agents] == [
        ("first", AgentState.SYNCED, True),
        ("tools", AgentState.SYNCED, True),
    ]
    assert [str(each) for each in status.not_checked] == []
    assert exit_code_of(status) == ExitCode.OK


def test_drift_that_belongs_to_no_agent_is_drift_of_the_stack(
    project: DeclaredProject, api: FakeApi
) -> None:
    objects = running(project)
    labels = objects[("Namespace", "loop")]["metadata"]["labels"]
    labels["pod-security.kubernetes.io/enforce"] = "privileged"
    serve(api, objects.values())
    status = stack_status(project.context())
    assert [(each.ref.kind, each.agent) for each in status.drift] == [("Namespace", "")]
    assert {each.sync for each in status.agents} == {AgentState.SYNCED}
    assert exit_code_of(status) == ExitCode.DRIFT
    assert exit_code_of(stack_status(project.context(), "first")) == ExitCode.OK


def test_drift_of_a_hosted_tool_server_is_its_own(project: DeclaredProject, api: FakeApi) -> None:
    objects = running(project)
    (container, *_) = objects[("Deployment", "tools")]["spec"]["template"]["spec"]["containers"]
    container["image"] = "registry.example/other:latest"
    serve(api, objects.values())
    status = stack_status(project.context(), "tools")
    (tools,) = status.agents
    assert tools.sync is AgentState.OUT_OF_SYNC
    assert {each.finding.ref.name for each in tools.drift} == {"tools"}
    assert exit_code_of(status) == ExitCode.DRIFT


def test_an_unknown_agent_is_refused_before_the_cluster_is_asked(
    project: DeclaredProject, api: FakeApi
) -> None:
    with pytest.raises(InputError, match='did you mean "first"'):
        stack_status(project.context(), "frist")
    assert api.paths() == []


def test_a_suspended_stack_says_by_whom_and_why(project: DeclaredProject, api: FakeApi) -> None:
    serve(api, running(project).values())
    said = {"by": "ann", "since": "2026-01-02T03:04:05Z", "reason": "an incident"}
    resource = {"spec": {"suspend": True, "suspension": said}}
    api.on("/apis/holdfast.dev/v1alpha1/agentstacks/dev", Answer(resource))
    status = stack_status(project.context())
    assert "suspended by ann since 2026-01-02T03:04:05Z: an incident\n" in status_text(status)
    assert json.loads(status_json(status))["suspension"] == said
    assert exit_code_of(status) == ExitCode.OK


def test_a_suspension_that_may_not_be_read_is_not_known_and_is_no_drift(
    project: DeclaredProject, api: FakeApi
) -> None:
    serve(api, running(project).values())
    api.on("/apis/holdfast.dev/v1alpha1/agentstacks/dev", failure(403, "forbidden"))
    status = stack_status(project.context())
    assert "suspension not known: " in status_text(status)
    assert exit_code_of(status) == ExitCode.OK
