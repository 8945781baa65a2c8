"""Waivers: what grants nothing is a violation; days as in YAML; who wrote and approved."""

import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from holdfast.controllers.operator.declaration import Verdicts
from holdfast.controllers.operator.observer import AgentObserver
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.operations.policy import evaluate
from holdfast.operations.policy.check import CheckRequest, check_policy
from holdfast.operations.policy.model import Verdict
from holdfast.operations.validate.validation import validate_project
from holdfast_policies.evaluation.profile import profile_of
from holdfast_policies.evaluation.waivers import Waiver, Waivers

from tests.unit.manifest.projects import EXCEPTION, MANIFEST, STACK, agent, write

TODAY = datetime.now(UTC).date()
RULE = "log-retention-and-redaction-declared"
WAIVER = (
    EXCEPTION.replace('"2026-05-30"', str(TODAY + timedelta(days=30)))
    .replace("egress-scoped", RULE)
    .replace("kind: NetworkPolicy", "kind: Deployment")
)
PROD = "stacks/Pulumi.prod.yaml"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write(tmp_path, "Pulumi.yaml", "name: holdfast\n")
    write(tmp_path, MANIFEST, agent(spec="owner: sre"))
    write(tmp_path, STACK, "config: {}")
    write(tmp_path, PROD, "config: {}")
    return tmp_path


def told(project: Path, stack: str) -> list[tuple[str, bool]]:
    report = check_policy(CheckRequest(stack=stack, root=project))
    waivers = [each for each in report.findings if each.rule.startswith("waiver")]
    return [(each.rule, each.is_mandatory) for each in waivers]


def test_an_unquoted_day_is_a_day(project: Path) -> None:
    write(project, "agents/waiver.yaml", WAIVER)
    report = check_policy(CheckRequest(stack="prod", root=project))
    waived = [each for each in report.findings if each.verdict is Verdict.WAIVED]
    assert {each.rule for each in waived} == {RULE}
    write(project, "agents/waiver.yaml", WAIVER.replace("OPS-17", "2026-01-01"))
    assert validate_project(project, ["prod"], today=TODAY).faults


def test_a_waiver_of_an_object_that_does_not_exist_is_a_violation(project: Path) -> None:
    write(project, "agents/waiver.yaml", WAIVER.replace("name: triage", "name: triaje"))
    assert told(project, "prod") == [("waiver-without-target", True)]
    assert told(project, "dev") == [("waiver-without-target", False)]
    report = validate_project(project, ["prod"], today=TODAY)
    assert any("waiver-without-target" in each.sentence for each in report.faults)
    assert any("agents/waiver.yaml:6" in str(each.place) for each in report.faults)


def test_a_waiver_that_nothing_needs_is_a_violation(project: Path) -> None:
    write(project, "agents/waiver.yaml", WAIVER.replace(RULE, "pss-privileged"))
    assert told(project, "prod") == [("waiver-unused", True)]


def test_a_waiver_holds_on_the_stacks_that_it_names(project: Path) -> None:
    write(project, "agents/waiver.yaml", WAIVER + "  stacks: [prod]\n")
    report = check_policy(CheckRequest(stack="dev", root=project))
    assert not [each for each in report.findings if each.verdict is Verdict.WAIVED]
    assert told(project, "dev") == []
    report = check_policy(CheckRequest(stack="prod", root=project))
    assert [each for each in report.findings if each.verdict is Verdict.WAIVED]


def test_files_that_are_a_part_of_a_stack_say_nothing_of_other_objects() -> None:
    waiver = Waiver(
        "w", (RULE,), "Pod", "agents", "x", "r", "o", "t", "a", TODAY + timedelta(days=1)
    )
    levels = profile_of("prod").levels
    assert Waivers((waiver,), TODAY).faults([], [], levels) == []
    (fault,) = Waivers((waiver,), TODAY).faults([], [], levels, [])
    assert fault.rule == "waiver-without-target"


def git(project: Path, *arguments: str, author: str = "Jane Doe") -> None:
    email = f"{author.split(maxsplit=1)[0].lower()}@acme.example"
    who = ["-c", f"user.name={author}", "-c", f"user.email={email}"]
    subprocess.run(["git", *who, *arguments], cwd=project, check=True, capture_output=True)


@pytest.fixture
def reviewed(project: Path) -> Path:
    git(project, "init", "-q")
    write(project, "agents/waiver.yaml", WAIVER)
    git(project, "add", ".")
    git(project, "commit", "-qm", "waiver")
    return project


def approvals(project: Path, approver: str) -> list[str]:
    file = project / "agents/waiver.yaml"
    file.write_text(WAIVER.replace("approver: security", f"approver: {approver}"))
    git(project, "commit", "-qam", "approver", author="Jane Doe")
    report = validate_project(project, ["prod"], today=TODAY)
    found = [each.sentence for each in report.faults if "spec.approver" in each.sentence]
    return found or [each.approval for each in report.exemptions]


@pytest.mark.parametrize("name", ["Jane Doe", "jane@acme.example", "jane", '"@jane"', "JANE DOE"])
def test_who_wrote_a_waiver_cannot_approve_it(reviewed: Path, name: str) -> None:
    (found,) = approvals(reviewed, name)
    assert "expected an approver who did not write the exception" in found
    assert "Jane Doe <jane@acme.example>" in found


def test_another_approver_is_accepted_and_the_author_is_named(reviewed: Path) -> None:
    assert approvals(reviewed, "platform-security") == [
        "approved by platform-security, written by Jane Doe"
    ]


def test_without_git_the_author_is_unknown(project: Path) -> None:
    write(project, "agents/waiver.yaml", WAIVER)
    report = validate_project(project, ["prod"], today=TODAY)
    (granted,) = report.exemptions
    assert granted.approval.endswith("author unknown: no Git history of these lines")


def test_a_judge_that_serves_for_days_ends_a_waiver_with_its_day(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, "agents/waiver.yaml", WAIVER)
    judge = evaluate.rule_judge("prod", {}, load_fleet(project, "prod"))
    agent_pod = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "triage",
            "namespace": "agents",
            "labels": {"holdfast.dev/agent": "triage"},
        },
    }
    assert not judge(agent_pod)[RULE].is_mandatory

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> "Later":
            return cls.fromordinal(TODAY.toordinal() + 60)

    monkeypatch.setattr(evaluate, "datetime", Later)
    assert judge(agent_pod)[RULE].is_mandatory


def test_a_verdict_of_the_operator_ends_with_its_waiver_its_settings_and_its_day() -> None:
    class View:
        revision = "r1"
        rendered = (type("Item", (), {"manifest": {"kind": "Pod"}})(),)

    class Declaration:
        def __init__(self, *rules: str) -> None:
            def broken(_: Mapping[str, Any]) -> tuple[str, ...]:
                return rules

            self.verdicts = Verdicts(lambda _: {}, broken, ())  # type: ignore[arg-type]

    observer: Any = AgentObserver(None, lambda _: None)  # type: ignore[arg-type]
    assert observer._rules_broken("place", View(), Declaration("egress-scoped")) == (
        "egress-scoped",
    )
    assert observer._rules_broken("place", View(), Declaration()) == ()
