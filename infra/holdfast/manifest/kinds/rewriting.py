"""A file of an older version written in the newest: its text changes where a field moved. Pure."""

import json
from contextlib import suppress
from typing import Any

from holdfast.errors import InvalidFilesError, ManifestError, SourceLocation
from holdfast.kube.paths import ABSENT, value_at
from holdfast.manifest.kinds.version_upgrade import converted
from holdfast.manifest.kinds.versions import OLDER_VERSIONS
from holdfast.manifest.text.documents import Document, read_documents
from holdfast.manifest.text.yaml_edit import UneditableError, with_edit, with_moved


def rewritten(text: str, file: str) -> str:
    """A file's text with every document in the newest version; all else stays as it is.

    Laws: a text of the newest version comes back to the byte; what is read of the result is what
    was read of the text.

    Args:
        text: Decoded text, as `source_text.read_text` returns it.
        file: Name of the file for people.

    Raises:
        InvalidFilesError: it is not valid YAML, or no document of its version.
        ManifestError: a field cannot be moved where it stands.
    """
    content = read_documents(text, file)
    wanted = converted(content.documents)
    if not wanted.older:
        return text
    if faults := (*content.errors, *wanted.errors):
        raise InvalidFilesError(faults)
    place = wanted.older[0].place
    try:
        for index in range(len(content.documents)):
            text = _in_newest(text, file, index)
    except UneditableError as error:
        raise _by_hand(place, str(error)) from error
    if not _is_same(text, file, wanted.documents):
        raise _by_hand(place, "another meaning")
    return text


def _in_newest(text: str, file: str, index: int) -> str:
    """The text with one of its documents taken from version to version."""
    document = read_documents(text, file).documents[index]
    data: Any = document.data
    while isinstance(data, dict) and (version := OLDER_VERSIONS.get(str(data.get("apiVersion")))):
        for move in version.moves.get(str(data.get("kind")), ()):
            value = value_at(data, move.old)
            if value is not ABSENT:
                text = with_moved(text, _begin(document), move.old, move.new, value)
                document = read_documents(text, file).documents[index]
                data = document.data
        text = _with_version(text, document, version.api_version, version.next_version)
        document = read_documents(text, file).documents[index]
        data = document.data
    return text


def _with_version(text: str, document: Document, old: str, new: str) -> str:
    """The text with another apiVersion, in the quotes in which it stands."""
    place = document.origin.nearest(("apiVersion",)).value_location
    lines = text.split("\n")
    line, at = lines[place.line - 1], place.column - 1
    lines[place.line - 1] = line[:at] + line[at:].replace(old, new, 1)
    changed = "\n".join(lines)
    return changed if changed != text else with_edit(text, place, (), new)


def _begin(document: Document) -> SourceLocation:
    return document.origin.value_location


def _is_same(text: str, file: str, wanted: Any) -> bool:  # noqa: ANN401 - documents
    after = read_documents(text, file)
    if after.errors or [each.data for each in after.documents] != [each.data for each in wanted]:
        return False
    if file.endswith(".json"):
        with suppress(json.JSONDecodeError):
            json.loads(text)
            return True
        return False
    return True


def _by_hand(place: SourceLocation, found: str) -> ManifestError:
    return ManifestError(
        place,
        "apiVersion",
        expected="expected a text in which the fields that moved can be moved",
        found=found,
        remedy="move them by hand: CHANGELOG.md names them",
    )
