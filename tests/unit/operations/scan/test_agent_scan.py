"""The scan of one agent asks for its objects alone, and finds what a whole scan finds of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scanner import Scanner

from tests.unit.adapters.cluster.fake_api import FakeApi, fake_api
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


def test_only_the_agents_objects_are_asked_for_and_judged(
    project: DeclaredProject, api: FakeApi
) -> None:
    live = running(project)
    for name in ("first", "tools"):
        live["Deployment", name]["spec"]["paused"] = True
    serve(api, live.values())
    scanner = Scanner(ScanRequest(project.root, "dev"))
    whole = [each for each in scanner.scan().report.drift if each.agent == "first"]
    before = len(api.requests)

    scan = scanner.scan(agent="first")

    assert list(scan.report.drift) == whole
    assert [str(each.path[-1]) for each in whole] == ["paused"]
    assert [each.name for each in scan.report.agents] == ["first"]
    lists = [query for _, path, query, _ in api.requests[before:] if "limit" in query]
    selected = [query for query in lists if "labelSelector" in query]
    assert {query["labelSelector"] for query in selected} == {"holdfast.dev/agent=first"}
