"""`holdfast policy`: rules listed, settings checked with their line, waivers compiled."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from holdfast.cli.main import run
from holdfast_policies.table import RULES

from tests.unit.manifest.projects import EXCEPTION, MANIFEST, STACK, agent, write

CONFIG = "policy-pack/config/prod.json"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path, "Pulumi.yaml", "name: holdfast\n")
    write(tmp_path, MANIFEST, agent(spec="owner: sre"))
    write(tmp_path, STACK, "config: {}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_lists_every_rule_with_its_level(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policy", "list", "--profile", "dev"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["RULE", "LEVEL", "TITLE"]
    assert sum(not line.startswith(" ") for line in lines) == len(RULES)
    assert lines[0].split()[:2] == ["pss-privileged", "mandatory"]
    assert run(["policy", "list", "-o", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rules"]) == len(RULES)
    assert run(["policy", "list", "--profile", "qa"]) == 2


WRONG = [
    pytest.param(
        '{"pss-privilegd": "advisory"}',
        'there is no rule "pss-privilegd"; did you mean "pss-privileged"?',
        id="unknown rule",
    ),
    pytest.param(
        '{"pss-privileged":\n "fatal"}',
        "1:2: error: pss-privileged: pss-privileged: expected a level",
        id="unknown level",
    ),
    pytest.param(
        '{"image-registry-allowlist": {"enforcementLevel": "mandatory",\n "registries": []}}',
        "image-registry-allowlist.registries: an empty list would allow nothing",
        id="empty list",
    ),
    pytest.param(
        '{"image-registry-allowlist": {"enforcementLevel": "mandatory",\n "registry": ["a"]}}',
        'has no parameter "registry"; did you mean "registries"?',
        id="unknown parameter",
    ),
    pytest.param(
        '{"job-bounds": {}}', "expected enforcementLevel next to the parameters", id="no level"
    ),
    pytest.param(
        '{"all": {"most": 3}}', '"all" takes a level and appliesTo only', id="all with parameters"
    ),
    pytest.param("[]", "expected a mapping of rules to levels", id="a list"),
    pytest.param("{", "error: ", id="no JSON"),
]


@pytest.mark.parametrize(("text", "words"), WRONG)
def test_a_config_file_is_refused_at_the_key_that_is_wrong(
    project: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    write(project, CONFIG, text)
    assert run(["validate", CONFIG]) == 2
    output = capsys.readouterr()
    assert output.out.startswith(CONFIG)
    assert words in output.out
    assert output.err.startswith("1 error")


def test_without_files_the_stacks_and_the_project_s_own_files_are_checked(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["validate"]) == 0
    assert " error" not in capsys.readouterr().err
    rules = "{pss-privileged: mandatory,\n pss-x: advisory}"
    write(project, STACK, f"config:\n  holdfast:policy: {{rules: {rules}}}\n")
    write(project, CONFIG, '{"pss-y": "advisory"}')
    assert run(["validate"]) == 2
    places = [line.split(" ", 1)[0] for line in capsys.readouterr().out.splitlines()]
    assert places == [f"{CONFIG}:1:2:", f"{STACK}:3:2:"]


def test_waivers_are_compiled_and_validate_says_when_they_lag_behind(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    soon = str(datetime.now(UTC).date() + timedelta(days=30))
    write(project, "agents/waiver.yaml", EXCEPTION.replace("2026-05-30", soon))
    (project / "policy-pack").mkdir()
    assert run(["validate", "-s", "dev"]) == 2
    assert "run `holdfast validate --write-waivers`" in capsys.readouterr().out
    assert run(["validate", "--write-waivers", "-s", "dev"]) == 0
    (waiver,) = json.loads((project / "policy-pack/waivers.yaml").read_text())["waivers"]
    assert (waiver["name"], waiver["expires"]) == ("legacy-egress", soon)
    assert run(["validate", "-s", "dev"]) == 0
