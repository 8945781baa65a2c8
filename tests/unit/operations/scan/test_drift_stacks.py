"""`holdfast drift -s A -s B`: what is wrong with the way to one cluster hides no other stack."""

from pathlib import Path

import pytest
from holdfast.cli.main import run

from tests.unit.manifest.projects import MANIFEST, agent, write


def test_a_stack_whose_context_is_not_here_is_not_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "Pulumi.yaml", "name: holdfast\nruntime: python\n")
    write(tmp_path, MANIFEST, agent(spec="owner: sre"))
    for stack in ("one", "two"):
        write(
            tmp_path,
            f"stacks/Pulumi.{stack}.yaml",
            f"""\
            config:
              holdfast:cluster: {{context: {stack}}}
            """,
        )
    write(tmp_path, "kubeconfig", "apiVersion: v1\nkind: Config\ncontexts: []\n")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    assert run(["drift", "-s", "one", "-s", "two", "--no-engine"]) == 1
    told = capsys.readouterr().out
    for stack in ("one", "two"):
        assert f"not checked: stack {stack}: no context '{stack}' in" in told
    assert "2 stacks, 2 agents: 2 Unknown" in told
