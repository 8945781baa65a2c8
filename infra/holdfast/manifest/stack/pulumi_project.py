"""`Pulumi.yaml`, as far as Holdfast depends on it; the engine judges the rest."""

import difflib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from holdfast.errors import ManifestError
from holdfast.manifest.fleet.project_files import STACKS_FOLDER
from holdfast.manifest.stack.stack_files import NAMESPACE
from holdfast.manifest.text.documents import read_documents
from holdfast.manifest.text.origin import Origin
from holdfast.manifest.text.redaction import described
from holdfast.manifest.text.source_text import read_text

PULUMI_FILE: Final = "Pulumi.yaml"
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_TEXTS: Final = ("name", "main", "description", "stackConfigDir", "requiredPulumiVersion")
_KEYS: Final = frozenset(
    {
        *_TEXTS,
        *("author", "backend", "config", "license", "options", "packages", "plugins"),
        *("runtime", "template", "website"),
    }
)


def faults_of_pulumi_project(project_root: Path) -> Iterator[ManifestError]:
    """What is wrong with the project file, for the engine or for Holdfast.

    Args:
        project_root: Folder of Pulumi.yaml; nothing is wrong with a file that is not there.
    """
    path = project_root / PULUMI_FILE
    if not path.exists():
        return
    try:
        content = read_documents(read_text(path, PULUMI_FILE), PULUMI_FILE)
    except ManifestError as error:
        yield error
        return
    yield from content.errors
    if content.errors:
        return
    document = content.documents[0] if content.documents else None
    data: Any = document.data if document else None
    origin = document.origin if document else Origin(PULUMI_FILE, 1, 1)
    if not isinstance(data, dict):
        found = "nothing" if data is None else described(data, origin)
        yield _fault(origin, "", "expected a mapping with name and runtime", found, _ADD_NAME)
        return
    yield from _faults_of_keys(data, origin)
    yield from _faults_of_values(data, origin)


_ADD_NAME: Final = "begin with name: <project>, and runtime: python"


def _faults_of_keys(data: dict[str, Any], origin: Origin) -> Iterator[ManifestError]:
    for key in data:
        place = origin.nearest((key,))
        if key.startswith(NAMESPACE):
            remedy = f"write it in {STACKS_FOLDER}/Pulumi.<stack>.yaml, under config"
        elif key not in _KEYS and (close := difflib.get_close_matches(key, _KEYS, n=1)):
            remedy = f'did you mean "{close[0]}"?'
        else:
            continue  # the engine knows more keys than we do
        yield ManifestError(
            place.key_location, key, expected="expected a known key", found=repr(key), remedy=remedy
        )


def _faults_of_values(data: dict[str, Any], origin: Origin) -> Iterator[ManifestError]:
    for key in _TEXTS:
        if key in data and not isinstance(data[key], str):
            place = origin.nearest((key,))
            remedy = f'quote it: "{place.written}"' if place.written else "write a text"
            yield _fault(place, key, "expected text", described(data[key], place), remedy)
    name = data.get("name")
    if "name" not in data and not difflib.get_close_matches("name", data, n=1):
        yield _fault(origin, "name", "this field is required", "", "add name: <project>")
    elif isinstance(name, str) and not _NAME.fullmatch(name):
        remedy = f'write "{re.sub("[^A-Za-z0-9_.-]+", "-", name).strip("-")[:100] or "fleet"}"'
        expected = "expected letters, digits, '_', '-' and '.', at most 100"
        yield _fault(origin.nearest(("name",)), "name", expected, repr(name[:60]), remedy)
    folder = data.get("stackConfigDir")
    if isinstance(folder, str) and folder.strip("./") != STACKS_FOLDER:
        expected = "expected the folder in which Holdfast finds the stacks' files"
        remedy = f"write {STACKS_FOLDER}"
        place = origin.nearest(("stackConfigDir",))
        yield _fault(place, "stackConfigDir", expected, repr(folder[:60]), remedy)


def _fault(origin: Origin, path: str, expected: str, found: str, remedy: str) -> ManifestError:
    return ManifestError(origin.value_location, path, expected=expected, found=found, remedy=remedy)
