"""A revert is recorded with what it did, however it ends."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from holdfast.drift.context import DriftContext
from holdfast.drift.exemption.controllers import Autoscalers
from holdfast.drift.finding import DriftClass, DriftReport, Finding, Severity
from holdfast.drift.scan import LiveState
from holdfast.errors import ClusterError, LoginError
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of
from holdfast.operations.progress import SILENT
from holdfast.operations.remediate import revert
from holdfast.operations.remediate.revert import apply_revert, plan_revert
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scanner import Scan, Scanner
from holdfast.operations.stack.update_history import journal_of

from tests.unit.manifest.projects import write


@dataclass
class Server:
    """Answers each write in turn: words, or an error."""

    answers: list[str | BaseException]
    asked: list[ObjectRef] = field(default_factory=list)
    confirmed: list[str] = field(default_factory=list)

    def __call__(self, *_: object) -> "Server":
        """Stand for the executor of one revert."""
        return self

    def apply(self, plan: object) -> str:
        """Answer."""
        del plan
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer


def missing(name: str) -> KubeObject:
    metadata = {"name": name, "namespace": "cx", "labels": {"holdfast.dev/agent": name}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def scan_of(*names: str) -> Scan:
    """A scan that misses these objects, each of an agent of its name."""
    declared = [missing(name) for name in names]
    findings = tuple(
        Finding(reference_of(one), name, DriftClass.MISSING, (), None, None, Severity.HIGH)
        for name, one in zip(names, declared, strict=True)
    )
    desired = {reference_of(one).identity: one for one in declared}
    context = DriftContext(autoscalers=Autoscalers(()))
    return Scan(DriftReport(findings, (), len(names)), desired, LiveState({}), context)


@pytest.fixture
def scanner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scanner:
    write(tmp_path, "Pulumi.yaml", "name: holdfast\nruntime: python\n")
    write(tmp_path, "stacks/Pulumi.dev.yaml", "config: {}\n")
    (tmp_path / "backend").mkdir()
    monkeypatch.setenv("PULUMI_BACKEND_URL", f"file://{tmp_path / 'backend'}")
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("HOLDFAST_OPERATOR", "alice")
    return Scanner(ScanRequest(tmp_path, "dev"))


@pytest.mark.parametrize(
    ("ended", "said"),
    [
        pytest.param(LoginError("the token has expired"), "the token has expired", id="login"),
        pytest.param(KeyboardInterrupt(), "interrupted", id="interrupt"),
    ],
)
def test_what_was_done_before_a_revert_ended_early_is_recorded(
    scanner: Scanner, monkeypatch: pytest.MonkeyPatch, ended: BaseException, said: str
) -> None:
    monkeypatch.setattr(revert, "RevertExecutor", Server(["made again", ended]))
    with pytest.raises(type(ended)):
        apply_revert(scanner, plan_revert(scan_of("a", "b", "c")), SILENT)
    (record,) = journal_of(scanner.request.project_root, "dev").records()
    assert (record.action, record.outcome, record.agents) == ("revert", "not done", ("a",))
    assert record.detail is not None
    assert record.detail.startswith("reverted ConfigMap cx/a")
    assert said in record.detail


def test_an_object_that_fails_is_recorded_and_the_others_are_reverted(
    scanner: Scanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[str | BaseException] = [ClusterError("no"), "made again"]
    monkeypatch.setattr(revert, "RevertExecutor", Server(answers))
    whole = scan_of()
    monkeypatch.setattr(Scanner, "scan", lambda _, **_asked: whole)
    outcome = apply_revert(scanner, plan_revert(scan_of("a", "b")), SILENT)
    assert (outcome.scan, outcome.failures) == (whole, 1)
    (record,) = journal_of(scanner.request.project_root, "dev").records()
    assert (record.outcome, record.agents) == ("not done", ("b",))
    assert record.detail == "reverted ConfigMap cx/b; 1 objects failed"


CHECKED = "holdfast.dev/checked"


def of_agent(kind: str, name: str, **fields: Any) -> KubeObject:
    metadata = {"name": name, "namespace": "cx", "labels": {"holdfast.dev/agent": "support"}}
    version = {"Deployment": "apps/v1", "Job": "batch/v1"}[kind]
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def check_of(version: str, *, outcome: str = "") -> KubeObject:
    template = {"metadata": {"annotations": {CHECKED: version}}}
    conditions = [{"type": outcome, "status": "True"}] if outcome else []
    return of_agent(
        "Job", "support-check", spec={"template": template}, status={"conditions": conditions}
    )


@pytest.mark.parametrize(
    ("live", "is_created"),
    [
        pytest.param(check_of("v2", outcome="Complete"), True, id="passed"),
        pytest.param(check_of("v2", outcome="Failed"), False, id="failed"),
        pytest.param(check_of("v2"), False, id="runs"),
        pytest.param(check_of("v1", outcome="Complete"), False, id="of another version"),
        pytest.param(None, False, id="never ran"),
    ],
)
def test_a_revert_does_not_let_in_what_its_check_has_not(
    live: KubeObject | None, is_created: bool
) -> None:
    workload, check = of_agent("Deployment", "support"), check_of("v2")
    ref = reference_of(workload)
    finding = Finding(ref, "support", DriftClass.MISSING, (), None, None, Severity.HIGH)
    desired = {reference_of(one).identity: one for one in (workload, check)}
    found = {reference_of(live).identity: live} if live else {}
    context = DriftContext(autoscalers=Autoscalers(()))
    scan = Scan(DriftReport((finding,), (), 2), desired, LiveState(found), context)
    [plan] = plan_revert(scan).objects
    assert plan.acts == is_created
    [step] = plan.steps
    assert is_created or "support-check has not succeeded for the declared version" in step.reason
