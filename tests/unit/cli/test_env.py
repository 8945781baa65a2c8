import json
import subprocess
from pathlib import Path

import pytest
from holdfast.adapters.engine.run import executable
from holdfast.cli.main import run

STACK = "config:\n  holdfast:cluster: {context: holdfast-team-a}\n"


@pytest.fixture(autouse=True)
def project_with_its_own_world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    built = tmp_path / "built"
    built.mkdir()
    (built / "pulumi").write_text("#!/bin/sh\necho v3.259.0\n")
    (built / "pulumi").chmod(0o755)
    (built / "pulumi-resource-kubernetes").touch()
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.dev.yaml").write_text(STACK)
    (tmp_path / "stacks" / "Pulumi.prod.yaml").write_text("config: {}\n")
    (tmp_path / "Pulumi.yaml").write_text("name: holdfast\nruntime: python\n")
    for name in ("PULUMI_HOME", "PULUMI_BACKEND_URL", "HOLDFAST_PULUMI", "KUBECONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOLDFAST_TOOLCHAIN", str(built))
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    executable._checked.cache_clear()


def make_sandbox(state: Path, name: str) -> Path:
    kubeconfig = state / "sandboxes" / name / "admin.kubeconfig"
    kubeconfig.parent.mkdir(parents=True)
    kubeconfig.touch()
    return kubeconfig


def variables_of(*arguments: str, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    assert run(["env", "-o", "json", *arguments]) == 0
    variables: dict[str, str] = json.loads(capsys.readouterr().out)["variables"]
    return variables


def test_a_shell_that_evaluates_it_finds_the_built_pulumi(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["env"]) == 0
    script = 'eval "$1"; command -v pulumi; echo "$PULUMI_BACKEND_URL"'

    said = subprocess.run(
        ["/bin/sh", "-c", script, "sh", capsys.readouterr().out],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()

    assert said == [str(tmp_path / "built/pulumi"), f"file://{tmp_path}/state/pulumi-state"]
    assert (tmp_path / "state" / "pulumi-state").is_dir()


def test_a_stack_in_a_sandbox_gets_its_kubeconfig(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    make_sandbox(tmp_path / "state", "default")
    kubeconfig = make_sandbox(tmp_path / "state", "team-a")

    assert variables_of("-s", "dev", capsys=capsys)["KUBECONFIG"] == str(kubeconfig)


def test_a_stack_in_another_cluster_keeps_the_kubeconfig_in_use(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    make_sandbox(tmp_path / "state", "default")

    assert "KUBECONFIG" not in variables_of("-s", "prod", capsys=capsys)


def test_without_a_stack_the_default_sandbox_is_meant(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    kubeconfig = make_sandbox(tmp_path / "state", "default")

    assert variables_of(capsys=capsys)["KUBECONFIG"] == str(kubeconfig)


def test_without_any_sandbox_the_kubeconfig_in_use_stays(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "KUBECONFIG" not in variables_of("-s", "dev", capsys=capsys)


def test_an_unknown_stack_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["env", "-s", "devv"]) == 6
    assert "devv" in capsys.readouterr().err
