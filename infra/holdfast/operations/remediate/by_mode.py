"""`holdfast drift --act`: each agent's drift is dealt with as its manifest says. Wiring."""

import hashlib
from dataclasses import dataclass, replace

import click

from holdfast.drift.finding import Finding
from holdfast.operations.scan.sources import DriftSources, Scan


@dataclass(frozen=True)
class Agreement:
    """What the command line agrees to.

    Attributes:
        is_agreed: Put back without asking.
        may_replace: Delete and make again what cannot be changed in place.
        branch: Branch for what is adopted; None for one named after the change.
    """

    is_agreed: bool
    may_replace: bool
    branch: str | None


def act(sources: DriftSources, scan: Scan, agreed: Agreement) -> tuple[Scan, int]:
    """Adopt, put back or only report, by `spec.drift.mode` of the agent of each finding.

    Returns:
        The scan that shows the outcome, and how many objects could not be put back.
    """
    adopted, reverted = _of_mode(sources, scan, "adopt"), _of_mode(sources, scan, "revert")
    if adopted.report.drift:
        _propose(sources, adopted, agreed.branch)
    if not reverted.report.drift:
        return scan, 0
    from holdfast.operations.remediate.revert import revert  # noqa: PLC0415  (start-up)

    outcome = revert(sources, reverted, is_agreed=agreed.is_agreed, may_replace=agreed.may_replace)
    return outcome.scan if outcome.scan is not reverted else scan, outcome.failures


def _of_mode(sources: DriftSources, scan: Scan, mode: str) -> Scan:
    """The scan with the findings of the agents of one mode."""

    def is_of_mode(finding: Finding) -> bool:
        return sources.desired.modes.get(finding.agent, "report") == mode

    kept = tuple(each for each in scan.report.findings if is_of_mode(each))
    return replace(scan, report=replace(scan.report, findings=kept))


def _propose(sources: DriftSources, scan: Scan, branch: str | None) -> None:
    """Commit what is live on a branch; the same drift found again is the same branch."""
    from holdfast.adapters.git.branch import commit_on_branch, is_branch  # noqa: PLC0415  (as above)
    from holdfast.operations.remediate.adopt import adopt, told  # noqa: PLC0415  (start-up)

    adoption, root, stack = (
        adopt(sources, scan),
        sources.request.project_root,
        sources.request.stack,
    )
    told(adoption)
    texts = {file: after for file, (_, after) in adoption.files.items()}
    if not texts:
        return
    digest = hashlib.sha256(adoption.diff.encode()).hexdigest()[:8]
    name = branch or f"adopt-{stack.rpartition('/')[2]}-{digest}"
    if branch is None and is_branch(root, name):
        click.echo(f"adoption waits on branch {name}", err=True)
        return
    commit = commit_on_branch(root, name, texts, f"Adopt drift of stack {stack} as declared")
    click.echo(f"committed {commit[:12]} on branch {name}", err=True)
