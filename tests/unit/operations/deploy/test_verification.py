"""Whether what runs is what a commit declares, asked of our own code or of the commit's."""

from pathlib import Path

import pytest
from holdfast.errors import ExitCode
from holdfast.operations.deploy.verification import verify
from holdfast.operations.stack.commit_project import CommitProject

from tests.unit.operations.declared_project import DeclaredProject, manifest, write_kubeconfig

OTHER_MAJOR = '__version__ = "7.2.0"\n'


def commit_with_code(root: Path, version: str, program: str) -> CommitProject:
    """A checkout that brings a Holdfast of its own, which is this program."""
    package = root / "infra" / "holdfast"
    (package / "cli").mkdir(parents=True)
    (package / "__init__.py").write_text(version)
    (package / "cli" / "__init__.py").touch()
    (package / "cli" / "main.py").write_text(program)
    return CommitProject(root)


@pytest.mark.parametrize(
    ("program", "text", "code"),
    [
        pytest.param("print('{}')", "equal: its own scan found no drift", 0, id="no layers"),
        pytest.param(
            """print('{"layers": [{"name": "x", "detail": "compared 3 objects"}]}')""",
            "equal: compared 3 objects",
            0,
            id="equal",
        ),
        pytest.param(
            """print('{"findings": [{"object": {"kind": "Service", "name": "a"}, "path": "x"}]}')
raise SystemExit(7)""",
            "not equal: Service a x",
            7,
            id="drift",
        ),
        pytest.param(
            """print('{"findings": [{"what": "Service a"}]}')
raise SystemExit(7)""",
            "the scan failed: exit code 7, and no report that can be read",
            1,
            id="a finding of another shape",
        ),
        pytest.param("print('hello')", "no report that can be read", 1, id="no JSON"),
        pytest.param(
            "raise SystemExit('error: no such option --no-engine')",
            "the scan failed: error: no such option --no-engine",
            1,
            id="an option that it lacks",
        ),
    ],
)
def test_code_of_another_major_version_is_asked_and_its_answer_is_never_a_traceback(
    tmp_path: Path, program: str, text: str, code: int
) -> None:
    found = verify(commit_with_code(tmp_path, OTHER_MAJOR, program), "dev")
    assert found.text.endswith(text)
    assert found.exit_code == ExitCode(code)


def test_a_commit_whose_code_does_not_end_is_one_error(tmp_path: Path) -> None:
    commit = commit_with_code(tmp_path, OTHER_MAJOR, "import time\ntime.sleep(60)")
    found = verify(CommitProject(commit.root, timeout_seconds=0.2), "dev")
    assert found.text == (
        "the scan failed: `holdfast drift` of the commit did not end within 0.2 s"
    )
    assert found.exit_code is ExitCode.ERROR


def test_a_commit_without_code_of_its_own_is_compared_in_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = DeclaredProject.write(tmp_path / "project", manifest("app"))
    nowhere = write_kubeconfig(tmp_path / "config", "http://127.0.0.1:1")
    monkeypatch.setenv("KUBECONFIG", str(nowhere))
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    # A child process would have no time to begin.
    found = verify(CommitProject(project.root, timeout_seconds=0.0), "dev")
    assert "did not end" not in found.text
    assert found.exit_code is ExitCode.ERROR


@pytest.mark.parametrize(
    ("version", "is_ours"),
    [
        pytest.param('__version__ = "0.9.3"\n', True, id="the same major version"),
        pytest.param("__version__ = '0.1.0'\n", True, id="other quotes"),
        pytest.param(OTHER_MAJOR, False, id="another one"),
        pytest.param("", False, id="none"),
    ],
)
def test_the_major_version_decides_whose_code_reads_the_files(
    tmp_path: Path, version: str, is_ours: bool
) -> None:
    assert commit_with_code(tmp_path, version, "").is_of_our_version is is_ours
