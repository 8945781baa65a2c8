"""A change is judged as data by its base: what it weakens is mandatory; nothing of it is run."""

import shutil
import subprocess
from pathlib import Path

import pytest
from holdfast.operations.policy.check import CheckRequest, check_policy
from holdfast.operations.policy.model import PolicyFinding, Verdict
from holdfast.operations.policy.new_rule import new_rule

from tests.unit.manifest.projects import MANIFEST, agent, write

PROD = "stacks/Pulumi.prod.yaml"
SETTINGS = "config:\n  holdfast:policy:\n    rules:\n      job-bounds: advisory\n"
RULE = "policy-pack/rules/team_label.py"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    root = tmp_path / "base"
    write(root, "Pulumi.yaml", "name: holdfast\n")
    write(root, MANIFEST, agent(spec="owner: sre"))
    write(root, PROD, SETTINGS)
    new_rule(root, "team-label")
    return root


@pytest.fixture
def change(base: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(base, tmp_path / "change"))


def found(base: Path, change: Path) -> list[PolicyFinding]:
    return list(check_policy(CheckRequest(stack="prod", root=base, change=change)).findings)


def weakened(base: Path, change: Path) -> list[str]:
    return [
        each.found
        for each in found(base, change)
        if each.rule == "rule-weakened" and each.is_mandatory
    ]


def test_a_change_that_weakens_nothing_has_no_mandatory_finding_about_it(
    base: Path, change: Path
) -> None:
    assert weakened(base, change) == []


LESS = {
    "a level": ("      pss-privileged: disabled\n", "pss-privileged (mandatory → disabled)"),
    "all levels": ("      all: disabled\n", "pss-privileged (mandatory → disabled)"),
    "a limit": (
        "      pss-privileged: {appliesTo: {agents: true}}\n",
        "pss-privileged (only agents)",
    ),
    "a parameter": (
        "      image-registry-allowlist: {registries: [evil.example]}\n",
        "image-registry-allowlist (other registries)",
    ),
    "an own rule": ("      team-label: advisory\n", "team-label (mandatory → advisory)"),
}


@pytest.mark.parametrize(("line", "words"), LESS.values(), ids=LESS)
def test_what_a_change_weakens_is_a_mandatory_finding(
    base: Path, change: Path, line: str, words: str
) -> None:
    write(change, PROD, SETTINGS + line)
    (text,) = weakened(base, change)
    assert text.startswith("by this change: ")
    assert words in text


def test_another_profile_is_weaker(base: Path, change: Path) -> None:
    write(change, PROD, "config:\n  holdfast:policy: {profile: dev}\n")
    assert "(mandatory → advisory)" in weakened(base, change)[0]


def test_objects_are_judged_by_the_settings_of_the_base(base: Path, change: Path) -> None:
    write(change, PROD, "config:\n  holdfast:policy: {rules: {all: disabled}}\n")
    text = (change / MANIFEST).read_text()
    write(change, MANIFEST, f"{text}  pod: {{overrides: {{hostNetwork: true}}}}\n")
    rules = {each.rule for each in found(base, change) if each.is_mandatory}
    assert "pss-host-namespaces" in rules


def test_a_waiver_of_the_change_waives_nothing(base: Path, change: Path) -> None:
    waiver = (
        "apiVersion: holdfast.dev/v1alpha1\nkind: PolicyException\nmetadata: {name: w}\nspec:\n"
        "  rules: [team-label]\n  target: {kind: Deployment, namespace: agents, name: triage}\n"
        "  reason: r\n  owner: o\n  ticket: t\n  approver: a\n  expires: 2099-01-01\n"
    )
    write(change, "agents/waiver.yaml", waiver)
    own = [each for each in found(base, change) if each.rule == "team-label"]
    assert own
    assert all(each.verdict is Verdict.VIOLATED and each.is_mandatory for each in own)


def test_nothing_that_a_change_brings_is_run(base: Path, change: Path) -> None:
    write(change, RULE, "raise SystemExit('run')\n")
    write(change, "policy-pack/__main__.py", "raise SystemExit('run')\n")
    assert f"{RULE} differs" in weakened(base, change)[0]
    (change / RULE).unlink()
    assert f"{RULE} is removed" in weakened(base, change)[0]


def test_a_weakened_rule_says_since_when(base: Path) -> None:
    def weakened_by_stack() -> str:
        report = check_policy(CheckRequest(stack="prod", root=base))
        (one,) = [each for each in report.findings if each.rule == "rule-weakened"]
        assert one.location is not None
        assert (one.location.file, one.location.line) == (PROD, 4)
        return one.found

    assert weakened_by_stack().endswith("since when is unknown")
    who = ["-c", "user.name=Jane", "-c", "user.email=jane@acme.example"]
    env = {"GIT_COMMITTER_DATE": "2026-02-03T12:00:00Z", "GIT_AUTHOR_DATE": "2026-02-03T12:00:00Z"}
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run(
            ["git", *who, *arguments], cwd=base, check=True, capture_output=True, env=env
        )
    assert "; since 2026-02-03 (" in weakened_by_stack()
