"""`holdfast drift` with remediation: what is refused, what is written, what is recorded."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from holdfast.adapters.cluster import backoff
from holdfast.adapters.cluster.backoff import Backoff
from holdfast.adapters.journal.scan_journal import read_history
from holdfast.cli.main import run
from holdfast.operations.scan.recording import default_history_file

from tests.unit.adapters.cluster.fake_api import Answer, FakeApi, failure, fake_api, page
from tests.unit.cli.drift_files import CONFIG, live, write
from tests.unit.operations.declared_project import write_kubeconfig
from tests.unit.operations.describe.running_project import running, serve, write_project

MAPS = "/api/v1/namespaces/cx/configmaps"
ONE = f"{MAPS}/support"
GONE = (failure(404),)
"""How a scan makes sure that what no list holds is not there."""


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
    monkeypatch.setattr(backoff, "REQUESTS", Backoff(0.0, 0.0))
    with fake_api() as running:
        yield running


def arguments(api: FakeApi, folder: Path, *desired: dict[str, Any]) -> list[str]:
    config = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "namespace": "cx"}}],
        "clusters": [{"name": "c", "cluster": {"server": api.url}}],
    }
    file = folder / "kubeconfig"
    file.write_text(json.dumps(config))
    objects = write(folder, "desired.json", *desired)
    return ["--desired", objects, "--kubeconfig", str(file), "-o", "json"]


def written(api: FakeApi) -> list[dict[str, Any]]:
    """Bodies of what was really applied."""
    patches = [each for each in api.requests if each[0] == "PATCH" and "dryRun" not in each[2]]
    return [json.loads(body) for _, _, _, body in patches]


class TestCreation:
    def test_a_missing_object_is_created_only_while_it_is_missing(
        self, api: FakeApi, tmp_path: Path
    ) -> None:
        api.on(MAPS, page(), page(live(level="info")))
        api.on(ONE, *GONE, failure(404), Answer(live(level="info")))
        assert run(["drift", "revert", *arguments(api, tmp_path, CONFIG), "--yes"]) == 0
        applied = [json.loads(each[3]) for each in api.requests if each[0] == "PATCH"]
        # The version of no object: the server refuses where one exists.
        assert [each["metadata"]["resourceVersion"] for each in applied] == ["1", "1"]

    def test_what_another_client_created_in_between_is_not_overwritten(
        self, api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        theirs = live(level="theirs")
        api.on(MAPS, page(), page(theirs))
        trial, creation = Answer(CONFIG), failure(409, "it exists")
        api.on(ONE, *GONE, failure(404), trial, creation, Answer(theirs))
        assert run(["drift", "revert", *arguments(api, tmp_path, CONFIG), "--yes"]) == 1
        shown = capsys.readouterr().err
        assert "failed: ConfigMap cx/support: another client has created it" in shown
        assert len(written(api)) == 1

    def test_what_was_created_as_declared_in_between_is_as_declared(
        self, api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        api.on(MAPS, page(), page(live(level="info")))
        api.on(ONE, *GONE, Answer(live(level="info")))
        assert run(["drift", "revert", *arguments(api, tmp_path, CONFIG), "--yes"]) == 0
        assert "already as declared: ConfigMap cx/support" in capsys.readouterr().err
        assert written(api) == []

    def test_a_replacement_takes_over_nothing_that_was_created_after_the_deletion(
        self, api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        immutable = {**live(level="debug"), "immutable": True}
        api.on(MAPS, page(immutable))
        api.on(ONE, Answer(immutable), Answer({}), Answer({}), failure(404), failure(409))
        asked = ["--allow-replace", "--yes"]
        assert run(["drift", "revert", *arguments(api, tmp_path, CONFIG), *asked]) == 1
        assert "another client has created it in between" in capsys.readouterr().err
        (body,) = written(api)
        assert body["metadata"]["resourceVersion"] == "1"

    def test_an_object_that_is_another_one_after_the_deletion_is_not_waited_for(
        self, api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        immutable = {**live(level="debug"), "immutable": True}
        other = {**immutable, "metadata": {**immutable["metadata"], "uid": "2"}}
        api.on(MAPS, page(immutable))
        api.on(ONE, Answer(immutable), Answer({}), Answer({}), Answer(other))
        asked = ["--allow-replace", "--yes"]
        assert run(["drift", "revert", *arguments(api, tmp_path, CONFIG), *asked]) == 1
        assert "another client has created it in between" in capsys.readouterr().err


def test_a_revert_of_one_finding_that_does_nothing_records_the_whole_scan(
    api: FakeApi, tmp_path: Path
) -> None:
    other = {**CONFIG, "metadata": {**CONFIG["metadata"], "name": "other"}}
    fixed = {**live(level="debug"), "immutable": True}
    drifted = {**fixed, "metadata": {**fixed["metadata"], "name": "other", "uid": "2"}}
    api.on(MAPS, page(fixed, drifted))
    history = tmp_path / "scans.jsonl"
    asked = ["--history", str(history), "--yes", "--only", "ConfigMap cx/other"]
    assert run(["drift", "revert", *arguments(api, tmp_path, CONFIG, other), *asked]) == 7
    (line,) = history.read_text().splitlines()
    found = json.loads(line)["report"]["findings"]
    assert {each["object"]["name"] for each in found} == {"support", "other"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param("drift -s dev --yes", "No such option", id="consent to a report"),
        pytest.param("drift plan -s dev --yes", "No such option", id="consent to a plan"),
        pytest.param("drift watch -s dev --engine", "No such option", id="engine, watch"),
        pytest.param("drift revert -s dev --engine", "No such option", id="engine"),
        pytest.param("drift revert -s dev --live x", "No such option", id="of a file"),
        pytest.param("drift revert --desired x --by-mode", "--by-mode requires --stack", id="mode"),
        pytest.param("drift -s dev --revert", "it is `holdfast drift revert` now", id="earlier"),
    ],
)
def test_an_option_without_effect_is_refused_before_anything_is_read(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words.split()) == 2
    assert message in capsys.readouterr().err


def test_a_rule_that_would_not_be_valid_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desired = write(tmp_path, "desired.json", CONFIG)
    file = write(tmp_path, "live.json", live(level="debug"))
    rules = tmp_path / "rules.yaml"
    rules.write_text("ignore: []\n")
    said = ["--reason", "incident", "--owner", "customer care!", "--expires", "2999-01-01"]
    asked = ["ConfigMap cx/support data.level", "--ignore-file", str(rules), *said]
    assert run(["drift", "ignore", "--desired", desired, "--live", file, *asked]) == 2
    assert "owner" in capsys.readouterr().err
    assert rules.read_text() == "ignore: []\n"


def test_acting_on_one_finding_leaves_the_others_in_the_history(
    api: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = write_project(tmp_path / "project")
    objects = running(project)
    for name in ("first", "tools"):
        (container,) = objects["Deployment", name]["spec"]["template"]["spec"]["containers"]
        container["image"] = "x:hotfix"
    serve(api, objects.values())
    monkeypatch.chdir(project.root)
    monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path / "config", api.url)))
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    only = ["--only", "Deployment loop/first"]
    assert run(["drift", "revert", "-s", "dev", "--by-mode", "--yes", *only]) == 7
    (scan,) = read_history(default_history_file(project.root, "dev")).observations
    assert {each.ref.name for each in scan.report.drift} == {"first", "tools"}
