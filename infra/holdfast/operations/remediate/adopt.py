"""What is live becomes what is declared: found as a change of files, written or committed apart.

Each change is tried on a copy of the project: kept when the copy then renders to the live value
and nothing else about the cluster looks different, and refused when that breaks a mandatory rule.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from holdfast.drift.finding import FIELD_CLASSES, DriftClass, Finding
from holdfast.drift.masking import MASK, MASK_CHANGED
from holdfast.drift.scan import DriftJudge
from holdfast.errors import HoldfastError, InvalidFilesError
from holdfast.kube.objects import Identity, KubeObject, reference_of
from holdfast.kube.paths import ABSENT, value_at
from holdfast.kube.paths import Path as FieldPath
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.text.yaml_edit import REMOVE, UneditableError, with_edit
from holdfast.manifest.types.marks import CONFIG_HASH, REVISION
from holdfast.operations.progress import Progress
from holdfast.operations.scan.scanner import Scan, Scanner
from holdfast.operations.stack.project_copy import ProjectChange, ProjectCopy
from holdfast.render.fleet import render_fleet
from holdfast.render.plan.planning import plan_fleet
from holdfast.render.provenance.adoption import Proposal, proposals
from holdfast.render.provenance.origins import Origins

_OF_CONTENT: Final = (REVISION, CONFIG_HASH)
"""Hashes of what is rendered: they move with every change, and mean no more."""

Key = tuple[Identity, DriftClass, FieldPath]


@dataclass(frozen=True)
class Adoption:
    """What came of adopting.

    Attributes:
        change: Of the project's files.
        refused: Findings that stay, and why.
    """

    stack: str
    change: ProjectChange
    refused: tuple[tuple[Finding, str], ...]

    def write(self, root: Path, branch: str | None, progress: Progress) -> None:
        """Write the files, or commit them on a new branch.

        Raises:
            InputError: the branch exists, the files were changed meanwhile or cannot be written.
            GitError: Git refused.
        """
        message = f"Adopt drift of stack {self.stack} as declared"
        self.change.write(root, branch, message, progress)


def plan_adoption(scanner: Scanner, scan: Scan) -> Adoption:
    """Find the change of files that declares what was found; nothing is written."""
    request = scanner.request
    with ProjectCopy.of(request.project_root, request.stack) as copy:
        # What is in sync must stay so: it is read, too.
        trial = _Trial(copy, scanner, scanner.scan(keeps_all=True))
        refused = [(each, why) for each in scan.report.drift if (why := trial.adopt(each))]
        return Adoption(request.stack, copy.change(), tuple(refused))


@dataclass(frozen=True)
class _Trial:
    """Tries changes in a copy of the project."""

    copy: ProjectCopy
    scanner: Scanner
    scan: Scan

    def adopt(self, finding: Finding) -> str:
        """Change the copy so that it declares a finding; says why not, else nothing."""
        fleet = self.copy.fleet()
        agent = next((each for each in fleet.workloads if each.name == finding.agent), None)
        if finding.drift_class not in FIELD_CLASSES or agent is None:
            return "only fields of an agent's objects can be declared: edit the files yourself"
        if MASK in str(finding.live) or MASK_CHANGED in str(finding.live):
            return "it holds what looks like a credential: keep it in a Secret"
        live = value_at(self.scan.live.objects[finding.ref.identity], finding.path)
        origins, why = Origins(fleet, fleet.stack), ""
        before = self._findings(self._objects(fleet))
        tried = proposals(origins, agent, finding.ref, finding.path, live)
        for number, proposal in enumerate(tried):
            problem = self._try(proposal, finding, before)
            if problem is None:
                return ""
            # The likeliest change comes first: only what stands against that one says something.
            why = why or (problem if number == 0 else "")
        return why or "no field of the manifest renders to it alone: put it back, or expect it"

    def _try(self, proposal: Proposal, finding: Finding, before: set[Key]) -> str | None:
        """Make one change and keep it if it is the right one; empty when it is another."""
        file = self.copy.root / proposal.place.file
        text = file.read_text()
        value = REMOVE if proposal.value is ABSENT else proposal.value
        try:
            changed = (
                with_edit(text, proposal.place, proposal.path, value)
                if file.suffix in {".yaml", ".yml", ".json"}
                else str(value)
            )
            file.write_text(changed)
            objects = self._objects(self.copy.fleet())
        except UneditableError:
            return ""
        except InvalidFilesError as invalid:
            file.write_text(text)
            return f"the manifest would not be valid: {invalid.errors[0]}"
        except HoldfastError as error:
            file.write_text(text)
            return f"the manifest could not be rendered: {error}"
        after = self._findings(objects)
        key = _key_of(finding)
        if key in after or not after <= before:
            file.write_text(text)
            return ""
        broken = self._newly_broken(finding, objects)
        if broken:
            file.write_text(text)
            return f"it breaks {', '.join(broken)}, which the stack does not allow"
        return None

    def _objects(self, fleet: Fleet) -> list[KubeObject]:
        rendered = render_fleet(plan_fleet(fleet, fleet.stack))
        return self.scanner.placed([item.manifest for item in rendered])

    def _findings(self, objects: list[KubeObject]) -> set[Key]:
        around = replace(self.scan.context, judge=None, trail=None, ignore=None)
        report = DriftJudge(objects, around, self.scanner.desired.stack).report(self.scan.live)
        return {_key_of(each) for each in report.drift if not _is_of_content(each.path)}

    def _newly_broken(self, finding: Finding, objects: list[KubeObject]) -> list[str]:
        judge = self.scanner.judge
        identity = finding.ref.identity
        new = next(one for one in objects if reference_of(one).identity == identity)
        old = judge(self.scan.desired[identity])
        return sorted(
            name for name, rule in judge(new).items() if rule.is_mandatory and name not in old
        )


def _key_of(finding: Finding) -> Key:
    return (finding.ref.identity, finding.drift_class, finding.path)


def _is_of_content(path: FieldPath) -> bool:
    return bool(path) and path[-1] in _OF_CONTENT
