"""A new repository: every file is planned first, then written; nothing that exists is changed."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from holdfast import __version__
from holdfast.adapters.git.repository import GitError, run_git
from holdfast.adapters.shipped import TEMPLATE, shipped
from holdfast.errors import InputError
from holdfast.manifest.fleet.project_files import STACKS_FOLDER
from holdfast.operations.project.stack_file import stack_file_text
from holdfast.operations.project.survey import ClusterSurvey

DESCRIPTION: Final = "AI agents on Kubernetes"
SAMPLE: Final = ("agents/hello.yaml", "agents/prompts/hello.md")
"""Files of the template that are only an example."""
_SCHEMAS: Final = ("docs/schema/agent.schema.json", "docs/schema/stack.schema.json")
"""What editors read, from the distribution."""
_TEMPLATE_STACK: Final = f"{STACKS_FOLDER}/Pulumi.dev.yaml"
_IGNORED_PARTS: Final = frozenset({"__pycache__", ".pytest_cache"})
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_STACK: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_MOST_NAMED: Final = 5


@dataclass(frozen=True)
class NewProject:
    """A repository that is to be written.

    Attributes:
        folder: Where; made when it is absent.
        name: Name of the project.
        stack: Name of its first stack.
        files: Path in the folder, with slashes, to its text.
    """

    folder: Path
    name: str
    stack: str
    files: Mapping[str, str]


def plan_project(
    folder: Path,
    stack: str,
    survey: ClusterSurvey | None,
    name: str = "",
    manifests: Mapping[str, str] | None = None,
) -> NewProject:
    """The files of a new repository; nothing is written.

    Args:
        folder: Where it is to be.
        stack: Name of its first stack.
        survey: What the stack's cluster said; None for the sandbox of this machine.
        name: Of the project; empty for the folder's.
        manifests: Files to write in place of the sample agent; None for the sample.

    Raises:
        InputError: a name cannot be used.
    """
    project = name or re.sub(r"[^A-Za-z0-9_.-]+", "-", folder.resolve().name).strip("-.")
    if not _NAME.fullmatch(project):
        raise InputError(
            f"invalid project name {project or folder.resolve().name!r}",
            remedy="give --name, of letters, digits, '.', '_' and '-'",
        )
    if not _STACK.fullmatch(stack):
        raise InputError(
            f"invalid stack name {stack!r}", remedy="use letters, digits, '.', '_' and '-'"
        )
    texts = {path: _filled(path, text, project, stack) for path, text in _template().items()}
    del texts[_TEMPLATE_STACK]
    if manifests is not None:
        texts = {path: text for path, text in texts.items() if path not in SAMPLE}
        texts |= manifests
    texts[f"{STACKS_FOLDER}/Pulumi.{stack}.yaml"] = stack_file_text(
        stack, survey, is_existing=manifests is not None
    )
    texts |= {name: shipped(name).read_text(encoding="utf-8") for name in _SCHEMAS}
    return NewProject(folder, project, stack, dict(sorted(texts.items())))


def write_project(project: NewProject) -> None:
    """Write every file of a new repository, or none.

    Raises:
        InputError: a file exists, or a link leads out of the folder.
        OSError: the folder cannot be written; what was written is removed again.
    """
    refuse_existing(project.folder, project.files)
    written: list[Path] = []
    try:
        for name, text in project.files.items():
            target = project.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("x", encoding="utf-8") as stream:
                written.append(target)
                stream.write(text)
    except OSError:
        for each in written:
            each.unlink(missing_ok=True)
        raise


def refuse_existing(folder: Path, names: Iterable[str]) -> None:
    """Refuse to write what is there already, or through a link.

    Raises:
        InputError: names what is in the way.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is not a folder", remedy="name another one")
    found = [name for name in names if _is_taken(folder, name)]
    if not found:
        return
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    raise InputError(
        f"{folder}: {', '.join(found[:_MOST_NAMED])}{more}: exist already",
        remedy="name an empty folder, or move them: nothing is overwritten",
    )


def _is_taken(folder: Path, name: str) -> bool:
    target = folder / name
    if target.exists() or target.is_symlink():
        return True
    parents = [folder / each for each in Path(name).parents if each != Path()]
    return any(each.is_symlink() or (each.exists() and not each.is_dir()) for each in parents)


def start_repository(folder: Path) -> str:
    """Make the folder a Git repository, unless it is inside of one.

    Returns:
        What was done or why it was not; empty where there was nothing to do.
    """
    try:
        run_git(folder, "rev-parse", "--show-toplevel")
    except InputError as error:
        return f"no Git repository: {error.message}; `holdfast up` deploys commits"
    except GitError:
        try:
            run_git(folder, "init", "--quiet", "--initial-branch", "main")
        except GitError as error:
            return f"no Git repository: {error.message}"
        return "a Git repository, without a commit"
    return ""


def next_commands(
    project: NewProject, *, is_sandbox: bool, start: Path, is_imported: bool = False
) -> Sequence[str]:
    """What to run next, in this order, from the folder where `init` ran."""
    here = project.folder.resolve() == start.resolve()
    stack = project.stack
    if is_imported:
        return (
            *(() if here else (f"cd {project.folder}",)),
            f"holdfast drift -s {stack} --no-engine",
            f"holdfast policy check -s {stack}",
            'git add -A && git commit -m "What runs"',
            f"holdfast preview -s {stack}",
        )
    return (
        *(() if here else (f"cd {project.folder}",)),
        "holdfast validate",
        'git add -A && git commit -m "First fleet"',
        *(("holdfast sandbox up",) if is_sandbox else ()),
        f"holdfast up -s {stack}",
    )


def _template() -> dict[str, str]:
    root = shipped(TEMPLATE)
    return {
        file.relative_to(root).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted(root.rglob("*"))
        if file.is_file() and not _IGNORED_PARTS.intersection(file.parts)
    }


def _filled(path: str, text: str, project: str, stack: str) -> str:
    """A file of the template with its places filled in, as `pulumi new` does it."""
    text = text.replace("${PROJECT}", project).replace("${DESCRIPTION}", DESCRIPTION)
    if path == "Pulumi.yaml":
        # What only `pulumi new` reads.
        text = text.partition("\ntemplate:")[0].rstrip("\n") + "\n"
    if path == "requirements.txt":
        text = text.replace("holdfast[pulumi]", f"holdfast[pulumi]=={__version__}")
    if stack != "dev":
        text = _other_stack(path, text, stack)
    return text


def _other_stack(path: str, text: str, stack: str) -> str:
    """Pipelines, Makefile and README with the name of the first stack."""
    if path.startswith(".github/") or path in {"Makefile", "README.md"}:
        text = re.sub(r"(?<=STACK: )dev\b|(?<=STACK \?= )dev\b|(?<=-s )dev\b", stack, text)
        text = re.sub(r"(?<=environment: )dev\b", stack, text)
        text = re.sub(r"(?<=stack )dev\b|(?<=Stack )dev\b|(?<=Pulumi\.)dev\b", stack, text)
        text = text.replace("`dev`", f"`{stack}`").replace("`dev-read`", f"`{stack}-read`")
    return text
