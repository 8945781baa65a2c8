"""Only scans of a stack's own cluster are recorded as the stack's."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from holdfast.adapters.cluster import backoff
from holdfast.adapters.cluster.backoff import Backoff
from holdfast.cli.main import run
from holdfast.operations.scan.recording import default_history_file

from tests.unit.adapters.cluster.fake_api import FakeApi, fake_api
from tests.unit.manifest.projects import MANIFEST, agent, write


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with fake_api() as running:
        yield running


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, api: FakeApi) -> Path:
    """Where the scans of stack dev are kept, whose cluster is that of context `own`."""
    write(tmp_path, "Pulumi.yaml", "name: holdfast\nruntime: python\n")
    write(tmp_path, MANIFEST, agent(spec="owner: sre"))
    write(tmp_path, "stacks/Pulumi.dev.yaml", "config:\n  holdfast:cluster: {context: own}\n")
    contexts = [{"name": each, "context": {"cluster": "c"}} for each in ("own", "other")]
    clusters = [{"name": "c", "cluster": {"server": api.url}}]
    kubeconfig = {"current-context": "other", "contexts": contexts, "clusters": clusters}
    write(tmp_path, "kubeconfig", json.dumps(kubeconfig))
    monkeypatch.setattr(backoff, "REQUESTS", Backoff(0.0, 0.0))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return default_history_file(tmp_path, "dev")


@pytest.mark.parametrize("options", [[], ["--context", "own"]])
def test_a_scan_of_the_stack_is_recorded(history: Path, options: list[str]) -> None:
    run(["drift", "-s", "dev", "--no-engine", *options])
    assert len(history.read_text().splitlines()) == 1


def test_a_scan_of_a_file_is_not_the_stacks(
    history: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "built.json").write_text('{"apiVersion": "v1", "kind": "List", "items": []}')
    assert run(["drift", "-s", "dev", "--no-engine", "--live", "built.json"]) == 7
    assert not history.exists()
    assert "not recorded: built.json is not the cluster of stack dev" in capsys.readouterr().err


def test_a_scan_of_another_context_is_not_the_stacks(
    history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["drift", "-s", "dev", "--no-engine", "--context", "other"])
    assert not history.exists()
    assert "not recorded: --context other is not the cluster of" in capsys.readouterr().err


def test_a_scan_of_something_else_is_recorded_where_the_user_says(
    history: Path, tmp_path: Path
) -> None:
    run(["drift", "-s", "dev", "--no-engine", "--context", "other", "--history", "other.jsonl"])
    assert not history.exists()
    assert len((tmp_path / "other.jsonl").read_text().splitlines()) == 1


def test_live_objects_of_a_file_need_no_sandbox(
    history: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    context = "config:\n  holdfast:cluster: {context: holdfast-gone}\n"
    write(tmp_path, "stacks/Pulumi.dev.yaml", context)
    (tmp_path / "built.json").write_text('{"apiVersion": "v1", "kind": "List", "items": []}')
    assert run(["drift", "-s", "dev", "--no-engine", "--live", "built.json"]) == 7
    assert run(["drift", "-s", "dev", "--no-engine"]) == 2
    assert "lives in sandbox 'gone', which does not exist" in capsys.readouterr().err
