"""Loading a project: all files in, one valid fleet out, or every fault of every file at once."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from holdfast_policies.own.source import RuleFile

from holdfast.errors import InputError, InvalidFilesError, ManifestError
from holdfast.kube.paths import format_path
from holdfast.manifest.agent.agent import AGENT_KIND, Agent
from holdfast.manifest.fleet.credential_scan import faults_of_credentials
from holdfast.manifest.fleet.declared_names import DeclaredNames
from holdfast.manifest.fleet.fleet import Declared, Fleet, declared, fleet_of
from holdfast.manifest.fleet.fleet_checks import faults_in_environment, faults_of_fleet
from holdfast.manifest.fleet.merge import ProjectInputs, effective_agent, effective_server
from holdfast.manifest.fleet.project_files import AGENTS_FOLDER
from holdfast.manifest.fleet.rule_files import read_own_rules
from holdfast.manifest.fleet.team_defaults import Memberships
from holdfast.manifest.fleet.tool_lock import ToolLock, read_tool_lock
from holdfast.manifest.kinds.kinds import KINDS, AgentTeam, Companion, McpServer
from holdfast.manifest.kinds.versions import SUPPORTED
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.stack.stack_files import StackSettings, path_in_file, read_stack_file
from holdfast.manifest.text.documents import Document, read_documents
from holdfast.manifest.text.origin import Origin
from holdfast.manifest.text.redaction import described
from holdfast.manifest.text.source_text import read_text
from holdfast.manifest.types.manifest import API_VERSION
from holdfast.manifest.types.validation import suggestion, validate

SUFFIXES = (".yaml", ".yml", ".json")
_IMPORTED = frozenset({"CronJob", "Deployment", "Sandbox", "StatefulSet"})
"""Kinds of Kubernetes that `holdfast agent import` converts."""


@dataclass(slots=True)
class _Gathered:
    """What has been read so far.

    Attributes:
        is_whole: Every file was read to its end.
    """

    errors: list[ManifestError] = field(default_factory=list)
    manifests: list[Declared] = field(default_factory=list)
    is_whole: bool = True


def load_fleet(
    project_root: Path,
    stack: str | None = None,
    *,
    further_files: Sequence[Path] = (),
    is_lock_read: bool = True,
) -> Fleet:
    """All manifests of a project, as they are to run on one stack.

    Args:
        project_root: Folder of Pulumi.yaml; manifests lie in `agents/`, at any depth.
        stack: Stack whose settings and overrides hold; None for the manifests alone.
        further_files: Manifests outside `agents/`, taken as if they lay there.
        is_lock_read: Whether names and digests of tools must be those of `agents/tools.lock`; not
            so where that file is about to be written.

    Raises:
        InputError: there is no such stack (exit code 6), or no folder of manifests.
        InvalidFilesError: with every fault of every file.
    """
    root = project_root.resolve()
    settings = read_stack_file(root, stack) if stack else StackSettings(Environment())
    gathered = _Gathered(errors=list(settings.errors))
    environment = settings.environment or Environment().model_copy(
        update={"namespace": settings.default_namespace}
    )
    documents = list(_documents(root, further_files, gathered))
    names = DeclaredNames(documents, environment.namespace, are_complete=gathered.is_whole)
    memberships = Memberships(documents, environment.namespace)
    gathered.errors += [*names.faults(), *memberships.faults()]
    if names.are_complete:
        gathered.errors += _unknown_overrides(settings, names)
    agents = frozenset(names.of(AGENT_KIND))
    project = ProjectInputs(root, settings, environment.namespace, memberships, agents)
    for document in documents:
        _gather(document, project, gathered)
    fleet = replace(
        fleet_of(
            gathered.manifests,
            environment,
            _lock(root, gathered) if is_lock_read else ToolLock(),
            stack or "",
        ),
        settings_origin=settings.origin,
        rule_files=_rules(root, gathered),
    )
    gathered.errors += faults_of_fleet(fleet, names)
    if stack and settings.environment:
        # Settings that are not valid say nothing about what the cluster offers.
        gathered.errors += faults_in_environment(fleet)
    if gathered.errors:
        # What a team hands down is wrong in each of its members, and reported once.
        raise InvalidFilesError(list({str(error): error for error in gathered.errors}.values()))
    return fleet


def _rules(root: Path, gathered: _Gathered) -> tuple[RuleFile, ...]:
    try:
        return read_own_rules(root)
    except ManifestError as error:
        gathered.errors.append(error)
        return ()


def _lock(root: Path, gathered: _Gathered) -> ToolLock:
    try:
        return read_tool_lock(root)
    except ManifestError as error:
        gathered.errors.append(error)
        return ToolLock()


def manifest_files(project_root: Path) -> list[Path]:
    """Every YAML and JSON file under `agents/`, hidden ones left out, in a stable order.

    Raises:
        InputError: there is no such folder.
    """
    folder = project_root / AGENTS_FOLDER
    if not folder.is_dir():
        # An empty fleet would delete everything that runs: a missing folder must not mean that.
        raise InputError(
            f"no folder {AGENTS_FOLDER}/ in {project_root}", remedy="run it inside a project"
        )
    return manifest_files_in(folder)


def manifest_files_in(path: Path) -> list[Path]:
    """A file by itself; of a folder, its manifests as `manifest_files` chooses them."""
    if not path.is_dir():
        return [path]
    found: list[Path] = []
    for parent, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += (
            Path(parent, name)
            for name in sorted(files)
            if name.endswith(SUFFIXES) and not name.startswith(".")
        )
    return found


def _documents(
    root: Path, further_files: Sequence[Path], gathered: _Gathered
) -> Iterator[Document]:
    for path in (*manifest_files(root), *further_files):
        is_inside = path.is_relative_to(root)
        file = path.relative_to(root).as_posix() if is_inside else str(path)
        try:
            inside = root if is_inside else None
            content = read_documents(read_text(path, file, inside=inside), file)
        except ManifestError as error:
            gathered.errors.append(error)
            gathered.is_whole = False
            continue
        gathered.errors += content.errors
        gathered.is_whole &= content.is_whole
        if not content.documents and not content.errors:
            gathered.errors.append(_no_manifest(None, Origin(file, 1, 1)))
        yield from content.documents


def _gather(document: Document, project: ProjectInputs, gathered: _Gathered) -> None:
    data, origin = document.data, document.origin
    if not isinstance(data, dict):
        gathered.errors.append(_no_manifest(data, origin))
        return
    kind = _kind(document, gathered.errors)
    if kind is None:
        return
    errors: list[ManifestError] = []
    faulty = set(document.faulty_paths)
    if kind is Agent:
        data, origin, errors = effective_agent(data, origin, project, faulty)
    elif kind is McpServer:
        data, origin = effective_server(data, origin, project)
    errors += faults_of_credentials(_own_part(data), origin)
    gathered.errors += errors
    faulty.update(error.path for error in errors)
    result = validate(kind, data, origin, faulty_paths=faulty)
    if isinstance(result, list):
        gathered.errors += result
    elif not faulty:
        namespace = result.metadata.namespace or project.namespace
        gathered.manifests.append(declared(result, namespace, document.origin.file, origin))


def _own_part(data: dict[str, Any]) -> dict[str, Any]:
    """A manifest without what takes effect elsewhere: a team's defaults, judged at its members."""
    spec = data.get("spec")
    if data.get("kind") != AgentTeam.KIND or not isinstance(spec, dict):
        return data
    return {**data, "spec": {key: value for key, value in spec.items() if key != "defaults"}}


def _kind(document: Document, errors: list[ManifestError]) -> type[Agent | Companion] | None:
    data, origin = document.data, document.origin
    choices = {"apiVersion": SUPPORTED, "kind": tuple(KINDS)}
    for key, known in choices.items():
        value = data.get(key)
        if value in known:
            continue
        place = origin.nearest((key,))
        found = described(value, place) if key in data else "nothing"
        expected = f"expected {' or '.join(known)}"
        remedy = suggestion(value, known) if isinstance(value, str) else f"add {key}: {known[0]}"
        misspelt = [each for each in data if key not in data and each.lower() == key.lower()]
        if misspelt:
            remedy = f"rename {misspelt[0]} to {key}"
        if isinstance(data.get("kind"), str) and data["kind"] in _IMPORTED:
            remedy = "`holdfast agent import` converts it to an Agent"
        errors.append(
            ManifestError(place.value_location, key, expected=expected, found=found, remedy=remedy)
        )
        return None
    return KINDS[data["kind"]]


def _unknown_overrides(settings: StackSettings, names: DeclaredNames) -> Iterator[ManifestError]:
    known = {*names.of(AGENT_KIND), *names.of(McpServer.KIND)}
    for name in settings.overrides:
        if name not in known:
            yield ManifestError(
                settings.origin.nearest(("agents", name)).key_location,
                format_path(path_in_file(("agents", name))),
                expected="expected the name of an agent or tool server",
                found=repr(name),
                remedy=suggestion(name, known),
            )


def _no_manifest(data: object, origin: Origin) -> ManifestError:
    return ManifestError(
        origin.value_location,
        "",
        expected="expected a mapping with apiVersion, kind, metadata and spec",
        found="nothing" if data is None else described(data, origin),
        remedy=f"begin with apiVersion: {API_VERSION}"
        + (", and separate objects by a line of ---" if isinstance(data, list) else ""),
    )
