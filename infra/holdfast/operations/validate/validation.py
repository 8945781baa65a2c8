"""Manifests, rendered and judged without cluster or engine."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cached_property, partial
from pathlib import Path

from holdfast_policies.evaluation.profile import PolicyConfigError, Profile, profile_of
from holdfast_policies.evaluation.waivers import WAIVER_EXPIRED, Waivers

from holdfast.adapters.git.authors import Author
from holdfast.errors import (
    InvalidFilesError,
    ManifestError,
    NameTakenError,
    RenderError,
    SourceLocation,
)
from holdfast.manifest.fleet.fleet import DeclaredDriftIgnore, DeclaredPolicyException, Fleet
from holdfast.manifest.fleet.loader import load_fleet, manifest_files_in
from holdfast.manifest.fleet.project_files import AGENTS_FOLDER, STACKS_FOLDER
from holdfast.manifest.kinds.exemptions import PolicyExceptionSpec
from holdfast.manifest.kinds.expiry import faults_of_exemptions, has_expired
from holdfast.manifest.kinds.kinds import DriftIgnore, PolicyException
from holdfast.manifest.stack.ignore_file import IGNORE_FILE, read_ignore_file
from holdfast.manifest.stack.names import stack_names
from holdfast.manifest.stack.pulumi_project import faults_of_pulumi_project
from holdfast.manifest.stack.stack_files import path_in_file
from holdfast.operations.policy.evaluate import verdicts, waiver_findings
from holdfast.operations.policy.model import PolicyFinding
from holdfast.operations.policy.own_rules import rules_of_project
from holdfast.operations.policy.rule_cases import faults_of_cases
from holdfast.operations.policy.settings import (
    WAIVERS_FILE,
    faults_of_compiled,
    faults_of_configs,
    faults_of_rules,
    write_waivers,
)
from holdfast.operations.policy.sources import judged_objects, place_of_waiver
from holdfast.operations.progress import SILENT, Progress
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.preflight.crds import missing_crds, remedy_for
from holdfast.operations.validate.approvals import approval_fault, approval_in_words, authors_of
from holdfast.operations.validate.report import (
    Exemption,
    ValidationReport,
    sorted_faults,
)
from holdfast.render.fleet import render_fleet
from holdfast.render.objects.admission import waivers_of
from holdfast.render.objects.rule_set import rules_of
from holdfast.render.plan.metadata import RenderedObject
from holdfast.render.plan.planning import plan_fleet
from holdfast.render.provenance.origins import Origins

_Fault = ManifestError | PolicyFinding


@dataclass(frozen=True)
class ValidationRequest:
    """What of a project is validated.

    Attributes:
        root: Folder of Pulumi.yaml.
        stacks: Names of stacks; none for all that the project has.
        paths: As of `validate_project`.
        asks_clusters: As of `validate_project`.
        writes_waivers: First compile the PolicyException manifests into the waivers file.
    """

    root: Path
    stacks: tuple[str, ...] = ()
    paths: tuple[Path, ...] = ()
    asks_clusters: bool = False
    writes_waivers: bool = False


def validate(request: ValidationRequest, progress: Progress = SILENT) -> ValidationReport:
    """Validate a project for the stacks that are named, else for all of them, as of today.

    Raises:
        InputError: there is no such stack (exit code 6), or no folder of manifests.
        InvalidFilesError: waivers are to be written, and the manifests are not valid.
        ClusterError: a cluster that was to be asked gave no answer.
    """
    root = request.root
    stacks = request.stacks or tuple(stack_names(root))
    if request.writes_waivers:
        write_waivers(root)
        progress.note(f"wrote {WAIVERS_FILE}")
    today = datetime.now(UTC).date()
    report = validate_project(
        root, stacks, request.paths, today=today, asks_clusters=request.asks_clusters
    )
    is_empty = not request.paths and not manifest_files_in(root / AGENTS_FOLDER)
    return replace(report, declares_nothing=is_empty)


def validate_project(
    root: Path,
    stacks: Sequence[str],
    paths: Sequence[Path] = (),
    *,
    today: date,
    asks_clusters: bool = False,
) -> ValidationReport:
    """Read all manifests for each stack, render them, and judge what they stand for.

    Args:
        root: Folder of Pulumi.yaml.
        stacks: Names of stacks; without one, the manifests alone are read.
        paths: Files and folders to report on; none for all. Those outside the project's own
            folders are read as if they lay among the manifests.
        today: The day by which exemptions are judged.
        asks_clusters: Ask the cluster of each stack whether it knows every kind that is needed.

    Raises:
        InputError: there is no such stack (exit code 6), or no folder of manifests.
        ClusterError: a cluster that was to be asked gave no answer.
    """
    root = root.resolve()
    chosen = [path.resolve() for path in paths]
    own = (root / AGENTS_FOLDER, root / STACKS_FOLDER)
    foreign = [path for path in chosen if not any(path.is_relative_to(folder) for folder in own)]
    # A JSON file holds settings of rules.
    folders = [path for path in foreign if path != root and path.suffix != ".json"]
    further = [file for path in folders for file in manifest_files_in(path)]
    found: list[tuple[_Fault, str]] = [
        (fault, "") for fault in faults_of_configs(root, [each for each in chosen if each != root])
    ]
    found += [(fault, "") for fault in _own_rules(root, chosen)]
    found += [(fault, "") for fault in _beside_manifests(root, chosen)]
    listed: dict[Exemption, None] = {}
    elsewhere: dict[str, None] = {}
    for stack in stacks or [""]:
        context = StackContext(root, stack)
        is_whole = bool(stack) and not further
        declared = context if is_whole else _Files(root, stack, tuple(further))
        for each in (
            *_found_in(declared, root, today),
            *(_missing_crds(context) if stack and asks_clusters else ()),
        ):
            if chosen and not any(_lies_in(each, path, root) for path in chosen):
                if isinstance(each, ManifestError):
                    elsewhere[str(each)] = None
                continue
            if isinstance(each, Exemption):
                listed[each] = None
            else:
                found.append((each, stack))
    return _report(listed, found, tuple(stacks), errors_elsewhere=len(elsewhere))


def validate_stack(context: StackContext, *, today: date) -> ValidationReport:
    """Judge what the files declare for one stack, which the context has read.

    Args:
        context: The stack.
        today: The day by which exemptions are judged.

    Raises:
        InputError: there is no such stack (exit code 6), or no folder of manifests.
    """
    found = list(_found_in(context, context.root, today))
    granted = [each for each in found if isinstance(each, Exemption)]
    faults = [each for each in found if not isinstance(each, Exemption)]
    return _report(
        dict.fromkeys(granted), [(each, context.name) for each in faults], (context.name,)
    )


def _report(
    granted: Iterable[Exemption],
    found: Sequence[tuple[_Fault, str]],
    stacks: tuple[str, ...],
    *,
    errors_elsewhere: int = 0,
) -> ValidationReport:
    in_order = sorted(granted, key=lambda each: each.location)
    return ValidationReport(
        sorted_faults(found),
        stacks,
        exemptions=tuple(in_order),
        errors_elsewhere=errors_elsewhere,
    )


def _lies_in(each: _Fault | Exemption, path: Path, root: Path) -> bool:
    places = [each.location or SourceLocation("")]
    if isinstance(each, NameTakenError):
        places.append(each.other_location)
    return any((root / place.file).is_relative_to(path) for place in places)


@dataclass(frozen=True)
class _Files:
    """Manifests that are more than a stack's, or are read without one."""

    root: Path
    name: str
    further: tuple[Path, ...]

    @cached_property
    def fleet(self) -> Fleet:
        return load_fleet(self.root, self.name or None, further_files=self.further)

    @cached_property
    def rendered(self) -> tuple[RenderedObject, ...]:
        return render_fleet(plan_fleet(self.fleet, self.name))


def _found_in(
    declared: StackContext | _Files, root: Path, today: date
) -> Iterator[_Fault | Exemption]:
    try:
        fleet = declared.fleet
        written = {each.name: authors_of(root, each) for each in fleet.of(PolicyException)}
        yield from exemptions_of(fleet, today, written)
        for exception in fleet.of(PolicyException):
            if fault := approval_fault(exception, written[exception.name]):
                yield fault
        faults = list(faults_of_exemptions(fleet, today=today, rules=rules_of(fleet).by_id))
        yield from faults or faults_of_compiled(root, fleet)
        if declared.name:
            yield from _breaches(declared, today)
    except InvalidFilesError as invalid:
        yield from invalid.errors
    except RenderError as error:
        place = SourceLocation(f"{STACKS_FOLDER}/Pulumi.{declared.name}.yaml")
        yield ManifestError(place, "", expected=error.message, remedy=error.remedy)


def _own_rules(root: Path, chosen: Sequence[Path]) -> Iterator[ManifestError]:
    """Faults of own rules and of their cases."""
    try:
        found = list(faults_of_cases(root, rules_of_project(root)))
    except InvalidFilesError as invalid:
        found = list(invalid.errors)
    whole = not chosen or root in chosen
    yield from (
        each for each in found if whole or any(_lies_in(each, path, root) for path in chosen)
    )


def _beside_manifests(root: Path, chosen: Sequence[Path]) -> Iterator[ManifestError]:
    """Faults of the project's own file, and of the rules on expected drift beside the stacks."""
    found = list(faults_of_pulumi_project(root))
    if (root / IGNORE_FILE).exists():
        try:
            read_ignore_file(root / IGNORE_FILE, IGNORE_FILE, "")
        except InvalidFilesError as invalid:
            found += invalid.errors
    yield from (
        each for each in found if not chosen or any(_lies_in(each, path, root) for path in chosen)
    )


def _missing_crds(state: StackContext) -> Iterator[ManifestError]:
    try:
        rendered = state.rendered
    except (InvalidFilesError, RenderError):
        return  # listed already, and nothing can be asked for
    for missing in missing_crds(rendered, state.kubeconfig, state.kube_context):
        for agent in state.fleet.workloads:
            if agent.name in missing.agents:
                yield ManifestError(
                    agent.location_of("metadata.name"),
                    "",
                    expected=f"expected a cluster that knows {missing.what} on stack {state.name}",
                    remedy=remedy_for([missing.controller], state.kube_context),
                )


def exemptions_of(
    fleet: Fleet, today: date, written: Mapping[str, tuple[Author, ...] | None]
) -> Iterator[Exemption]:
    """Every exemption that still holds, in words.

    Args:
        fleet: The declared fleet.
        today: The day by which they end.
        written: Name of an exception to who wrote it; None where Git does not know.
    """
    granted: list[DeclaredPolicyException | DeclaredDriftIgnore] = [
        *fleet.of(PolicyException),
        *fleet.of(DriftIgnore),
    ]
    for each in granted:
        if has_expired(each, today):
            continue
        target = each.spec.target
        about, approval = f"{target.kind} {target.namespace}/{target.name}", ""
        if isinstance(each.spec, PolicyExceptionSpec):
            kind, about = PolicyException.KIND, f"{', '.join(each.spec.rules)} on {about}"
            approval = approval_in_words(each.spec.approver, written.get(each.name))
        else:
            what = ", ".join((*each.spec.paths, *each.spec.managers))
            kind, about = DriftIgnore.KIND, f"{what} of {about}"
        place = each.location_of("metadata.name")
        expires = each.spec.expires.isoformat()
        yield Exemption(place, kind, each.name, about, each.spec.owner, expires, approval)


def _breaches(declared: StackContext | _Files, today: date) -> Iterator[_Fault]:
    fleet = declared.fleet
    profile = _profile(fleet)
    if isinstance(profile, list):
        yield from profile
        return
    profile = replace(profile, waivers=Waivers(waivers_of(fleet), today))
    judged = tuple(judged_objects(declared.rendered, Origins(fleet, fleet.stack)))
    findings, _ = verdicts(judged, profile)
    waived = waiver_findings(
        judged, findings, profile, is_whole=True, place_of=partial(place_of_waiver, fleet)
    )
    for each in (*findings, *(each for each in waived if each.rule != WAIVER_EXPIRED)):
        yield each if each.location else replace(each, location=fleet.setting_location())


def _profile(fleet: Fleet) -> Profile | list[ManifestError]:
    environment = fleet.environment
    try:
        return profile_of(
            environment.profile_for(fleet.stack), environment.policy.rules, rules_of(fleet)
        )
    except PolicyConfigError:
        origin = fleet.settings_origin.nearest(("policy", "rules"))
        path = path_in_file(("policy", "rules"))
        return list(faults_of_rules(environment.policy.rules, origin, path, rules_of(fleet)))
