"""The objects that stacks stand for, as files for other tools, and those files on disk."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from holdfast.adapters.files import write_atomically
from holdfast.convert.files.delivery import argocd_files, flux_files, pko_files
from holdfast.convert.files.files import ExportedFile, RenderedStack, RepositorySource, object_file
from holdfast.convert.files.packages import helm_files, kustomize_files
from holdfast.errors import InputError
from holdfast.kube.text import yaml_document, yaml_documents
from holdfast.operations.stack.context import StackContext, no_such_agent
from holdfast.render.fleet import render_delivered
from holdfast.render.plan.planning import plan_fleet

PRINTED: Final = ("yaml", "json")
ONE_STACK: Final = (*PRINTED, "dir")
FROM_GIT: Final = ("argocd", "flux")
FORMS: Final = (*ONE_STACK, "kustomize", "helm", *FROM_GIT, "pko")
"""Every form in which objects are written."""


def rendered_stack(context: StackContext, form: str, agent: str | None = None) -> RenderedStack:
    """What a stack stands for: all of it for forms of one stack, else what is to be delivered.

    Args:
        context: The stack.
        form: One of `FORMS`.
        agent: Only the objects of this agent.

    Raises:
        InputError: the stack has no such agent.
        InvalidFilesError: the manifests are not valid.
    """
    fleet = context.fleet
    if form in ONE_STACK:
        objects = context.rendered
    else:
        objects = render_delivered(plan_fleet(fleet, context.name))
    if agent is not None:
        objects = tuple(item for item in objects if item.agent == agent)
        if not objects:
            raise no_such_agent(agent, [each.name for each in fleet.workloads], context.name)
    identifier = fleet.environment.cluster.identifier or context.name
    return RenderedStack(context.name, identifier, objects)


def exported_files(
    stacks: Sequence[RenderedStack], form: str, source: RepositorySource | None = None
) -> Sequence[ExportedFile]:
    """The files of a form that is not printed.

    Args:
        stacks: What they stand for.
        form: One of `FORMS`, but for `PRINTED`.
        source: Where the tool will find the files; for `FROM_GIT`.
    """
    if form == "dir":
        return [ExportedFile(object_file(item), (item.manifest,)) for item in stacks[0].objects]
    if source is not None:
        return (argocd_files if form == "argocd" else flux_files)(stacks, source)
    return {"kustomize": kustomize_files, "helm": helm_files, "pko": pko_files}[form](stacks)


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
            write_atomically(target, _file_text(file))
        (folder / RECORD).write_text("".join(f"{path}\n" for path in paths), encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{error.filename or folder} cannot be written ({error.strerror})",
            remedy="name another folder with --to",
        ) from error


def git_source(
    form: str, folder: Path, *, repo: str | None, revision: str | None, path: str | None
) -> RepositorySource:
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
    return RepositorySource(repo, revision or "main", "" if path == "." else path)


def _file_text(file: ExportedFile) -> str:
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
