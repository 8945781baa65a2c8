"""`holdfast policy new` and what knows an own rule: settings, cases, drift's verdicts, caches."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from holdfast.errors import InputError, InvalidFilesError
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.fleet.project_files import project_digests
from holdfast.operations.policy.evaluate import rule_judge
from holdfast.operations.policy.new_rule import new_rule
from holdfast.operations.policy.own_rules import rules_of_project
from holdfast.operations.policy.rule_cases import faults_of_cases
from holdfast.operations.validate.validation import validate_project

from tests.unit.manifest.projects import MANIFEST, STACK, agent, write

RULE, CASES = "policy-pack/rules/team_label.py", "policy-pack/rules/team_label.cases.yaml"
TODAY = datetime.now(UTC).date()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write(tmp_path, "Pulumi.yaml", "name: acme\n")
    write(tmp_path, MANIFEST, agent(spec="owner: sre"))
    write(tmp_path, STACK, "config: {}")
    new_rule(tmp_path, "team-label")
    return tmp_path


def edit(project: Path, name: str, old: str, new: str) -> None:
    file = project / name
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def faults(project: Path) -> list[str]:
    return [
        f"{each.location}: {each}" for each in faults_of_cases(project, rules_of_project(project))
    ]


def test_a_new_rule_holds_with_its_cases(project: Path) -> None:
    assert faults(project) == []
    assert rules_of_project(project).own == {"team-label": RULE}


def test_nothing_that_exists_is_overwritten(project: Path) -> None:
    kept = (project / RULE).read_text()
    with pytest.raises(InputError, match="exists"):
        new_rule(project, "team-label")
    (project / RULE).unlink()
    with pytest.raises(InputError, match=r"team_label\.cases\.yaml exists"):
        new_rule(project, "team-label")
    assert not (project / RULE).exists()
    (project / RULE).write_text(kept)
    (project / "policy-pack/__main__.py").write_text("# ours\n")
    assert new_rule(project, "cost-center").pack_files == ()
    assert (project / "policy-pack/__main__.py").read_text() == "# ours\n"


@pytest.mark.parametrize(
    "name", ["team", "Team-label", "../evil-rule", "team--x", "pss-privileged", ""]
)
def test_a_bad_name_writes_nothing(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        new_rule(tmp_path, name)
    assert list(tmp_path.iterdir()) == []


WRONG_CASES = [
    (
        'violates: metadata.labels["example.com/team"]',
        "violates: metadata.name",
        "expected a violation at metadata.name",
    ),
    ("remove: [/metadata/labels/example.com~1team]", "remove: []", "expected a violation"),
    ("set: {/metadata/labels/app: web}", "set: {/metadata/labels: {}}", "expected no violation"),
    ("labels: {example.com/team: checkout}", "labels: {}", "expected no violation"),
    ("settings: {labels: [example.com/owner]}", "settings: {names: [a]}", "parameter names"),
    ("set: {/metadata/labels/app: web}", "sets: {}", "unknown key sets"),
    ("remove: [/metadata/labels/example.com~1team]", "remove: [/spec/x]", "is not in the object"),
]


@pytest.mark.parametrize(("old", "new", "words"), WRONG_CASES)
def test_a_case_that_does_not_hold_is_reported_at_its_line(
    project: Path, old: str, new: str, words: str
) -> None:
    edit(project, CASES, old, new)
    fault, *_ = faults(project)
    assert fault.startswith(f"{CASES}:"), fault
    assert words in fault


def test_a_rule_without_cases_is_refused(project: Path) -> None:
    (project / CASES).unlink()
    (fault,) = faults(project)
    assert f"expected cases in {CASES}" in fault


def test_validate_reports_a_broken_own_rule_with_its_line(project: Path) -> None:
    edit(project, RULE, "kinds=POD_KINDS", "kinds=None")
    report = validate_project(project, ["dev"], today=TODAY)
    found = [str(each) for each in report.faults if RULE in str(each.place)]
    assert found
    assert all("expected a frozenset of Kind" in each for each in found)


def test_the_fleet_carries_its_own_rules_to_drift(project: Path) -> None:
    fleet = load_fleet(project, "dev")
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"containers": []}}
    assert "team-label" in rule_judge("prod", {}, fleet)(pod)
    edit(project, RULE, "RULE_API = 1", "RULE_API = 2")
    with pytest.raises(InvalidFilesError, match="expected RULE_API = 1, got 2"):
        rule_judge("prod", {}, load_fleet(project, "dev"))


def test_a_changed_rule_ends_what_a_cache_has_kept(project: Path) -> None:
    before = project_digests(project)
    edit(project, RULE, "Say why that matters.", "Alerts need a team.")
    after = project_digests(project)
    assert before is not None
    assert before != after
