"""`-o text|wide|json|yaml|name`: alike for every verb that lists, and the same facts in each."""

import json
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml
from holdfast.cli.main import run
from holdfast.cli.verbs import VERBS, Verb
from holdfast.report.documents.drift import drift_json
from holdfast.report.text.listed import LIST_FORMATS

from tests.unit.cli.drift_files import CONFIG, live, write
from tests.unit.operations.declared_project import DeclaredProject, manifest
from tests.unit.report.reports import REPORT

LISTS = {
    "drift",
    "drift convert",
    "drift owners",
    "explain",
    "history",
    "policy list",
    "sandbox list",
    "status",
}
"""Every verb whose result is several things of one sort, each of which has a name."""


def verbs(table: dict[str, Verb], above: str = "") -> Iterator[tuple[str, click.Command]]:
    for name, verb in table.items():
        words = f"{above} {name}".strip()
        yield words, verb.load()
        yield from verbs(dict(verb.below), words)


def formats(command: click.Command) -> set[str]:
    output = next((each for each in command.params if "--output" in each.opts), None)
    kind = output.type if output else None
    return set(map(str, kind.choices)) if isinstance(kind, click.Choice) else set()


def test_exactly_the_verbs_that_list_have_every_format_of_a_list() -> None:
    complete = {
        words for words, command in verbs(dict(VERBS)) if formats(command) >= set(LIST_FORMATS)
    }
    partly = {words for words, command in verbs(dict(VERBS)) if "name" in formats(command)}
    assert complete == partly == LISTS


def test_every_verb_that_is_called_list_lists() -> None:
    assert {words for words, _ in verbs(dict(VERBS)) if words.split()[-1] == "list"} <= LISTS


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = DeclaredProject.write(tmp_path / "project", manifest("app"))
    monkeypatch.chdir(made.root)
    (made.root / "drift.json").write_text(drift_json(REPORT))
    scan = ["--live", write(tmp_path, "live.json", live(level="debug")), "--history", "scans.jsonl"]
    run(["drift", "--desired", write(tmp_path, "desired.json", CONFIG), *scan])
    return made.root


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("line", "name"),
    [
        pytest.param("policy list", "image-digest-pinned", id="rules"),
        pytest.param("policy list --profile dev", "pss-privileged", id="rules of a profile"),
        pytest.param("explain", "MCPServer", id="kinds"),
        pytest.param("explain spec.scaling", "spec.scaling.replicas", id="fields"),
        pytest.param("explain MCPServer.spec", "MCPServer.spec.image", id="fields of a kind"),
        pytest.param("explain pss-privileged", "pss-privileged", id="one rule"),
        pytest.param("drift convert drift.json", "nightly", id="findings"),
        pytest.param("history --scans --history scans.jsonl", "data.level", id="scans"),
        pytest.param("history dev --gates", "", id="gates"),
        pytest.param("sandbox list", "", id="sandboxes"),
    ],
)
def test_every_format_has_the_same_facts(
    capsys: pytest.CaptureFixture[str], line: str, name: str
) -> None:
    capsys.readouterr()
    shown = {}
    for chosen in LIST_FORMATS:
        assert run([*line.split(), "-o", chosen]) == 0, chosen
        shown[chosen] = capsys.readouterr().out
    assert yaml.safe_load(shown["yaml"]) == json.loads(shown["json"])
    assert name in shown["name"]
    assert "\x1b" not in shown["name"]


@pytest.mark.usefixtures("project")
def test_what_explain_names_it_explains(capsys: pytest.CaptureFixture[str]) -> None:
    for asked in ("spec.model", "MCPServer.spec", "Stack", "AgentTeam"):
        run(["explain", asked, "-o", "name"])
        for name in capsys.readouterr().out.split():
            assert run(["explain", name]) == 0, name
            capsys.readouterr()


@pytest.mark.usefixtures("project")
def test_a_verb_that_lists_no_things_refuses_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["validate", "-o", "name"]) == 2
    assert "'name' is not one of" in capsys.readouterr().err
