"""What a field of a manifest means, and which fields stand below it."""

import difflib
from dataclasses import dataclass

from holdfast.errors import InputError
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.kinds.kinds import KINDS
from holdfast.manifest.publish.reference import FieldEntry, field_at, fields_of


@dataclass(frozen=True, slots=True)
class FieldExplanation:
    """One field.

    Attributes:
        below: The fields right below it.
    """

    entry: FieldEntry
    below: tuple[FieldEntry, ...]


def explain_field(path: str) -> FieldExplanation:
    """A field by its path, the kind before it unless that is Agent: `MCPServer.spec.url`.

    Raises:
        InputError: there is no such field; names those that may be meant.
    """
    kind, separator, rest = path.partition(".")
    kind, path = (kind, rest) if separator and kind in KINDS else (AGENT_KIND, path)
    entry = field_at(kind, path)
    if entry is None:
        raise _no_field(kind, path)
    below = tuple(each for each in fields_of(kind) if _is_child(each, entry))
    return FieldExplanation(entry, below)


def _is_child(each: FieldEntry, entry: FieldEntry) -> bool:
    rest = each.path.removeprefix(entry.path)
    if rest == each.path or not rest:
        return False
    return rest.removeprefix("[]").removeprefix(".<key>").count(".") == 1


def _no_field(kind: str, path: str) -> InputError:
    known = [each.path for each in fields_of(kind)]
    name = path.rpartition(".")[2]
    same = [each for each in known if each.rpartition(".")[2] == name]
    close = same or difflib.get_close_matches(path, known, n=3)
    remedy = f"did you mean {' or '.join(close)}?" if close else "begin with spec or metadata"
    return InputError(f"{kind} has no field {path!r}", remedy=remedy)
