"""The reference of manifests for people: one field in the terminal, all of them as a page."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.agent.agent_types import EVERY
from holdfast.manifest.kinds.kinds import KINDS
from holdfast.manifest.publish.reference import STACK_FILE, FieldEntry, fields_of
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.types.manifest import API_VERSION
from holdfast.report.documents.json_text import json_text

_HEAD: Final = """\
# Manifest reference

Every field that may stand in a file under `agents/`, by kind. Generated from the models by
`make schema`: edit those. An unknown field is an error, and so is one that has no effect on the
agent's `type`. `holdfast explain PATH` prints one of them; editors read the
[JSON Schema](schema/agent.schema.json).

`[]` stands for an item of a list, `<key>` for a key of a mapping. "All" means every type of agent.
"""


_COLUMNS: Final = 80

_VERSIONS: Final = """\
## Versions

`apiVersion` names the version of the schema: `{newest}`. No other version is read.
"""


def field_text(entry: FieldEntry, below: Sequence[FieldEntry]) -> str:
    """One field or kind, and those directly below it with type, default and meaning."""
    lines = [f"{entry.kind} {entry.path}".rstrip(), *_wrapped(entry.description, 2), ""]
    lines.append(f"  type:     {entry.words}")
    if entry.path:
        lines.append(f"  default:  {entry.default or 'none'}")
    if entry.types:
        lines.append(f"  applies to: {_types(entry)}")
    if below:
        lines += ["", "  fields"]
    for each in below:
        default = f", default {each.default}" if each.default else ""
        needed = "  -required-" if each.default == "required" else ""
        head = f"{_name(each)}  <{each.words}{'' if needed else default}>{needed}"
        lines += textwrap.wrap(
            head,
            _COLUMNS,
            initial_indent=" " * 4,
            subsequent_indent=" " * 8,
            break_long_words=False,
            break_on_hyphens=False,
        )
        lines += _wrapped(each.description, 8)
    return "\n".join(lines) + "\n"


KIND_NAMES: Final = (*KINDS, STACK_FILE)
"""Every kind that can be explained."""


def field_name(entry: FieldEntry) -> str:
    """A field as `holdfast explain` takes it."""
    prefix = "" if entry.kind in {AGENT_KIND, STACK_FILE} else f"{entry.kind}."
    return f"{prefix}{entry.path}"


def kinds_text() -> str:
    """Every kind that can be explained, with what it is."""
    lines = ["kinds; `holdfast explain KIND` lists the fields of one"]
    for kind, model in (*KINDS.items(), (STACK_FILE, Environment)):
        lines += [f"  {kind}", *_wrapped(model.__doc__ or "", 6)]
    return "\n".join(lines) + "\n"


def _wrapped(text: str, indent: int) -> list[str]:
    margin = " " * indent
    first = text.strip().partition("\n\n")[0]
    return textwrap.wrap(
        " ".join(first.split()), _COLUMNS, initial_indent=margin, subsequent_indent=margin
    )


def field_json(entry: FieldEntry, below: Sequence[FieldEntry]) -> str:
    """The same for programs."""
    document = _document(entry) | {"fields": [_document(each) for each in below]}
    return json_text(document)


def reference_page() -> str:
    """The page of all fields, in Markdown."""
    lines = [_HEAD, _VERSIONS.format(newest=API_VERSION)]
    for kind, model in KINDS.items():
        lines += [f"## {kind}", "", " ".join((model.__doc__ or "").split()), ""]
        lines += _tables(fields_of(kind), has_types=kind == "Agent")
    return "\n".join(lines)


def _tables(entries: Iterable[FieldEntry], *, has_types: bool) -> Iterator[str]:
    titles = ["Field", "Type", "Default", "Meaning"] + (["Holds on"] if has_types else [])
    yield f"| {' | '.join(titles)} |"
    yield f"|{'---|' * len(titles)}"
    for entry in entries:
        cells = [f"`{entry.path}`", entry.words, _code(entry.default), entry.description]
        cells += [_types(entry)] if has_types else []
        yield f"| {' | '.join(_cell(each) for each in cells)} |"
    yield ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _code(default: str) -> str:
    return default if default in {"", "required"} else f"`{default}`"


def _types(entry: FieldEntry) -> str:
    if not entry.types:
        return ""
    return "All" if set(entry.types) == EVERY else ", ".join(entry.types)


def _name(entry: FieldEntry) -> str:
    return entry.path.rpartition(".")[2]


def _document(entry: FieldEntry) -> dict[str, Any]:
    return {
        "kind": entry.kind,
        "path": entry.path,
        "type": entry.words,
        "default": entry.default,
        "description": entry.description,
        "types": entry.types,
    }
