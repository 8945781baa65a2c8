"""`holdfast validate`: faults with their place on stdout, prose on stderr, one exit code."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from textwrap import indent

import pytest
from holdfast.cli.main import run

from tests.unit.manifest.projects import EXCEPTION, IMAGE, MANIFEST, STACK, agent, spec, write

PROD = "stacks/Pulumi.prod.yaml"
NOT_ASKED_FOR = """\
    image-signature-verification-in-place: disabled
    log-retention-and-redaction-declared: disabled
    min-replicas-and-spread: disabled
    owner-and-cost-labels: disabled
    stack-admission-parity: disabled
    stack-namespace-baseline: disabled
    telemetry-configured: disabled
"""
"""Rules about what a minimal agent leaves out."""
DISABLED = "owner-and-cost-labels"
"""One of them; a waiver of what no stack asks is left alone."""


def stack_file(rules: str = "") -> str:
    """A stack that asks a minimal agent for nothing more, but for the rules given."""
    lines = indent(f"{NOT_ASKED_FOR}{rules}", "  ")
    return f"config:\n  holdfast:policy:\n    rules:\n{lines}"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path, "Pulumi.yaml", "name: holdfast\n")
    write(tmp_path, MANIFEST, agent(spec="owner: sre"))
    write(tmp_path, STACK, stack_file())
    write(tmp_path, PROD, stack_file())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_valid_project_says_so_on_stderr_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["validate"]) == 0
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == "valid (2 stacks: dev, prod)\n"


def test_the_same_fault_on_every_stack_is_reported_once(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, MANIFEST, spec("imagee: x"))
    assert run(["validate"]) == 2
    output = capsys.readouterr()
    assert output.out == (
        "agents/triage.yaml:7:3: error: spec.imagee: expected a known field, got 'imagee'; "
        'did you mean "image"?\n'
    )
    assert output.err == "1 error (2 stacks: dev, prod)\n"


def test_a_fault_of_one_stack_names_it(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, MANIFEST, agent())
    assert run(["validate"]) == 2
    assert capsys.readouterr().out.endswith("answers for the agent (stack prod)\n")
    assert run(["validate", "-s", "dev"]) == 0


FROM_ELSEWHERE = agent(spec="owner: sre", image=IMAGE.replace("registry.example", "docker.io/evil"))
BROKEN_RULES = [
    pytest.param(
        FROM_ELSEWHERE,
        "image-registry-allowlist",
        "Deployment agents/triage: spec.template.spec.containers[name=agent].image: expected ",
        "6:3",
        id="58 registry not allowed",
    ),
    pytest.param(
        spec("owner: sre\npod: {security: {securityContext: {privileged: true}}}"),
        "pss-privileged",
        "privileged",
        "8:38",
        id="59 privileged",
    ),
    pytest.param(
        spec("owner: sre\npod: {security: {securityContext: {runAsUser: 0}}}"),
        "pss-run-as-non-root",
        "runAsUser",
        "8:38",
        id="62 root",
    ),
]


@pytest.mark.parametrize(("manifest", "rule", "words", "place"), BROKEN_RULES)
def test_a_mandatory_rule_that_is_broken_ends_in_5_at_the_field_that_breaks_it(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    manifest: str,
    rule: str,
    words: str,
    place: str,
) -> None:
    write(project, MANIFEST, manifest)
    assert run(["validate", "-s", "prod"]) == 5
    output = capsys.readouterr()
    lines = [line for line in output.out.splitlines() if f"[{rule}]" in line]
    assert len(lines) == 1, output.out
    assert lines[0].startswith(f"agents/triage.yaml:{place}: mandatory: ")
    assert words in lines[0]
    assert "mandatory rule violation" in output.err


@pytest.mark.parametrize(
    "field",
    [
        pytest.param("volumes: [{name: a, hostPath: {path: /}}]", id="60 hostPath"),
        pytest.param("hostNetwork: true", id="61 hostNetwork"),
    ],
)
def test_what_a_manifest_has_no_word_for_is_bad_input(project: Path, field: str) -> None:
    write(project, MANIFEST, spec(f"owner: sre\n{field}"))
    assert run(["validate", "-s", "prod"]) == 2


def test_a_stack_may_change_the_rules_and_is_reported_when_it_names_none(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, MANIFEST, FROM_ELSEWHERE)
    allowed = "    image-registry-allowlist: {registries: [docker.io]}"
    write(project, PROD, stack_file(allowed))
    assert run(["validate", "-s", "prod"]) == 0
    write(project, PROD, stack_file(allowed.replace("list", "lst")))
    assert run(["validate", "-s", "prod"]) == 2
    out = capsys.readouterr().out
    assert out.startswith("stacks/Pulumi.prod.yaml:11:7: error: ")
    assert 'did you mean "image-registry-allowlist"?' in out


def test_paths_choose_what_is_reported_but_everything_is_read(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, "agents/good.yaml", spec("owner: sre\nmodel: {ref: shared}"))
    write(project, "agents/bad.yaml", agent("bad", "owner: 3"))
    write(project, MANIFEST, agent("other", "owner: sre"))
    shared = agent("shared").replace("Agent", "ModelConfig")
    shared = shared[: shared.index("spec:")] + "spec: {provider: a, name: b}\n"
    write(project, "agents/models.yaml", shared)
    assert run(["validate", "agents/good.yaml"]) == 0
    assert run(["validate", "agents/bad.yaml", "-s", "dev"]) == 2
    assert capsys.readouterr().out.startswith("agents/bad.yaml:7:10: error: spec.owner")


def test_a_name_taken_twice_is_reported_for_either_file(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, "agents/copy.yaml", agent(spec="owner: sre"))
    for path in ("agents/copy.yaml", MANIFEST):
        assert run(["validate", path]) == 2
        out = capsys.readouterr().out
        assert f"{MANIFEST}:3:18: error: metadata.name: expected a name that no other" in out
        assert "at agents/copy.yaml:3:18" in out


def test_errors_outside_of_paths_are_counted_since_they_keep_policy_from_being_evaluated(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, "agents/bad.yaml", agent("bad", "owner: 3"))
    assert run(["validate", MANIFEST]) == 0
    assert capsys.readouterr().err == (
        "valid (2 stacks: dev, prod)\n"
        "note: 1 error in other files: no policy was evaluated on the stacks they concern; "
        "`holdfast validate` lists every error\n"
    )


def test_a_manifest_from_elsewhere_is_read_as_if_it_lay_in_the_project(
    project: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    proposed = write(tmp_path_factory.mktemp("elsewhere"), "new.yaml", agent("triage", "owner: a"))
    assert run(["validate", str(proposed), "-s", "dev"]) == 2
    out = capsys.readouterr().out
    assert out.startswith(f"{proposed}:3:18: error: metadata.name: expected a name that no other")
    assert "agents/triage.yaml:3:18" in out


def test_json_carries_the_parts(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project, MANIFEST, spec("imagee: x"))
    assert run(["validate", "-s", "dev", "-o", "json"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert document == {
        "schemaVersion": "holdfast.dev/validation/v1",
        "stacks": ["dev"],
        "errors": [
            {
                "file": "agents/triage.yaml",
                "line": 7,
                "column": 3,
                "path": "spec.imagee",
                "expected": "expected a known field",
                "found": "'imagee'",
                "remedy": 'did you mean "image"?',
                "rule": "",
                "stacks": ["dev"],
            }
        ],
        "violations": [],
        "exemptions": [],
    }


def test_an_unknown_stack_ends_in_6(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["validate", "-s", "prd"]) == 6
    assert 'did you mean "prod"?' in capsys.readouterr().err


def test_outside_a_project_there_is_one_clear_error(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("nowhere"))
    assert run(["validate"]) == 2
    assert "run this inside the project" in capsys.readouterr().err


def test_what_was_granted_for_a_time_is_reported_and_ends_by_the_clock(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    later = str(datetime.now(UTC).date() + timedelta(days=30))
    text = EXCEPTION.replace("2026-05-30", later).replace("egress-scoped", DISABLED)
    write(project, "agents/waiver.yaml", text)
    assert run(["validate", "--write-waivers"]) == 0
    capsys.readouterr()
    assert run(["validate"]) == 0
    told = capsys.readouterr().err
    assert told.startswith(
        "agents/waiver.yaml:3:18: PolicyException legacy-egress: "
        f"{DISABLED} on NetworkPolicy "
        "agents/triage, until "
    )
    unknown = "approved by security, author unknown: no Git history of these lines"
    assert told.endswith(f"(owner sre, {unknown})\nvalid (2 stacks: dev, prod)\n")
    assert run(["validate", "-o", "json"]) == 0
    (granted,) = json.loads(capsys.readouterr().out)["exemptions"]
    assert (granted["name"], granted["owner"]) == ("legacy-egress", "sre")
    write(project, "agents/waiver.yaml", EXCEPTION.replace("2026-05-30", "2020-01-01"))
    assert run(["validate"]) == 2
    assert "spec.expires" in capsys.readouterr().out
