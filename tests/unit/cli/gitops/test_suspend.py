"""The verbs set a field in the stack's cluster, and record who did it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from holdfast.cli.main import run
from holdfast.operations.stack.update_history import journal_of

from tests.unit.adapters.cluster.fake_api import Answer, FakeApi, failure, fake_api
from tests.unit.operations.declared_project import DeclaredProject, manifest, write_kubeconfig

PATH = "/apis/holdfast.dev/v1alpha1/agentstacks/dev"


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
    with fake_api() as fake:
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path / "config", fake.url)))
        monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
        yield fake


def test_a_stack_is_suspended_and_resumed_in_its_cluster(
    api: FakeApi,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    project = DeclaredProject.write(tmp_path / "project", manifest("first"))
    monkeypatch.chdir(project.root)
    stack = {"metadata": {"name": "dev", "resourceVersion": "1"}}
    api.on(PATH, failure(404), Answer(stack))
    assert run(["gitops", "suspend", "-s", "dev", "--reason", "an incident"]) == 0
    assert capsys.readouterr().err == "suspended: dev (an incident)\n"
    spec = json.loads(api.requests[-1][3])["spec"]
    assert (spec["suspend"], spec["suspension"]["reason"]) == (True, "an incident")

    api.on(PATH, Answer({**stack, "spec": spec}))
    assert run(["gitops", "resume", "-s", "dev"]) == 0
    assert "resumed: dev (was suspended by " in capsys.readouterr().err
    assert json.loads(api.requests[-1][3])["spec"]["suspend"] is False
    actions = [each.action for each in journal_of(project.root, "dev").records()]
    assert actions == ["suspend", "resume"]
