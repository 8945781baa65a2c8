"""`holdfast drift` over files and a fake API server: what goes in, what comes out."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from holdfast.adapters.cluster import backoff
from holdfast.adapters.cluster.backoff import Backoff
from holdfast.cli.main import run

from tests.unit.adapters.cluster.fake_api import Answer, FakeApi, failure, fake_api, page
from tests.unit.cli.drift_files import CONFIG, live, write

MAPS = "/api/v1/namespaces/cx/configmaps"


@pytest.fixture
def desired(tmp_path: Path) -> str:
    return write(tmp_path, "desired.json", CONFIG)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        pytest.param({"level": "info"}, 0, id="in sync"),
        pytest.param({"level": "debug"}, 7, id="drift"),
    ],
)
def test_files_are_compared_without_a_cluster(
    tmp_path: Path,
    desired: str,
    capsys: pytest.CaptureFixture[str],
    data: dict[str, str],
    code: int,
) -> None:
    file = write(tmp_path, "live.json", live(**data))
    assert run(["drift", "--desired", desired, "--live", file, "-o", "json"]) == code
    report = json.loads(capsys.readouterr().out)
    assert report["complete"] is True
    assert bool(report["findings"]) is (code == 7)


def test_an_audit_log_adds_the_user(
    tmp_path: Path, desired: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "audit.log"
    event = {
        "stage": "ResponseComplete",
        "verb": "update",
        "user": {"username": "alice@example.test"},
        "objectRef": {"resource": "configmaps", "namespace": "cx", "name": "support"},
        "requestURI": f"{MAPS}/support?fieldManager=kubectl-edit",
        "requestReceivedTimestamp": "2026-11-21T11:00:00.4Z",
    }
    log.write_text("no event\n" + json.dumps(event) + "\n")
    file = write(tmp_path, "live.json", live(level="info", extra="1"))
    arguments = ["drift", "--desired", desired, "--live", file, "--audit-log", str(log)]
    assert run(arguments) == 7
    assert "by       alice@example.test, kubectl-edit Update" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param([], "one of --stack and --desired is needed", id="nothing asked"),
        pytest.param(["-s", "dev", "--desired", "x"], "one of --stack and --desired", id="both"),
        pytest.param(["--desired", "absent"], "no such file", id="absent"),
        pytest.param(["--desired", "D", "--live", "absent"], "no such file", id="no live file"),
        pytest.param(["--desired", "D", "--kubeconfig", "absent"], "no kubeconfig", id="config"),
        pytest.param(["--desired", "TWICE"], "is declared in", id="declared twice"),
        pytest.param(["--desired", "D", "--no-cache"], "--no-cache requires", id="no cache"),
        pytest.param(["--desired", "D", "--live", "D", "--audit-log", "absent"], "no such file",
                     id="no audit log"),
    ],
)  # fmt: skip
def test_bad_input_is_one_message_and_exit_code_2(
    tmp_path: Path,
    desired: str,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    twice = write(tmp_path, "twice.json", CONFIG, CONFIG)
    named = {"D": desired, "TWICE": twice, "absent": str(tmp_path / "absent")}
    assert run(["drift", *(named.get(each, each) for each in arguments)]) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.out == ""


class TestCluster:
    @pytest.fixture
    def api(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
        monkeypatch.setattr(backoff, "REQUESTS", Backoff(0.0, 0.0))
        with fake_api() as running:
            yield running

    def arguments(self, api: FakeApi, folder: Path, desired: str) -> list[str]:
        config = {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "namespace": "cx"}}],
            "clusters": [{"name": "c", "cluster": {"server": api.url}}],
        }
        file = folder / "kubeconfig"
        file.write_text(json.dumps(config))
        return ["--desired", desired, "--kubeconfig", str(file), "-o", "json"]

    def test_what_may_not_be_read_makes_the_report_incomplete(
        self, api: FakeApi, tmp_path: Path, desired: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        api.on(MAPS, failure(403))
        assert run(["drift", *self.arguments(api, tmp_path, desired)]) == 1
        report = json.loads(capsys.readouterr().out)
        assert report["complete"] is False
        assert report["notChecked"][0]["scope"] == "ConfigMap in cx"

    def test_drift_that_is_seen_does_not_make_an_incomplete_scan_complete(
        self, api: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        secret = {**CONFIG, "kind": "Secret", "data": {}}
        both = write(tmp_path, "both.json", CONFIG, secret)
        api.on(MAPS, page(live(level="debug")))
        api.on("/api/v1/namespaces/cx/secrets", failure(403))
        assert run(["drift", *self.arguments(api, tmp_path, both)]) == 1
        assert len(json.loads(capsys.readouterr().out)["findings"]) == 1

    @pytest.mark.parametrize(
        "case",
        [
            pytest.param((failure(401), 3), id="not logged in"),
            pytest.param((Answer(hang_up=True), 1), id="no answer"),
        ],
    )
    def test_a_cluster_that_says_nothing_is_an_error_without_a_report(
        self,
        api: FakeApi,
        tmp_path: Path,
        desired: str,
        capsys: pytest.CaptureFixture[str],
        case: tuple[Answer, int],
    ) -> None:
        answer, code = case
        api.on(MAPS, answer)
        assert run(["drift", *self.arguments(api, tmp_path, desired)]) == code
        shown = capsys.readouterr()
        assert shown.out == ""
        assert "error: " in shown.err

    def test_an_object_without_namespace_is_looked_for_in_the_contexts(
        self, api: FakeApi, tmp_path: Path
    ) -> None:
        plain = write(tmp_path, "plain.json", {**CONFIG, "metadata": {"name": "support"}})
        api.on(MAPS, page(live(level="info")))
        assert run(["drift", *self.arguments(api, tmp_path, plain)]) == 0

    def test_a_revert_writes_what_it_showed_and_looks_again(
        self, api: FakeApi, tmp_path: Path, desired: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        drifted = live(level="debug", extra="1")
        api.on(MAPS, page(drifted), page(live(level="info")))
        api.on(f"{MAPS}/support", Answer(drifted))
        assert run(["drift", "revert", *self.arguments(api, tmp_path, desired), "--yes"]) == 0
        tried, writes = trials_and_writes(api)
        ((*_, tried_patch),) = tried[:1]
        ((*_, written_patch),) = writes
        assert tried_patch == written_patch
        *guards, change = json.loads(written_patch)
        assert [(each["op"], each["value"]) for each in guards] == [("test", "1"), ("test", "7")]
        assert (change["path"], change["value"]) == ("/data", {"level": "info"})
        assert all(query["fieldManager"] == "holdfast" for _, _, query, _ in writes)
        shown = capsys.readouterr()
        assert "reverted: ConfigMap cx/support" in shown.err
        assert json.loads(shown.out)["findings"] == []

    @pytest.mark.parametrize("status", [409, 422])
    def test_a_refused_write_is_said_and_is_exit_code_1(
        self,
        api: FakeApi,
        tmp_path: Path,
        desired: str,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        status: int,
    ) -> None:
        monkeypatch.setattr("holdfast.operations.remediate.revert_executor.PATIENCE_SECONDS", 0.0)
        drifted = live(level="debug")
        api.on(MAPS, page(drifted))
        api.on(f"{MAPS}/support", Answer(drifted), failure(status, "somebody else was faster"))
        assert run(["drift", "revert", *self.arguments(api, tmp_path, desired), "--yes"]) == 1
        assert "failed: ConfigMap cx/support" in capsys.readouterr().err

    def test_what_was_remediated_meanwhile_is_not_written(
        self, api: FakeApi, tmp_path: Path, desired: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        api.on(MAPS, page(live(level="debug")), page(live(level="info")))
        api.on(f"{MAPS}/support", Answer(live(level="info")))
        assert run(["drift", "revert", *self.arguments(api, tmp_path, desired), "--yes"]) == 0
        assert not [each for each in api.requests if each[0] == "PATCH"]
        assert "already as declared" in capsys.readouterr().err

    def test_only_what_was_shown_is_reverted(
        self, api: FakeApi, tmp_path: Path, desired: str
    ) -> None:
        api.on(MAPS, page(live(level="debug")), page(live(level="info")))
        api.on(f"{MAPS}/support", Answer(live(level="debug", extra="since then")))
        run(["drift", "revert", *self.arguments(api, tmp_path, desired), "--yes"])
        bodies = [json.loads(each[3]) for each in trials_and_writes(api)[1]]
        assert [type(body) for body in bodies] == [dict]


def trials_and_writes(api: FakeApi) -> tuple[list[Any], list[Any]]:
    """Dry runs, and what was really written."""
    patches = [each for each in api.requests if each[0] == "PATCH"]
    tried = [each for each in patches if "dryRun" in each[2]]
    return tried, [each for each in patches if "dryRun" not in each[2]]


def test_the_engine_knows_stacks_only(desired: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["drift", "--desired", desired, "--engine"]) == 2
    assert "error: --engine requires --stack" in capsys.readouterr().err
    assert run(["drift", "--desired", desired, "--timeout", "60"]) == 2
    assert "error: --timeout is of Pulumi's refresh" in capsys.readouterr().err


RULE = """\
ignore:
  - target: {kind: ConfigMap, namespace: cx}
    paths: [data.level]
    reason: raised while the incident lasts
    owner: cx
    expires: "%s"
"""


def test_expected_drift_is_counted_and_not_reported(
    tmp_path: Path, desired: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, "live.json", live(level="debug"))
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULE % "2999-01-01")
    arguments = ["drift", "--desired", desired, "--live", file, "--ignore-file", str(rules)]
    assert run([*arguments, "-o", "json"]) == 0
    (ignored,) = json.loads(capsys.readouterr().out)["ignored"]
    assert (ignored["rule"], ignored["matches"]) == (f"{rules}:2:5", 1)
    assert ignored["findings"][0]["path"] == "data.level"
    assert run(arguments) == 0
    assert "expected: 1 finding (1 medium) by " in capsys.readouterr().out


def test_an_expired_rule_is_drift_and_hides_none(
    tmp_path: Path, desired: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, "live.json", live(level="debug"))
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULE % "2020-01-01")
    arguments = ["drift", "--desired", desired, "--live", file, "--ignore-file", str(rules)]
    assert run([*arguments, "-o", "json"]) == 7
    found = json.loads(capsys.readouterr().out)["findings"]
    assert {each["object"]["kind"] for each in found} == {"ConfigMap", "DriftIgnore"}


def test_a_finding_is_expected_from_now_on(
    tmp_path: Path, desired: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, "live.json", live(level="debug"))
    rules = tmp_path / "rules.yaml"
    arguments = ["--desired", desired, "--live", file, "--ignore-file", str(rules)]
    said = ["--reason", "incident", "--owner", "cx", "--expires", "2999-01-01"]
    rules.write_text("# rules\n")
    assert run(["drift", "ignore", "ConfigMap cx/support data.level", *arguments, *said]) == 0
    assert "added 1 rule" in capsys.readouterr().err
    assert rules.read_text().startswith("# rules\nignore:\n  - target: {group: ")
    assert run(["drift", *arguments]) == 0


@pytest.mark.parametrize(
    ("finding", "options", "error"),
    [
        pytest.param(
            "ConfigMap cx/support data.level",
            ["--reason", "x"],
            "Missing option '--owner'",
            id="half of what is needed",
        ),
        pytest.param(
            "ConfigMap cx/support data.level",
            ["--reason", "x", "--owner", "cx", "--expires", "2020-01-01"],
            "--expires 2020-01-01 has passed",
            id="a day that has passed",
        ),
        pytest.param(
            "ConfigMap cx/other",
            ["--reason", "x", "--owner", "cx", "--expires", "2999-01-01"],
            "the scan has no such finding; the scan found 'ConfigMap cx/support data.level'",
            id="no such finding",
        ),
        pytest.param(
            "what",
            ["--reason", "x", "--owner", "cx", "--expires", "2999-01-01"],
            "FINDING 'what' names no finding; write it as in the report",
            id="no finding at all",
        ),
        pytest.param("", [], "Missing argument 'FINDING...'", id="none"),
    ],
)
def test_what_cannot_be_expected_is_refused(
    tmp_path: Path,
    desired: str,
    capsys: pytest.CaptureFixture[str],
    finding: str,
    options: list[str],
    error: str,
) -> None:
    file = write(tmp_path, "live.json", live(level="debug"))
    rules = tmp_path / "rules.yaml"
    rules.write_text("ignore: []\n")
    arguments = ["--desired", desired, "--live", file, "--ignore-file", str(rules)]
    asked = [finding] if finding else []
    assert run(["drift", "ignore", *asked, *arguments, *options]) == 2
    assert error in capsys.readouterr().err
    assert rules.read_text() == "ignore: []\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(["-s", "dev"], "stack dev is named twice", id="twice"),
        pytest.param(["-s", "prod", "--probes"], "--probes takes one stack", id="probes"),
        pytest.param(["-s", "prod", "--engine"], "--engine takes one stack", id="engine"),
        pytest.param(["-s", "prod", "--timeout", "9"], "--timeout takes one stack", id="timeout"),
        pytest.param(["-s", "prod", "--context", "x"], "--context takes one stack", id="context"),
        pytest.param(
            ["-s", "prod", "-o", "sarif"], "reported as text or json, not as sarif", id="format"
        ),
        pytest.param(
            ["-s", "prod", "--report", "html=x.html"], "text or json, not as html", id="report"
        ),
    ],
)
def test_what_is_of_one_stack_is_refused_for_several(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["drift", "-s", "dev", *options]) == 2
    assert message in capsys.readouterr().err
