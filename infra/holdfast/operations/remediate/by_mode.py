"""Each agent's drift is reverted, adopted or only reported, as `spec.drift.mode` says."""

import hashlib
from dataclasses import dataclass, replace

from holdfast.adapters.git.repository import is_branch
from holdfast.drift.finding import Finding
from holdfast.operations.progress import Progress
from holdfast.operations.remediate.adopt import Adoption, plan_adoption
from holdfast.operations.remediate.revert import (
    RevertOutcome,
    RevertPlan,
    apply_revert,
    plan_revert,
)
from holdfast.operations.scan.scanner import Scan, Scanner


@dataclass(frozen=True)
class Remediation:
    """What is done about each agent's drift.

    Attributes:
        adoption: The change of files for agents that adopt; None when none of them drifted.
        revert: For the agents that revert.
    """

    adoption: Adoption | None
    revert: RevertPlan


def plan_by_mode(scanner: Scanner, scan: Scan, *, may_replace: bool = False) -> Remediation:
    """What would be done about the findings of a scan; nothing is written."""
    adopted, reverted = (_of_mode(scanner, scan, mode) for mode in ("adopt", "revert"))
    adoption = plan_adoption(scanner, adopted) if adopted.report.drift else None
    return Remediation(adoption, plan_revert(reverted, may_replace=may_replace))


def propose(scanner: Scanner, adoption: Adoption, branch: str | None, progress: Progress) -> None:
    """Commit what is live on a branch; the same drift found again is the same branch.

    Args:
        scanner: Of the stack.
        adoption: The change of files.
        branch: None for one that is named after the change.
        progress: Takes the name of the branch.
    """
    root, stack = scanner.request.project_root, scanner.request.stack
    if not adoption.change.files:
        return
    digest = hashlib.sha256(adoption.change.diff.encode()).hexdigest()[:8]
    name = branch or f"adopt-{stack.rpartition('/')[2]}-{digest}"
    if branch is None and is_branch(root, name):
        progress.step(f"adoption waits on branch {name}")
        return
    adoption.write(root, name, progress)


def apply_by_mode(
    scanner: Scanner, plan: Remediation, branch: str | None, progress: Progress
) -> RevertOutcome | None:
    """Do what was planned: propose what is adopted, revert what is reverted.

    Raises:
        LoginError: the API server does not accept the credentials any more.
        EngineError: an update of the stack is under way.
    """
    if plan.adoption is not None:
        propose(scanner, plan.adoption, branch, progress)
    if not plan.revert.acting:
        return None
    return apply_revert(scanner, plan.revert, progress)


def _of_mode(scanner: Scanner, scan: Scan, mode: str) -> Scan:
    """The scan with the findings of the agents of one mode."""
    modes = scanner.desired.modes

    def is_of_mode(finding: Finding) -> bool:
        return modes.get(finding.agent, "report") == mode

    kept = tuple(each for each in scan.report.findings if is_of_mode(each))
    return replace(scan, report=replace(scan.report, findings=kept))
