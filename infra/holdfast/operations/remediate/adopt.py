"""What is live becomes what is declared: found as a change of files, written or committed apart.

Each change is tried on a copy of the project: kept when the copy then renders to the live value
and nothing else about the cluster looks different, and refused when that breaks a mandatory rule.
"""

import difflib
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from holdfast.adapters.engine.project import PROJECT_FILE
from holdfast.adapters.files import write_atomically
from holdfast.adapters.git.repository import commit_on_branch
from holdfast.drift.finding import FIELD_CLASSES, DriftClass, Finding
from holdfast.drift.masking import MASK, MASK_CHANGED
from holdfast.drift.scan import DriftJudge
from holdfast.errors import HoldfastError, InvalidFilesError
from holdfast.kube.objects import Identity, KubeObject, reference_of
from holdfast.kube.paths import ABSENT, value_at
from holdfast.kube.paths import Path as FieldPath
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.fleet.project_files import AGENTS_FOLDER, STACKS_FOLDER
from holdfast.manifest.text.yaml_edit import REMOVE, UneditableError, with_edit
from holdfast.operations.scan.scanner import Scan, Scanner
from holdfast.render.fleet import render_fleet
from holdfast.render.plan.declared import plan_fleet
from holdfast.render.provenance.adoption import Proposal, proposals
from holdfast.render.provenance.origins import Origins

_OF_CONTENT: Final = ("holdfast.dev/revision", "holdfast.dev/config-hash")
"""Hashes of what is rendered: they move with every change, and mean no more."""

Key = tuple[Identity, DriftClass, FieldPath]


@dataclass(frozen=True)
class Adoption:
    """What came of adopting.

    Attributes:
        files: Changed files, relative to the project, with their text before and after.
        refused: Findings that stay, and why.
    """

    files: Mapping[str, tuple[str, str]]
    refused: tuple[tuple[Finding, str], ...]

    @property
    def texts(self) -> dict[str, str]:
        """Each changed file as it is to be."""
        return {file: after for file, (_, after) in self.files.items()}

    @property
    def diff(self) -> str:
        """All changes as one unified diff, as `git apply` takes it."""
        return "".join(
            line
            for file, (before, after) in sorted(self.files.items())
            for line in difflib.unified_diff(
                before.splitlines(keepends=True),
                after.splitlines(keepends=True),
                f"a/{file}",
                f"b/{file}",
            )
        )


def plan_adoption(scanner: Scanner, scan: Scan) -> Adoption:
    """Find the change of files that declares what was found; nothing is written."""
    root = scanner.request.project_root
    with tempfile.TemporaryDirectory(prefix="holdfast-adopt-") as folder:
        # What is in sync must stay so: it is read, too.
        copy = _Copy(Path(folder), scanner, scanner.scan(keeps_all=True))
        copy.fill(root)
        refused = []
        for finding in scan.report.drift:
            reason = copy.adopt(finding)
            if reason:
                refused.append((finding, reason))
        return Adoption(dict(copy.changes(root)), tuple(refused))


def write_adoption(root: Path, adoption: Adoption) -> None:
    """Change the files of a project.

    Raises:
        OSError: one cannot be written.
    """
    for file, text in adoption.texts.items():
        write_atomically(root / file, text)


def commit_adoption(root: Path, adoption: Adoption, stack: str, branch: str) -> str:
    """Commit the change on a new branch; the commit's name.

    Raises:
        InputError: the branch is there already, or the files are not as committed.
        GitError: Git refused.
    """
    return commit_on_branch(
        root, branch, adoption.texts, f"Adopt drift of stack {stack} as declared"
    )


@dataclass(frozen=True)
class _Copy:
    """A copy of the project in which changes are tried."""

    root: Path
    scanner: Scanner
    scan: Scan

    def fill(self, project_root: Path) -> None:
        """Copy what is declared."""
        for name in (AGENTS_FOLDER, STACKS_FOLDER):
            shutil.copytree(project_root / name, self.root / name)
        shutil.copy(project_root / PROJECT_FILE, self.root)

    def changes(self, project_root: Path) -> Iterator[tuple[str, tuple[str, str]]]:
        """Files that are no longer as in the project."""
        for file in sorted(each for each in self.root.rglob("*") if each.is_file()):
            name = file.relative_to(self.root).as_posix()
            before, after = ((each / name).read_text() for each in (project_root, self.root))
            if before != after:
                yield name, (before, after)

    def adopt(self, finding: Finding) -> str:
        """Change the copy so that it declares a finding; says why not, else nothing."""
        fleet = self._fleet()
        agent = next((each for each in fleet.workloads if each.name == finding.agent), None)
        if finding.drift_class not in FIELD_CLASSES or agent is None:
            return "only fields of an agent's objects can be declared: do it by hand"
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
        file = self.root / proposal.place.file
        text = file.read_text()
        value = REMOVE if proposal.value is ABSENT else proposal.value
        try:
            changed = (
                with_edit(text, proposal.place, proposal.path, value)
                if file.suffix in {".yaml", ".yml", ".json"}
                else str(value)
            )
            file.write_text(changed)
            objects = self._objects(self._fleet())
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

    def _fleet(self) -> Fleet:
        return load_fleet(self.root, self.scanner.request.stack)

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
