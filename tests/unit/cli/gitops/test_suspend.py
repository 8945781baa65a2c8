"""A pause says how far it reaches: loops on other machines go on."""

from pathlib import Path

import pytest
from holdfast.cli.main import run

from tests.unit.operations.declared_project import DeclaredProject, manifest


def test_a_pause_says_that_it_holds_on_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = DeclaredProject.write(tmp_path / "project", manifest("first"))
    monkeypatch.chdir(project.root)
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    assert run(["gitops", "suspend", "-s", "dev", "--reason", "an incident"]) == 0
    assert capsys.readouterr().err == "paused on this machine: dev (an incident)\n"
