"""Settings of rules and compiled waivers: what is wrong with them in the files of a project."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from holdfast_policies.evaluation.profile import ALL, LEVEL_KEY, located_faults_of
from holdfast_policies.evaluation.rule_set import SHIPPED_RULES, RuleSet
from holdfast_policies.evaluation.waivers import compiled

from holdfast.adapters.files import write_atomically
from holdfast.errors import InvalidFilesError, ManifestError, SourceLocation
from holdfast.kube.paths import Path as FieldPath
from holdfast.kube.paths import format_path
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.text.documents import read_documents
from holdfast.manifest.text.origin import Origin
from holdfast.manifest.text.source_text import read_text
from holdfast.operations.policy.own_rules import rules_of_project
from holdfast.operations.stack.project import write_pack
from holdfast.render.objects.admission import waivers_of

CONFIG_FOLDER = "policy-pack/config"


def faults_of_configs(root: Path, paths: Sequence[Path]) -> Iterator[ManifestError]:
    """Faults of config files of rules for the engine.

    Args:
        root: Folder of Pulumi.yaml.
        paths: Absolute files and folders to report on; none for the project's own config files.
    """
    try:
        known = rules_of_project(root)
    except InvalidFilesError:
        return  # reported by who reads the manifests
    own = sorted((root / CONFIG_FOLDER).glob("*.json"))
    for file in own:
        if not paths or any(file.is_relative_to(path) for path in paths):
            yield from _faults_of_file(file, str(file.relative_to(root)), known)
    for file in paths:
        if file.suffix == ".json" and file not in own:
            inside = file.is_relative_to(root)
            name = str(file.relative_to(root) if inside else file)
            yield from _faults_of_file(file, name, known)


def faults_of_rules(
    rules: Mapping[str, Any], origin: Origin, path: FieldPath, known: RuleSet = SHIPPED_RULES
) -> Iterator[ManifestError]:
    """Faults of rule settings, each at the key that is wrong.

    Args:
        rules: Rule to level, or to level and parameters.
        origin: Where the mapping was written.
        path: Field path of the mapping in its file.
        known: All rules that there are.
    """
    for keys, fault in located_faults_of(rules, known):
        place = origin.nearest(keys).key_location
        expected, _, remedy = fault.partition("; ")
        where = format_path((*path, *keys))
        yield ManifestError(place, where, expected=expected, remedy=remedy)


def _faults_of_file(file: Path, name: str, known: RuleSet) -> Iterator[ManifestError]:
    try:
        content = read_documents(read_text(file, name), name)
    except ManifestError as error:
        yield error
        return
    yield from content.errors
    for document in content.documents:
        if not isinstance(document.data, dict):
            yield ManifestError(
                SourceLocation(name), "", expected="expected a mapping of rules to levels"
            )
            continue
        yield from faults_of_rules(document.data, document.origin, (), known)
        yield from _without_level(document.data, document.origin)


def _without_level(rules: Mapping[str, Any], origin: Origin) -> Iterator[ManifestError]:
    """Parameters without a level: which one holds then, only the profile of the stack can say."""
    for name, given in rules.items():
        if name != ALL and isinstance(given, dict) and LEVEL_KEY not in given:
            yield ManifestError(
                origin.nearest((name,)).key_location,
                format_path((name,)),
                expected=f"expected {LEVEL_KEY} next to the parameters",
                remedy="add it: without it the level depends on the profile of the stack",
            )


WAIVERS_FILE = "policy-pack/waivers.yaml"


def faults_of_compiled(root: Path, fleet: Fleet) -> Iterator[ManifestError]:
    """The compiled waivers where they are not what the manifests declare.

    The pack reads the compiled file only: one that lags behind grants what is granted no more.
    """
    file = root / WAIVERS_FILE
    written = file.read_text(encoding="utf-8") if file.exists() else compiled(())
    if written != compiled(waivers_of(fleet)):
        yield ManifestError(
            SourceLocation(WAIVERS_FILE),
            "",
            expected="expected the exceptions that agents/ declares",
            remedy="run `holdfast validate --write-waivers`",
        )


def write_waivers(root: Path) -> None:
    """Write the exceptions that a project declares where the policy pack reads them.

    Raises:
        InvalidFilesError: the manifests are not valid.
    """
    write_pack(root)
    write_atomically(root / WAIVERS_FILE, compiled(waivers_of(load_fleet(root, None))))
