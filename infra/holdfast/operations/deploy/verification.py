"""Whether what runs is what a commit declares."""

import subprocess
from dataclasses import dataclass

import msgspec

from holdfast.drift.finding import DriftReport
from holdfast.errors import ExitCode, HoldfastError
from holdfast.kube.paths import format_path
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scanner import Scanner
from holdfast.operations.stack.commit_project import CommitProject
from holdfast.operations.stack.context import StackContext

_MOST_FINDINGS_NAMED = 3


@dataclass(frozen=True)
class Verification:
    """What a comparison of every object with its declaration came to.

    Attributes:
        text: In words: `equal: compared 12 objects`.
        exit_code: 0 for equal, 7 for drift, 1 where not everything could be compared.
    """

    text: str
    exit_code: ExitCode

    @property
    def is_equal(self) -> bool:
        """Whether everything was compared, and nothing differs."""
        return self.exit_code is ExitCode.OK


def verify(project: CommitProject, stack: str) -> Verification:
    """Compare what runs on a stack with what a commit declares.

    Our own code reads and renders the commit's files where it is of the same major version. A
    commit that brings code of its own has the last word on what it does not find equal.
    """
    if not project.is_of_our_version:
        return _asked_of_commit(project, stack)
    found = _scanned(project, stack)
    if found.is_equal or not project.has_own_code:
        return found
    return _asked_of_commit(project, stack)


def verify_stack(context: StackContext) -> Verification:
    """Compare what runs on a stack with what its files declare, by our own code."""
    try:
        request = ScanRequest(context.root, context.name)
        return _judged(Scanner(request, context=context).scan().report)
    except HoldfastError as error:
        return _failed(error.message)


def _scanned(project: CommitProject, stack: str) -> Verification:
    return verify_stack(StackContext(project.root, stack))


def _judged(report: DriftReport) -> Verification:
    drift = [f"{each.ref.kind} {each.ref.name} {format_path(each.path)}" for each in report.drift]
    unseen = [each.reason for each in report.not_checked]
    if drift or unseen:
        code = ExitCode.ERROR if not report.is_complete else ExitCode.DRIFT
        return _not_equal(drift, unseen, code)
    return Verification(f"equal: compared {report.objects_checked} objects", ExitCode.OK)


class _Object(msgspec.Struct):
    kind: str
    name: str


class _Finding(msgspec.Struct):
    object: _Object
    path: str = ""


class _NotChecked(msgspec.Struct):
    reason: str


class _Layer(msgspec.Struct):
    detail: str


class _Report(msgspec.Struct, rename="camel"):
    """As much of `holdfast drift -o json` as is needed of any version."""

    layers: list[_Layer] = []
    findings: list[_Finding] = []
    not_checked: list[_NotChecked] = []


def _asked_of_commit(project: CommitProject, stack: str) -> Verification:
    """The same, said by the commit's own code."""
    try:
        done = project.holdfast("drift", "-s", stack, "-o", "json", "--no-engine", "--no-history")
    except HoldfastError as error:
        return _failed(error.message)
    try:
        report = msgspec.json.decode(done.stdout, type=_Report)
    except msgspec.DecodeError:
        return _failed(_last_line(done))
    if done.returncode == ExitCode.OK:
        details = [each.detail for each in report.layers] or ["its own scan found no drift"]
        return Verification(f"equal: {details[0]}", ExitCode.OK)
    drift = [f"{each.object.kind} {each.object.name} {each.path}" for each in report.findings]
    code = ExitCode.DRIFT if done.returncode == ExitCode.DRIFT else ExitCode.ERROR
    return _not_equal(drift, [each.reason for each in report.not_checked], code)


def _not_equal(drift: list[str], unseen: list[str], code: ExitCode) -> Verification:
    named = [each.strip() for each in drift[:_MOST_FINDINGS_NAMED]]
    return Verification(f"not equal: {'; '.join([*named, *unseen[:1]])}", code)


def _failed(why: str) -> Verification:
    return Verification(f"the scan failed: {why}", ExitCode.ERROR)


def _last_line(done: "subprocess.CompletedProcess[str]") -> str:
    said = done.stderr.strip().splitlines()
    return said[-1] if said else f"exit code {done.returncode}, and no report that can be read"
