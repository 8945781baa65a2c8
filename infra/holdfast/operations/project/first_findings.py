"""The first findings in a new repository: what runs, by the rules and against the new files."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.drift.finding import DriftReport
from holdfast.errors import HoldfastError
from holdfast.operations.policy.check import CheckRequest, check_policy
from holdfast.operations.policy.model import PolicyReport
from holdfast.operations.progress import Progress
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scanner import Scanner
from holdfast.sandbox.paths import sandbox_kubeconfig


@dataclass(frozen=True)
class FirstFindings:
    """What was found.

    Attributes:
        policy: Every rule on everything that runs; None where it could not be asked.
        drift: What runs against the new files; None where it could not be compared.
        not_checked: Why something is None.
    """

    policy: PolicyReport | None
    drift: DriftReport | None
    not_checked: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether everything could be checked."""
        reports = (self.policy, self.drift)
        return not self.not_checked and all(each and not each.not_checked for each in reports)

    @property
    def violated(self) -> list[tuple[str, int]]:
        """Rules that are violated, by how many findings, the most first."""
        found = self.policy.findings if self.policy else ()
        return Counter(each.rule for each in found if each.verdict == "violated").most_common()

    @property
    def drifted(self) -> list[tuple[str, int]]:
        """Severities of differences, by how many findings."""
        found = self.drift.drift if self.drift else ()
        return Counter(str(each.severity) for each in found).most_common()


def first_findings(
    root: Path,
    stack: str,
    cluster: tuple[Path | None, str | None],
    namespaces: Sequence[str],
    progress: Progress,
) -> FirstFindings:
    """Check what runs by the rules, and compare it with the files of a new repository.

    Args:
        root: The repository.
        stack: Its stack.
        cluster: Kubeconfig and context; None for the usual ones.
        namespaces: Where its workloads are.
        progress: Takes notes.
    """
    kubeconfig, context = cluster
    if kubeconfig is None and context is not None:
        kubeconfig = sandbox_kubeconfig(context)
    problems: list[str] = []
    policy: PolicyReport | None = None
    drift: DriftReport | None = None
    try:
        policy = check_policy(
            CheckRequest(
                is_live=True,
                namespaces=tuple(namespaces),
                kubeconfig=kubeconfig,
                context=context,
            )
        )
    except HoldfastError as error:
        problems.append(f"policy: {error}")
    try:
        request = ScanRequest(root=root, stack=stack, kubeconfig=kubeconfig)
        drift = Scanner(request, progress).run(engine=False).report
    except HoldfastError as error:
        problems.append(f"drift: {error}")
    return FirstFindings(policy, drift, tuple(problems))
