"""`holdfast policy export`: the rules for a cluster, in three forms."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from holdfast.cli.main import run

from tests.unit.manifest.projects import EXCEPTION, MANIFEST, STACK, agent, write

SETTINGS = (
    "config: {'holdfast:policy': {profile: prod, rules: {job-bounds: advisory},"
    " admission: {mode: warn}}}"
)


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path, "Pulumi.yaml", "name: holdfast\n")
    write(tmp_path, MANIFEST, agent(spec="owner: sre"))
    write(tmp_path, STACK, SETTINGS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def exported(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert run(["policy", "export", *arguments]) == 0
    return list(yaml.safe_load_all(capsys.readouterr().out))


@pytest.mark.parametrize(
    ("target", "kinds"),
    [
        pytest.param(
            "vap",
            {
                "CustomResourceDefinition",
                "PolicyParameters",
                "ValidatingAdmissionPolicy",
                "ValidatingAdmissionPolicyBinding",
            },
            id="vap",
        ),
        pytest.param(
            "map",
            {
                "CustomResourceDefinition",
                "PolicyParameters",
                "MutatingAdmissionPolicy",
                "MutatingAdmissionPolicyBinding",
            },
            id="map",
        ),
        pytest.param("kyverno", {"ValidatingPolicy"}, id="kyverno"),
    ],
)
def test_every_form_has_its_kinds(
    target: str, kinds: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    objects = exported(capsys, "--target", target)
    assert {item["kind"] for item in objects} == kinds


def test_a_constraint_of_gatekeeper_is_of_the_kind_of_its_template(
    capsys: pytest.CaptureFixture[str],
) -> None:
    objects = exported(capsys, "--target", "gatekeeper")
    templates = [item for item in objects if item["kind"] == "ConstraintTemplate"]
    made = {item["spec"]["crd"]["spec"]["names"]["kind"] for item in templates}
    constraints = [item for item in objects if item["kind"] != "ConstraintTemplate"]
    assert {item["kind"] for item in constraints} == made
    assert {item["metadata"]["name"] for item in templates} == {kind.lower() for kind in made}
    assert {item["spec"]["enforcementAction"] for item in constraints} == {"deny", "warn"}


def test_a_stack_gives_levels_namespaces_and_mode(capsys: pytest.CaptureFixture[str]) -> None:
    objects = exported(capsys, "-s", "dev")
    bindings = [item for item in objects if item["kind"].endswith("Binding")]
    assert {tuple(item["spec"]["validationActions"]) for item in bindings} == {("Warn", "Audit")}
    parameters = objects[1]
    assert parameters["metadata"]["name"] == "holdfast-dev"
    assert parameters["spec"]["namespaces"]


def test_the_mode_may_be_another_than_the_stack_s(capsys: pytest.CaptureFixture[str]) -> None:
    objects = exported(capsys, "-s", "dev", "--mode", "enforce")
    bindings = [item for item in objects if item["kind"].endswith("Binding")]
    assert ["Deny", "Audit"] in [item["spec"]["validationActions"] for item in bindings]


def test_what_only_warns_puts_nothing_right(capsys: pytest.CaptureFixture[str]) -> None:
    objects = exported(capsys, "--target", "map", "--mode", "audit")
    assert {item["kind"] for item in objects} == {"CustomResourceDefinition", "PolicyParameters"}


def test_waivers_reach_every_form(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, "agents/waiver.yaml", EXCEPTION)
    for target in ("vap", "map", "kyverno", "gatekeeper"):
        assert run(["policy", "export", "-s", "dev", "--target", target, "-o", "json"]) == 0
        text = capsys.readouterr().out
        assert "approver" in text
        assert json.loads(text)["kind"] == "List"


def test_a_folder_holds_a_file_an_object(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policy", "export", "-o", "dir", "--to", "out"]) == 0
    assert "objects hold" in capsys.readouterr().err
    assert (project / "out").is_dir()
    kinds = [
        yaml.safe_load(path.read_text())["kind"] for path in sorted(project.glob("out/*.yaml"))
    ]
    assert kinds[0] == "CustomResourceDefinition"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(["-o", "dir"], "name the folder with --to", id="no folder"),
        pytest.param(["--to", "out"], "remove --to and --force", id="folder without effect"),
        pytest.param(
            ["--profile", "qa"], "is not one of 'dev', 'staging', 'prod'", id="unknown profile"
        ),
        pytest.param(["-s", "dev", "--profile", "prod"], "--profile has no effect", id="both"),
    ],
)
def test_what_would_be_ignored_is_refused(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["policy", "export", *arguments]) == 2
    assert expected in capsys.readouterr().err


def test_a_setting_that_means_nothing_is_refused_in_its_line(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, STACK, "config:\n  holdfast:policy:\n    admission: {mode: block}\n")
    assert run(["validate", "-s", "dev"]) == 2
    told = capsys.readouterr()
    assert "Pulumi.dev.yaml:3" in told.out + told.err
    assert "enforce" in told.out + told.err
