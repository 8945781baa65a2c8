"""Exported files on disk: never over somebody else's without being told to, never outside."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from holdfast.adapters.files import write_atomically
from holdfast.convert.files.files import ExportedFile, GitSource
from holdfast.errors import InputError
from holdfast.kube.text import yaml_document, yaml_documents

RECORD = ".holdfast-files"
"""Lists what was written, so that the next run knows which files are its own to remove."""


def write_files(files: Sequence[ExportedFile], folder: Path, *, is_forced: bool) -> None:
    """Write the files below a folder.

    Raises:
        InputError: the folder holds something and nobody insists, or it cannot be written.
    """
    if not is_forced and folder.exists() and any(folder.iterdir()):
        raise InputError(
            f"{folder} is not empty", remedy="empty it, name another folder, or add --force"
        )
    paths = sorted(file.path for file in files)
    try:
        for stale in _written_before(folder) - set(paths):
            (folder / stale).unlink(missing_ok=True)
        for file in files:
            target = folder / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, _text(file))
        (folder / RECORD).write_text("".join(f"{path}\n" for path in paths), encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{error.filename or folder} cannot be written ({error.strerror})",
            remedy="name another folder with --to",
        ) from error


def git_source(
    form: str, folder: Path, *, repo: str | None, revision: str | None, path: str | None
) -> GitSource:
    """Where the tool will find the written files.

    Raises:
        InputError: the repository is not named, or the folder's place in it is unclear.
    """
    if not repo:
        raise InputError(
            f"-o {form} needs the address of the Git repository", remedy="name it with --repo"
        )
    if path is None:
        if folder.is_absolute() or ".." in folder.parts:
            raise InputError(
                f"where {folder} lies in the repository is unclear",
                remedy="name its path from the root of the repository with --path",
            )
        path = folder.as_posix()
    return GitSource(repo, revision or "main", "" if path == "." else path)


def _text(file: ExportedFile) -> str:
    if file.text:
        return file.text
    comment = "".join(f"# {line}\n" for line in file.comment.splitlines())
    if len(file.documents) == 1:
        return comment + yaml_document(file.documents[0])
    return comment + yaml_documents(file.documents)


def _written_before(folder: Path) -> set[str]:
    """Files that an earlier run lists as its own; only such as lie below the folder."""
    record = folder / RECORD
    if not record.is_file():
        return set()
    paths = (PurePosixPath(line) for line in record.read_text(encoding="utf-8").splitlines())
    return {str(path) for path in paths if not path.is_absolute() and ".." not in path.parts}
