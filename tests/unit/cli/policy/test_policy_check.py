"""`holdfast policy check` over manifests and files: verdicts, places, formats, exit codes."""

import html
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from holdfast.cli.main import run
from holdfast.report.exchange.formats import POLICY_FORMATS

from tests.unit.manifest.projects import EXCEPTION, MANIFEST, STACK, agent, spec, write

PRIVILEGED = spec("owner: sre\npod: {security: {securityContext: {privileged: true}}}")
OUTSIDE = """\
config:
  holdfast:policy:
    rules:
      image-signature-verification-in-place: {verified_by: the cluster}
      stack-admission-parity: {installed_by: the cluster}
"""
POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: helper
  labels: {holdfast.dev/agent: helper}
spec:
  containers:
  - name: main
    image: "registry.example/helper:latest"
    securityContext:
      privileged: true
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path, "Pulumi.yaml", "name: holdfast\n")
    write(tmp_path, MANIFEST, agent(spec="owner: sre"))
    write(tmp_path, STACK, OUTSIDE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def document(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_what_manifests_stand_for_is_judged_by_the_profile_of_the_stack(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, MANIFEST, PRIVILEGED)
    assert run(["policy", "check", "-s", "dev", "-o", "json"]) == 5
    report = document(capsys)
    found = next(each for each in report["findings"] if each["rule"] == "pss-privileged")
    assert found["verdict"] == "violated"
    assert found["agent"] == "triage"
    assert found["declaredAt"] == {"file": MANIFEST, "line": 8, "column": 38}
    assert found["path"].endswith("containers[name=agent].securityContext.privileged")
    assert report["profile"] == "dev"
    assert report["summary"]["passed"] > 50
    passed = {rule for each in report["objects"] for rule in each["passed"]}
    assert "pss-host-path" in passed


def test_the_field_of_a_file_is_named_with_line_and_column(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, "deploy/pod.yaml", f"# first\n---\n{POD}")
    assert run(["policy", "check", "--files", "deploy", "--profile", "dev"]) == 5
    shown = capsys.readouterr().out
    assert "Pod helper  (agent helper)" in shown
    assert "  at deploy/pod.yaml:13:19\n" in shown
    assert "1 object, profile dev" in shown


def test_a_config_file_overrides_single_rules(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, "pod.yaml", POD)
    write(project, "rules.json", '{"all": "disabled", "pss-privileged": "advisory"}')
    assert run(["policy", "check", "--files", "pod.yaml", "--config", "rules.json"]) == 0
    out = capsys.readouterr().out
    assert out.endswith("2 advisory violations, 0 passed (1 object, profile prod)\n")
    assert "pss-privileged (mandatory → advisory)" in out
    assert "by rules.json: " in out


def test_a_check_that_asks_no_rule_is_never_fine(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, "pod.yaml", POD)
    write(project, "rules.json", '{"all": "disabled"}')
    assert run(["policy", "check", "--files", "pod.yaml", "--config", "rules.json"]) == 1
    out = capsys.readouterr().out
    assert "every rule is disabled" in out
    assert "INCOMPLETE" in out


@pytest.mark.parametrize("output", POLICY_FORMATS)
def test_every_format_says_which_rules_were_weakened(
    output: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, "pod.yaml", POD)
    write(project, "rules.json", '{"pss-sysctls": "advisory", "pss-proc-mount": "disabled"}')
    command = ["policy", "check", "--files", "pod.yaml", "--config", "rules.json", "-o", output]
    assert run(command) == 5
    out = capsys.readouterr().out
    wanted = "rule-weakened" if output == "prometheus" else "pss-proc-mount (mandatory → disabled)"
    assert wanted in html.unescape(out).replace("\\u2192", "→")


def test_manifests_among_the_files_make_the_result_incomplete(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["policy", "check", "--files", "agents"]) == 1
    out = capsys.readouterr().out
    assert "NOT CHECKED  1 Holdfast manifest: " in out
    assert "run `holdfast policy check -s STACK`" in out
    assert "INCOMPLETE" in out


def test_every_object_can_be_listed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, "pod.yaml", POD)
    assert run(["policy", "check", "--files", "pod.yaml", "--objects"]) == 5
    first, second = capsys.readouterr().out.splitlines()[:2]
    assert first.startswith("Pod helper  (agent helper): ")
    assert " passed, " in first
    assert second.startswith("the stack as a whole: ")


def test_a_waived_violation_stays_visible_and_refuses_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, MANIFEST, PRIVILEGED)
    soon = str(datetime.now(UTC).date() + timedelta(days=30))
    waiver = EXCEPTION.replace("2026-05-30", soon)
    waiver = waiver.replace("egress-scoped", "pss-privileged, pss-privilege-escalation")
    waiver = waiver.replace("kind: NetworkPolicy", "kind: Deployment")
    write(project, "agents/waiver.yaml", waiver)
    run(["policy", "check", "-s", "dev", "-o", "json"])
    found = [each for each in document(capsys)["findings"] if each["rule"] == "pss-privileged"]
    assert [each["verdict"] for each in found] == ["waived"]
    assert "by security for sre (OPS-17)" in found[0]["waiver"]
    assert found[0]["level"] == "advisory"


@pytest.mark.parametrize(
    ("ends_in_days", "rule", "code"),
    [
        pytest.param(-1, "waiver-expired", 5, id="ended"),
        pytest.param(30, "waiver-unused", 0, id="of no use"),
    ],
)
def test_a_waiver_that_grants_nothing_is_reported(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    ends_in_days: int,
    rule: str,
    code: int,
) -> None:
    day = str(datetime.now(UTC).date() + timedelta(days=ends_in_days))
    write(project, "agents/waiver.yaml", EXCEPTION.replace("2026-05-30", day))
    write(project, "rules.json", '{"all": "advisory"}')
    assert run(["policy", "check", "-s", "dev", "--config", "rules.json", "-o", "json"]) == code
    (told,) = [each for each in document(capsys)["findings"] if each["rule"].startswith("waiver")]
    assert told["rule"] == rule
    assert told["object"]["kind"] == "NetworkPolicy"
    assert told["remedy"].startswith("sre ")


@pytest.mark.parametrize("chosen", POLICY_FORMATS)
def test_every_format_tells_the_rule(
    project: Path, capsys: pytest.CaptureFixture[str], chosen: str
) -> None:
    write(project, "pod.yaml", POD)
    assert run(["policy", "check", "--files", "pod.yaml", "-o", chosen]) == 5
    assert "pss-privileged" in capsys.readouterr().out


def test_an_advisory_fails_no_test_and_is_no_error(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, "pod.yaml", POD)
    write(project, "rules.json", '{"all": "disabled", "pss-privileged": "advisory"}')
    command = ["policy", "check", "--files", "pod.yaml", "--config", "rules.json", "-o"]
    assert run([*command, "junit"]) == 0
    assert 'failures="0"' in capsys.readouterr().out
    assert run([*command, "sarif"]) == 0
    results = document(capsys)["runs"][0]["results"]
    (result,) = [each for each in results if each["ruleId"] == "pss-privileged"]
    assert result["level"] == "warning"
    assert result["properties"]["severity"] == "critical"


WRONG = [
    pytest.param(["policy", "check"], "add -s STACK, --files PATH", 2, id="nothing named"),
    pytest.param(["policy", "check", "-s", "prd"], "known: dev", 6, id="no such stack"),
    pytest.param(["policy", "check", "--files", "none.yaml"], "no such file", 2, id="no file"),
    pytest.param(
        ["policy", "check", "--files", "a.yaml", "--cluster"],
        "--files, --proposed, --state, --state-file and --cluster exclude one another",
        2,
        id="two sources",
    ),
    pytest.param(["policy", "check", "--state"], "--state needs a stack", 2, id="whose state"),
    pytest.param(
        ["policy", "check", "-s", "dev", "-n", "x"],
        "require --cluster",
        2,
        id="a place without --live",
    ),
    pytest.param(
        ["policy", "check", "--cluster", "-n", "x", "-A"],
        "-n excludes",
        2,
        id="there and everywhere",
    ),
    pytest.param(
        ["policy", "check", "--state-file", "none.json"],
        "none.json: No such file or directory",
        2,
        id="no state file",
    ),
    pytest.param(
        ["policy", "check", "--files", "Pulumi.yaml"],
        "Pulumi.yaml: an object without apiVersion",
        2,
        id="no objects",
    ),
    pytest.param(
        ["policy", "check", "-s", "dev", "--config", "none.json"],
        "none.json: expected a JSON file",
        2,
        id="no config file",
    ),
    pytest.param(
        ["policy", "check", "-s", "dev", "-o", "sarif", "--output-file", "no/where"],
        "no such folder; run `mkdir -p no`",
        2,
        id="no folder",
    ),
]


def test_a_state_without_resources_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, "state.json", '{"version": 3, "deployment": {}}')
    assert run(["policy", "check", "--state-file", "state.json"]) == 2
    assert "a state without resources" in capsys.readouterr().err


def state(*resources: dict[str, Any]) -> str:
    return json.dumps({"version": 3, "deployment": {"resources": list(resources)}})


def resource(kind: str, **fields: Any) -> dict[str, Any]:
    token = f"kubernetes:core/v1:{kind}"
    urn = f"urn:pulumi:staging::p::{token}::x"
    return {"urn": urn, "type": token, "custom": True, **fields}


def test_a_state_is_judged_by_what_was_asked_for_and_of_which_stack_it_is(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    signature = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}
    image = signature | {"ciphertext": "v1:abc"}
    spec = {"containers": [{"name": "main", "image": image}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    node = pod | {"spec": spec | {"hostNetwork": True}}
    content = state(
        resource("Pod", inputs=pod, outputs=node),
        resource("Pod", inputs=node, outputs=node, delete=True),
        resource("PodPatch", inputs=node),
        {"urn": "urn:pulumi:staging::p::pulumi:pulumi:Stack::s", "type": "pulumi:pulumi:Stack"},
    )
    write(project, "state.json", content)
    assert run(["policy", "check", "--state-file", "state.json", "-o", "json"]) == 5
    report = document(capsys)
    assert report["profile"] == "staging"
    assert report["summary"]["objects"] == 1
    assert not report["complete"]
    verdicts = {each["rule"]: each["verdict"] for each in report["findings"]}
    assert verdicts["image-digest-pinned"] == "undetermined"
    assert "pss-host-namespaces" not in verdicts
    assert "ciphertext" not in json.dumps(report)


def test_what_cannot_be_determined_alone_ends_in_1(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    signature = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}
    spec = {"containers": [{"name": "main", "image": signature | {"ciphertext": "v1:abc"}}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    write(project, "state.json", state(resource("Pod", inputs=pod, outputs=pod)))
    write(project, "rules.json", '{"all": "disabled", "image-digest-pinned": "mandatory"}')
    command = ["policy", "check", "--state-file", "state.json", "--config", "rules.json"]
    assert run(command) == 1
    assert "1 undetermined" in capsys.readouterr().out
    assert run([*command, "-o", "junit"]) == 1
    assert "<error" in capsys.readouterr().out


@pytest.mark.parametrize(("command", "words", "code"), WRONG)
def test_bad_input_is_one_clear_error(
    capsys: pytest.CaptureFixture[str], command: list[str], words: str, code: int
) -> None:
    assert run(command) == code
    assert words in capsys.readouterr().err
