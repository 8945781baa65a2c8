"""Fields of an agent set for one stack, in the stack's file: tried in a copy, shown, written.

The stack's file wins over the agent's manifest; the next update brings the change to the cluster.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.errors import InputError, InvalidFilesError
from holdfast.manifest.fleet.project_files import STACKS_FOLDER
from holdfast.manifest.stack.stack_files import NAMESPACE, read_stack_file
from holdfast.manifest.text.documents import read_documents
from holdfast.manifest.text.yaml_edit import UneditableError
from holdfast.operations.actions.action import ActionStep
from holdfast.operations.progress import Progress
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project_copy import ProjectChange, ProjectCopy


@dataclass(frozen=True, slots=True)
class FieldValue:
    """A field of an agent, and what it is to be.

    Attributes:
        path: Below `spec`.
        value: JSON.
    """

    path: tuple[str, ...]
    value: Any

    def __str__(self) -> str:
        return f"{'.'.join(self.path)}: {self.value}"


@dataclass(frozen=True)
class SettingsPlan:
    """Fields to declare.

    Attributes:
        file: The stack's file, relative to the project.
        change: Of that file; empty when all of it is declared already.
        branch: New branch that it is committed on; None for the file itself.
        message: Of the commit.
    """

    values: tuple[FieldValue, ...]
    file: str
    change: ProjectChange
    branch: str | None
    message: str

    @property
    def steps(self) -> tuple[ActionStep, ...]:
        """What is declared."""
        if not self.change.files:
            return ()
        return tuple(ActionStep("declare", None, str(value)) for value in self.values)

    @property
    def summary(self) -> str:
        """What is declared, in one line."""
        return f"declared {', '.join(map(str, self.values))}"


def plan_settings(
    context: StackContext,
    agent: str,
    values: Sequence[FieldValue],
    *,
    branch: str | None,
    message: str,
) -> SettingsPlan:
    """Try fields of an agent in a copy of the project; the project is not touched.

    Raises:
        InputError: the file has no place for a field, or the branch cannot be made.
        InvalidFilesError: the project would not be valid any more.
    """
    change = declare(context, agent, values)
    change.require_writable(context.root, branch)
    return SettingsPlan(tuple(values), _file_of(context.name), change, branch, message)


def apply_settings(context: StackContext, plan: SettingsPlan, progress: Progress) -> None:
    """Write the stack's file, or commit it on a new branch.

    Raises:
        InputError: the branch cannot be made, or the file cannot be written.
    """
    plan.change.write(context.root, plan.branch, plan.message, progress)
    if plan.branch is None:
        progress.note(f"commit {plan.file}, and run `holdfast up`")


def declare(context: StackContext, agent: str, values: Sequence[FieldValue]) -> ProjectChange:
    """The change of the stack's file that overrides fields of an agent; nothing is written.

    Raises:
        InputError: the file has no place for a field.
        InvalidFilesError: the project would not be valid any more.
    """
    with ProjectCopy.of(context.root, context.name) as copy:
        for each in values:
            _edit(copy, (agent, *each.path), each.value)
        try:
            copy.rendered()
        except InvalidFilesError as error:
            raise _of_values(error, agent, _file_of(context.name), values) from error
        return copy.change()


def _of_values(
    error: InvalidFilesError, agent: str, file: str, values: Sequence[FieldValue]
) -> InputError:
    """The errors without their lines, which are of no file that is written, if all are of these."""
    paths = tuple(f"spec.{'.'.join(each.path)}" for each in values)
    if not all(one.location.file == file and one.path.startswith(paths) for one in error.errors):
        return error
    text = (
        f"{agent}: {one.path}: {one.expected}" + (f", got {one.found}" if one.found else "")
        for one in error.errors
    )
    return InputError("\n".join(text), remedy=error.errors[0].remedy)


def parse_field(change: str) -> FieldValue:
    """Read `FIELD=VALUE`: a field below spec, a value as in YAML.

    Raises:
        InputError: it is not of that form.
    """
    field, separator, text = change.partition("=")
    path = tuple(field.removeprefix("spec.").split("."))
    if not separator or not all(path):
        raise InputError(
            f"{change!r}: expected FIELD=VALUE",
            remedy="such as container.resources.limits.memory=2Gi",
        )
    read = read_documents(text or '""', "VALUE")
    if read.errors or len(read.documents) != 1:
        problem = read.errors[0].message if read.errors else "expected one value"
        raise InputError(f"{field}: {problem}", remedy="write VALUE as in YAML")
    return FieldValue(path, read.documents[0].data)


def _file_of(stack: str) -> str:
    return f"{STACKS_FOLDER}/Pulumi.{stack.rpartition('/')[2]}.yaml"


def _edit(copy: ProjectCopy, path: tuple[str, ...], value: Any) -> None:  # noqa: ANN401  (JSON)
    """Write one value below the overrides of agents."""
    origin = read_stack_file(copy.root, copy.stack).origin
    agents = origin.child("agents")
    whole = path if agents else (f"{NAMESPACE}agents", *path)
    try:
        copy.edit((agents or origin).value_location, whole, value)
    except UneditableError as error:
        raise InputError(
            f"{_file_of(copy.stack)}: {NAMESPACE}agents.{'.'.join(path)} cannot be written "
            f"({error})",
            remedy="edit the file yourself",
        ) from error
