"""`holdfast history`: options that would have no effect are errors."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from holdfast.cli.history import command
from holdfast.errors import InputError

from tests.unit.operations.declared_project import DeclaredProject, manifest


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(
            ["app", "-s", "dev", "--commit-of", "Service/app"], "takes no agent", id="agent"
        ),
        pytest.param(
            ["-s", "dev", "--commit-of", "Service/app", "--limit", "1"],
            "--limit has no effect",
            id="limit",
        ),
        pytest.param(["dev", "--at", "2026-11-20"], "--at requires --scans", id="moment"),
        pytest.param(["dev", "--alert-after", "9"], "--alert-after requires", id="threshold"),
        pytest.param(["dev", "--scans", "--gates"], "--scans and --gates exclude", id="two"),
        pytest.param(
            ["dev", "--scans", "--limit", "1"], "--limit has no effect", id="limit of scans"
        ),
    ],
)
def test_what_has_no_effect_beside_an_object_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    project = DeclaredProject.write(tmp_path / "project", manifest("app"))
    monkeypatch.chdir(project.root)
    done = CliRunner().invoke(command, arguments)
    assert isinstance(done.exception, InputError)
    assert said in str(done.exception)
