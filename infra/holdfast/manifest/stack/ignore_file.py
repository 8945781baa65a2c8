"""`stacks/drift-ignore.yaml`: rules on expected drift beside the stacks, typed like manifests."""

from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import InvalidFilesError, ManifestError
from holdfast.manifest.fleet.project_files import STACKS_FOLDER
from holdfast.manifest.kinds.exemptions import DriftIgnoreSpec
from holdfast.manifest.text.documents import Document, read_documents
from holdfast.manifest.text.origin import Origin
from holdfast.manifest.text.redaction import described
from holdfast.manifest.text.source_text import read_text
from holdfast.manifest.types.manifest_model import Items, ManifestModel
from holdfast.manifest.types.validation import validate
from holdfast.manifest.types.values import Text

IGNORE_FILE = f"{STACKS_FOLDER}/drift-ignore.yaml"


class IgnoreEntry(DriftIgnoreSpec):
    """One rule on expected drift."""

    stacks: Items[Text] = ()
    """Stacks for which it holds; default all."""


class IgnoreFile(ManifestModel):
    """Rules on expected drift, beside the stack files."""

    ignore: Items[IgnoreEntry] = ()
    """The rules: what matches one is counted in every report, and not told."""


@dataclass(frozen=True, slots=True)
class DeclaredIgnore:
    """One entry and where it is written."""

    entry: IgnoreEntry
    origin: Origin


def read_ignore_file(path: Path, file: str, stack: str) -> tuple[DeclaredIgnore, ...]:
    """Entries of a file that hold for one stack; every entry where there is no stack.

    Args:
        path: The file.
        file: Its name for people.
        stack: Name of the stack; empty for none.

    Raises:
        InvalidFilesError: with every fault of the file.
    """
    try:
        text = read_text(path, file)
    except ManifestError as error:
        raise InvalidFilesError([error]) from error
    return parse_ignore_file(text, file, stack)


def parse_ignore_file(text: str, file: str, stack: str) -> tuple[DeclaredIgnore, ...]:
    """The same of its text, wherever that is.

    Raises:
        InvalidFilesError: with every fault of the text.
    """
    try:
        content = read_documents(text, file)
    except ManifestError as error:
        raise InvalidFilesError([error]) from error
    errors = list(content.errors)
    declared: list[DeclaredIgnore] = []
    for document in content.documents:
        read = _read(document)
        if isinstance(read, IgnoreFile):
            places = document.origin.nearest(("ignore",))
            declared += (
                DeclaredIgnore(entry, places.nearest((index,)))
                for index, entry in enumerate(read.ignore)
            )
        else:
            errors += read
    if errors:
        raise InvalidFilesError(errors)
    name = stack.rpartition("/")[2]
    return tuple(
        each for each in declared if not (stack and each.entry.stacks) or name in each.entry.stacks
    )


def _read(document: Document) -> IgnoreFile | list[ManifestError]:
    data, origin = document.data, document.origin
    if data is None:
        return IgnoreFile()
    if not isinstance(data, dict):
        expected = "expected a mapping with ignore"
        return [
            ManifestError(
                origin.value_location,
                "",
                expected=expected,
                found=described(data, origin),
                remedy="begin with ignore: and a list of rules",
            )
        ]
    return validate(IgnoreFile, data, origin, faulty_paths=document.faulty_paths)
