"""Files of older versions at the command line: told, refused after the last day, rewritten."""

import json
from datetime import date, timedelta
from pathlib import Path

import pytest
from holdfast.cli.main import run
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.kinds.versions import OLDER_VERSIONS
from holdfast.operations.stack.conversion import deprecations
from holdfast.operations.validate.report import ValidationReport
from holdfast.operations.validate.validation import validate_project
from holdfast.report.text.validation_text import (
    validation_json,
    validation_summary,
    validation_text,
)

from tests.unit.manifest.projects import MANIFEST, STACK, agent, write

VERSION = OLDER_VERSIONS["holdfast.dev/v1alpha0"]
DRAFT = agent(spec="owner: sre\nreplicas: 3  # one a zone").replace("v1alpha1", "v1alpha0")
NEWEST = agent(spec="owner: sre\nscaling:\n  replicas: 3  # one a zone")
REMEDY = "run: holdfast validate --convert agents/triage.yaml"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path, "Pulumi.yaml", "name: holdfast\n")
    write(tmp_path, MANIFEST, f"{DRAFT}---\n{DRAFT.replace('triage', 'scribe')}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def judged(root: Path, today: date) -> ValidationReport:
    return validate_project(root, [], today=today)


def test_a_file_of_an_older_version_is_valid_and_told_once(project: Path) -> None:
    report = judged(project, VERSION.last_day)
    assert report.is_accepted
    assert validation_text(report) == (
        "agents/triage.yaml:1:13: warning: apiVersion: holdfast.dev/v1alpha0 is valid until "
        f"2027-05-31, holdfast.dev/v1alpha1 has replaced it; {REMEDY}\n"
    )
    assert validation_summary(report) == "1 warning (without a stack)"
    assert json.loads(validation_json(report))["deprecations"] == [
        {
            "file": "agents/triage.yaml",
            "line": 1,
            "column": 13,
            "apiVersion": "holdfast.dev/v1alpha0",
            "replacedBy": "holdfast.dev/v1alpha1",
            "lastDay": "2027-05-31",
            "remedy": REMEDY,
        }
    ]


def test_a_warning_is_told_once_for_all_stacks(project: Path) -> None:
    write(project, STACK, "config: {}")
    write(project, "stacks/Pulumi.other-dev.yaml", "config: {}")
    report = validate_project(project, ["dev", "other-dev"], today=VERSION.last_day)
    assert len(report.deprecations) == 1


def test_after_its_last_day_a_version_is_refused(project: Path) -> None:
    report = judged(project, VERSION.last_day + timedelta(days=1))
    assert report.errors
    assert validation_text(report) == (
        "agents/triage.yaml:1:13: error: apiVersion: expected holdfast.dev/v1alpha1, got "
        f"holdfast.dev/v1alpha0, which was valid until 2027-05-31; {REMEDY}\n"
    )


def test_a_deployment_is_told_and_does_not_look_at_the_date(project: Path) -> None:
    assert deprecations(load_fleet(project)) == [
        f"agents/triage.yaml:1:13: holdfast.dev/v1alpha0 is valid until 2027-05-31; {REMEDY}"
    ]


def test_files_are_converted_in_place_and_then_judged(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["validate", "--convert"]) == 0
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == "agents/triage.yaml: converted\nvalid (without a stack)\n"
    assert (project / MANIFEST).read_text() == f"{NEWEST}---\n{NEWEST.replace('triage', 'scribe')}"
    assert run(["validate", "--convert"]) == 0
    assert capsys.readouterr().err == "valid (without a stack)\n"


def test_only_the_files_that_are_named_are_converted(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write(project, "agents/other.yaml", DRAFT.replace("triage", "other"))
    assert run(["validate", "--convert", "agents/other.yaml"]) == 0
    assert "agents/triage.yaml" not in capsys.readouterr().err
    assert "v1alpha1" in other.read_text()
    assert "v1alpha0" in (project / MANIFEST).read_text()


def test_one_file_that_cannot_be_converted_leaves_all_as_they_are(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (project / MANIFEST).read_text()
    bad = DRAFT.replace("replicas: 3", "scaling: {replicas: 3}").replace("triage", "other")
    write(project, "agents/other.yaml", bad)
    assert run(["validate", "--convert"]) == 2
    error = capsys.readouterr().err
    assert "agents/other.yaml:8:13: spec.scaling.replicas: expected a known field of" in error
    assert "write spec.replicas, or apiVersion: holdfast.dev/v1alpha1" in error
    assert (project / MANIFEST).read_text() == before


def test_a_file_that_is_no_yaml_is_left_for_validation_to_tell(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(project, "agents/broken.yaml", "spec: [1\n")
    assert run(["validate", "--convert"]) == 2
    output = capsys.readouterr()
    assert "agents/triage.yaml: converted" in output.err
    assert output.out.startswith("agents/broken.yaml:2:1: error: ")
