"""What a field of a manifest or of a stack file means, and which fields stand below it."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.errors import InputError
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.kinds.kinds import KINDS
from holdfast.manifest.publish.reference import (
    STACK_FILE,
    FieldEntry,
    field_at,
    fields_of,
    fields_of_stack_file,
)
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.stack.stack_files import NAMESPACE

__all__ = ["STACK_FILE", "FieldExplanation", "explain_field"]


@dataclass(frozen=True, slots=True)
class FieldExplanation:
    """One field, or a kind as a whole.

    Attributes:
        below: The fields right below it.
    """

    entry: FieldEntry
    below: tuple[FieldEntry, ...]


def explain_field(path: str) -> FieldExplanation:
    """A field by its path, with the kind before it unless that is Agent; or a kind.

    Args:
        path: Such as `spec.image`, `MCPServer.spec.url`, `MCPServer`, `holdfast:network`, `Stack`.

    Raises:
        InputError: there is no such field; names those that may be meant.
    """
    kind, path = _split(path)
    known = list(fields_of(kind) if kind in KINDS else fields_of_stack_file())
    entry = field_at(kind, path) if path else _whole(kind)
    if entry is None:
        raise _no_field(kind, path, [each.path for each in known])
    return FieldExplanation(entry, tuple(each for each in known if _is_child(each, entry)))


def _split(path: str) -> tuple[str, str]:
    """Kind and path below it."""
    kind, _, rest = path.partition(".")
    if kind in KINDS:
        return kind, rest
    if path.startswith(NAMESPACE):
        return STACK_FILE, path
    if kind == STACK_FILE:
        return STACK_FILE, f"{NAMESPACE}{rest}" if rest else ""
    return AGENT_KIND, path


def _whole(kind: str) -> FieldEntry:
    model = KINDS.get(kind, Environment)
    words = "manifest" if kind in KINDS else "mapping `config` of stacks/Pulumi.STACK.yaml"
    return FieldEntry(kind, "", words, "", model.__doc__ or "", (), (model, ""))


def _is_child(each: FieldEntry, entry: FieldEntry) -> bool:
    if not entry.path:
        return "." not in each.path
    rest = each.path.removeprefix(entry.path)
    if rest == each.path or not rest:
        return False
    return rest.removeprefix("[]").removeprefix(".<key>").count(".") == 1


def _no_field(kind: str, path: str, known: Sequence[str]) -> InputError:
    name = path.rpartition(".")[2]
    same = [each for each in known if each.rpartition(".")[2] == name]
    close = same or difflib.get_close_matches(path, known, n=3)
    kinds = difflib.get_close_matches(path.partition(".")[0], [*KINDS, STACK_FILE], n=1)
    meant = " or ".join(close or kinds)
    remedy = f"did you mean {meant}?" if meant else "`holdfast explain` lists the kinds"
    return InputError(f"{kind} has no field {path!r}", remedy=remedy)
