"""Manifests of older versions: what is said about them, and their files rewritten."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from holdfast.adapters.files.atomic_write import write_atomically
from holdfast.errors import InputError, InvalidFilesError, ManifestError
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.fleet.loader import manifest_files, manifest_files_in
from holdfast.manifest.fleet.project_files import STACKS_FOLDER
from holdfast.manifest.kinds.rewriting import rewritten
from holdfast.manifest.kinds.version_upgrade import OlderDocument
from holdfast.manifest.text.source_text import read_text


def older_files(fleet: Fleet) -> list[OlderDocument]:
    """The first older document of each file: one is enough to say what to do about the file."""
    return list({each.place.file: each for each in reversed(fleet.older)}.values())[::-1]


def deprecations(fleet: Fleet) -> list[str]:
    """A line for each file that is written in an older version."""
    return [
        f"{each.place}: {each.version.api_version} is valid until {each.version.last_day}; "
        f"{remedy(each)}"
        for each in older_files(fleet)
    ]


def remedy(document: OlderDocument) -> str:
    """What to do about a file of an older version."""
    return f"run: holdfast validate --convert {document.place.file}"


def convert_files(root: Path, paths: Sequence[Path]) -> Iterator[str]:
    """Rewrite manifests of older versions in the newest; a line for each file that changed.

    Files that cannot be read are left for validation to tell; nothing is written unless all others
    can be converted.

    Args:
        root: Folder of Pulumi.yaml.
        paths: Files and folders; none for all manifests of the project.

    Raises:
        InvalidFilesError: a file cannot be converted.
        InputError: a file cannot be written, or there is no folder of manifests.
    """
    changes: dict[Path, str] = {}
    errors: list[ManifestError] = []
    root = root.resolve()
    for path in _chosen(root, paths):
        file = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
        try:
            text = read_text(path, file)
        except ManifestError:
            continue
        try:
            after = rewritten(text, file)
        except InvalidFilesError as invalid:
            errors += invalid.errors
            continue
        except ManifestError as error:
            errors.append(error)
            continue
        if after != text:
            changes[path] = after
    if errors:
        raise InvalidFilesError(errors)
    for path, text in changes.items():
        try:
            write_atomically(path, text)
        except OSError as error:
            raise InputError(
                f"cannot write {path}: {error.strerror or type(error).__name__}",
                remedy="make it writable, and convert again",
            ) from error
        yield f"{path.relative_to(root) if path.is_relative_to(root) else path}: converted"


def _chosen(root: Path, paths: Sequence[Path]) -> list[Path]:
    if not paths or root in (path.resolve() for path in paths):
        return manifest_files(root)
    stacks = root / STACKS_FOLDER
    files = (file for path in paths for file in manifest_files_in(path.resolve()))
    return [file for file in dict.fromkeys(files) if not file.is_relative_to(stacks)]
