"""`holdfast ci comment` and `holdfast ci issue`, as a job runs them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from holdfast.cli.main import run

from tests.code_host_server import TOKEN, CodeHostServer, code_host_server


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[CodeHostServer]:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 9}}))
    with code_host_server() as held:
        for name in ("GITLAB_CI", "GITHUB_EVENT_PATH"):
            monkeypatch.delenv(name, raising=False)
        for name, value in (held.github() | {"GITHUB_EVENT_PATH": str(event)}).items():
            monkeypatch.setenv(name, value)
        yield held


@pytest.fixture
def text(tmp_path: Path) -> Path:
    file = tmp_path / "text.md"
    file.write_text("### Report\n")
    return file


def comment(text: Path, *more: str) -> int:
    return run(["ci", "comment", str(text), "--marker", "policy/prod", *more])


def issue(text: Path, code: int) -> int:
    return run(
        [*("ci", "issue", str(text), "--marker", "drift/prod"), "--title", "T", "--code", str(code)]
    )


def test_a_pull_request_gets_one_comment(
    server: CodeHostServer, text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert comment(text) == 0
    text.write_text("### Another\n")
    assert comment(text) == 0
    assert "comment on 9 created" in (shown := capsys.readouterr().err)
    assert "comment on 9 updated" in shown
    assert TOKEN not in shown
    assert len(server.comments) == 1
    assert "### Another" in server.comments[0]["body"]
    assert server.writes[0] == "POST /issues/9/comments"


def test_a_job_of_no_change_names_one(
    server: CodeHostServer,
    text: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("GITHUB_EVENT_PATH")
    assert comment(text) == 2
    expected = "error: this job belongs to no change; name it with --change NUMBER\n"
    assert capsys.readouterr().err == expected
    assert comment(text, "--change", "3") == 0
    assert server.writes == ["POST /issues/3/comments"]


def test_a_file_that_is_not_there_is_said(
    server: CodeHostServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert comment(tmp_path / "none.md") == 2
    assert "none.md: No such file or directory; name a file of Markdown" in capsys.readouterr().err
    assert server.writes == []


def test_drift_opens_an_issue_and_a_clean_check_closes_it(
    server: CodeHostServer, text: Path, tmp_path: Path
) -> None:
    assert issue(text, 7) == 0
    assert issue(tmp_path / "none.md", 0) == 0
    assert [each["state"] for each in server.issues] == ["closed"]


def test_a_check_that_could_not_run_keeps_the_issue_open(
    server: CodeHostServer, tmp_path: Path
) -> None:
    assert issue(tmp_path / "none.md", 1) == 0
    assert server.issues[0]["state"] == "open"
    assert "ended with exit code 1 and wrote no report" in server.issues[0]["body"]
