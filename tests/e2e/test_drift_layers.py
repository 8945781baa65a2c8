"""Both layers in one report, and the record of the stack as a witness that can be bent."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from holdfast.adapters.engine.failures.failures import RunFailedError
from holdfast.errors import ExitCode

from tests.e2e.fleet_project import FleetProject
from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

IMAGE = "spec.template.spec.containers[name=agent].image"
VARIABLE = "spec.template.spec.containers[name=agent].env[name=EXTRA]"
SUPPORT = ("deployment/support-rag", "-n", "cx")


@pytest.fixture(scope="module")
def project(sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> FleetProject:
    copy = FleetProject.copy(tmp_path_factory.mktemp("layers"), sandbox)
    copy.stack().init_if_absent()
    copy.stack().up()
    return copy


@pytest.fixture
def clean(project: FleetProject) -> Iterator[FleetProject]:
    assert project.drift("--no-engine")[0] == 0
    yield project
    project.holdfast("drift", "revert", "-s", "dev", "--yes")
    project.stack().up(options=["--refresh"])


def seen(report: dict[str, Any]) -> dict[str, list[str]]:
    return {each["path"]: each["seenBy"] for each in report["findings"]}


def layers(report: dict[str, Any]) -> dict[str, bool]:
    return {each["name"]: each["ran"] for each in report["layers"]}


def meddle(kubectl: Kubectl) -> None:
    kubectl("set", "image", *SUPPORT, "agent=x:hotfix", user="alice")
    kubectl("set", "env", *SUPPORT, "EXTRA=1", user="alice")


def test_what_an_earlier_scan_has_rendered_hides_no_change(project: FleetProject) -> None:
    assert project.drift("--no-engine")[0] == 0
    kept = project.drift("--no-engine")
    assert kept == project.drift("--no-engine", "--no-cache") == (0, kept[1])

    manifest = project.root / "agents" / "support-rag.yaml"
    as_deployed = manifest.read_text()
    manifest.write_text(re.sub("sha256:.", "sha256:f", as_deployed, count=1))
    try:
        code, report = project.drift("--no-engine")
        assert code == ExitCode.DRIFT
        assert IMAGE in seen(report)
        assert project.drift("--no-engine", "--no-cache") == (code, report)
    finally:
        manifest.write_text(as_deployed)
    assert project.drift("--no-engine")[0] == 0


def test_each_finding_says_who_saw_it(clean: FleetProject, kubectl: Kubectl) -> None:
    code, report = clean.drift()
    assert code == 0
    assert layers(report) == {"holdfast": True, "pulumi": False}

    meddle(kubectl)
    for options in ((), ("--engine",)):
        code, report = clean.drift(*options)
        assert code == ExitCode.DRIFT
        assert layers(report) == {"holdfast": True, "pulumi": True}
        assert seen(report) == {IMAGE: ["holdfast", "pulumi"], VARIABLE: ["holdfast"]}

    code, report = clean.drift("--no-engine")
    assert code == ExitCode.DRIFT
    assert seen(report) == {IMAGE: ["holdfast"], VARIABLE: ["holdfast"]}


def test_a_refresh_that_writes_blinds_pulumi_and_not_the_scan(
    clean: FleetProject, kubectl: Kubectl
) -> None:
    meddle(kubectl)
    clean.pulumi("refresh", "--yes", "--skip-preview")

    code, report = clean.drift("--engine")
    assert code == ExitCode.DRIFT
    assert seen(report) == {IMAGE: ["holdfast"], VARIABLE: ["holdfast"]}

    # Put right in the cluster; what the refresh wrote into the record stays wrong, and is told.
    clean.holdfast("drift", "revert", "-s", "dev", "--yes")
    code, report = clean.drift("--no-engine")
    assert code == ExitCode.DRIFT
    assert {each["path"]: each.get("about") for each in report["findings"]} == {
        IMAGE: "record",
        VARIABLE: "record",
    }

    clean.pulumi("refresh", "--yes", "--skip-preview")
    assert clean.drift("--engine")[0] == 0


def test_an_update_under_way_is_not_called_in_sync(clean: FleetProject) -> None:
    files = clean.stack().files
    assert files is not None
    lock = files.folder / "locks" / files.full_name / "00000000-one.json"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text(json.dumps({"pid": 1, "username": "ann", "hostname": "laptop"}))
    try:
        code, report = clean.drift()
    finally:
        lock.unlink()
    assert code == ExitCode.ERROR
    assert report["complete"] is False
    assert "ann@laptop (process 1) is changing it" in report["notChecked"][0]["reason"]


def test_an_engine_that_cannot_answer_is_no_clean_answer(
    clean: FleetProject, tmp_path: Path
) -> None:
    broken = {"PULUMI_CONFIG_PASSPHRASE": "wrong", "PULUMI_CONFIG_PASSPHRASE_FILE": ""}
    missing = {"HOLDFAST_PULUMI": str(tmp_path / "pulumi")}
    for variables in (broken, missing):
        done = clean.holdfast("drift", "-s", "dev", "--engine", "-o", "json", variables=variables)
        report = json.loads(done.stdout)
        assert done.returncode == ExitCode.ERROR, variables
        assert [each["scope"] for each in report["notChecked"]] == [
            "pulumi refresh --preview-only"
        ], variables
        assert layers(report)["pulumi"] is False


def test_the_record_and_the_cluster_are_judged_as_the_manifests_are(project: FleetProject) -> None:
    """`holdfast policy check` says the same of what is declared, recorded and live."""

    def judged(*source: str) -> set[tuple[str, str, str]]:
        done = project.holdfast("policy", "check", "-s", "dev", "-o", "json", *source)
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
        assert report["complete"], report["notChecked"]
        return {
            (each["rule"], each["object"]["name"] if each["object"] else "", each["path"])
            for each in report["findings"]
        }

    declared = judged()
    assert declared
    assert judged("--state") == declared
    assert judged("--cluster") == declared


def declare_next_version(project: FleetProject) -> None:
    """Give the next update something to do about every object of support-rag."""
    manifest = project.root / "agents" / "support-rag.yaml"
    text = manifest.read_text()
    now = re.search(r"version: 2\.1\.(\d+)", text)
    assert now is not None
    manifest.write_text(text.replace(now[0], f"version: 2.1.{int(now[1]) + 1}"))


def next_updates(project: FleetProject) -> dict[str, str]:
    _, report = project.drift("--no-engine")
    return {each["path"]: each["nextUpdate"] for each in report["findings"]}


def test_the_next_update_does_what_was_said_of_additions(
    clean: FleetProject, kubectl: Kubectl
) -> None:
    other = VARIABLE.replace("EXTRA", "OTHER")
    kubectl("set", "env", *SUPPORT, "EXTRA=1", user="alice")
    kubectl("set", "env", *SUPPORT, "OTHER=1", "--field-manager=dashboard")
    assert next_updates(clean) == {VARIABLE: "overwrites", other: "keeps"}
    declare_next_version(clean)
    clean.stack().up()
    # The update has recorded the other one; that makes it nobody's intention.
    assert next_updates(clean) == {other: "keeps"}


def test_the_next_update_fails_where_that_was_said(clean: FleetProject, kubectl: Kubectl) -> None:
    kubectl("set", "image", *SUPPORT, "agent=x:hotfix", "--field-manager=dashboard")
    assert next_updates(clean) == {IMAGE: "conflicts"}
    declare_next_version(clean)
    with pytest.raises(RunFailedError, match="field manager dashboard has changed"):
        clean.stack().up()
