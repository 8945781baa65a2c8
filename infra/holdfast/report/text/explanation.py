"""What `holdfast agent describe` and `holdfast diff` print, as text, JSON and commented YAML."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import click

from holdfast.kube.text import safe_text, yaml_document
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.fleet.effective_config import EffectiveValue, ValueSource, tree_of
from holdfast.manifest.types.manifest import API_VERSION
from holdfast.operations.describe.agent import Explanation
from holdfast.operations.describe.compare import StackValueDifference
from holdfast.report.documents.json_text import json_text
from holdfast.report.text.agent_description import Statement, describe
from holdfast.report.text.live_agent import live_document, live_sections
from holdfast.report.text.table import styled

SCHEMA_VERSION: Final = "holdfast.dev/explanation/v1"
_LONGEST_LINE_CHARACTERS: Final = 400


def explanation_text(explanation: Explanation, *, colour: bool = False) -> str:
    """Sections for people; then what was written for it, and where."""
    agent, fleet = explanation.agent, explanation.fleet
    lines = [_bold(_title(explanation), colour), f"  declared in {agent.location_of()}"]
    for section in describe(agent, fleet):
        lines += ["", _bold(section.title, colour)]
        lines += _columns([(each.text, _place(each)) for each in section.statements], colour)
    for title, said in live_sections(explanation.live) if explanation.live else ():
        lines += ["", _bold(title, colour), *(f"  {line}" for line in said)]
    if explanation.no_live:
        why = safe_text(explanation.no_live, _LONGEST_LINE_CHARACTERS)
        lines += ["", _bold("Runs now", colour), f"  not known: {why}"]
    written = [each for each in explanation.values if each.source is not ValueSource.DEFAULT]
    elsewhere = [each for each in written if each.source is not ValueSource.MANIFEST]
    if elsewhere:
        lines += ["", _bold("Not decided by its own manifest", colour)]
        lines += _columns([(f"{e.field} = {_shown(e.value)}", e.origin) for e in elsewhere], colour)
    defaults = len(explanation.values) - len(written)
    lines += [
        "",
        f"{len(written)} values were written, {defaults} are built-in defaults: --effective",
    ]
    return "\n".join(lines) + "\n"


def explanation_json(explanation: Explanation) -> str:
    """The same for programs, with every value."""
    agent, fleet = explanation.agent, explanation.fleet
    document = {
        "schemaVersion": SCHEMA_VERSION,
        "agent": agent.name,
        "namespace": agent.namespace,
        "stack": fleet.stack,
        "source": str(agent.location_of()),
        "sections": {
            section.key: [_statement(each) for each in section.statements]
            for section in describe(agent, fleet)
        },
        "values": [_value(each) for each in explanation.values],
        "live": live_document(explanation.live) if explanation.live else None,
        "liveUnknown": explanation.no_live,
    }
    return json_text(document)


def effective_yaml(explanation: Explanation) -> str:
    """The whole manifest that holds, each value with its origin behind it."""
    head = {"apiVersion": API_VERSION, "kind": explanation.agent.kind}
    marked = (replace(each, value=_Marked(each.value, each.origin)) for each in explanation.values)
    tree = {**head, **tree_of(marked)}
    return "".join(f"{line}\n" for line in _lines(tree, ""))


def difference_text(
    stacks: Sequence[str], differences: Iterable[StackValueDifference], *, colour: bool = False
) -> str:
    """One block an agent, one line a value that differs."""
    lines: list[str] = []
    agent = ""
    for each in differences:
        if each.agent != agent:
            agent = each.agent
            lines += ["", _bold(agent, colour)] if lines else [_bold(agent, colour)]
        lines.append(f"  {each.path}")
        for stack, value, origin in zip(stacks, each.values, each.origins, strict=True):
            lines.append(f"    {stack}: {value}" + (f"  ({origin})" if origin else ""))
    return "".join(f"{line}\n" for line in lines)


def difference_json(stacks: Sequence[str], differences: Iterable[StackValueDifference]) -> str:
    """The same for programs."""
    return json_text(difference_document(stacks, differences))


def difference_document(
    stacks: Sequence[str], differences: Iterable[StackValueDifference]
) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "stacks": list(stacks),
        "differences": [
            {
                "agent": each.agent,
                "path": each.path,
                "values": dict(zip(stacks, each.values, strict=True)),
                "origins": dict(zip(stacks, each.origins, strict=True)),
            }
            for each in differences
        ],
    }


@dataclass(frozen=True, slots=True)
class _Marked:
    value: Any
    origin: str


def _lines(value: Any, indent: str) -> Iterator[str]:  # noqa: ANN401 - dicts, lists, marked values
    if isinstance(value, dict):
        for key, below in value.items():
            head = yaml_document({key: 0}).removesuffix(": 0\n")
            yield from _entry(f"{indent}{head}:", below, f"{indent}  ")
        return
    for item in value:
        first, *rest = _entry("", item, f"{indent}  ")
        if not first:
            first, *rest = rest
        yield f"{indent}- {first.strip() if not rest else first.lstrip()}"
        yield from rest


def _entry(head: str, value: Any, indent: str) -> Iterator[str]:  # noqa: ANN401 - see above
    if isinstance(value, _Marked):
        written = yaml_document({"v": value.value}).removeprefix("v:").strip()
        yield f"{head} {written}  # {value.origin}"
    elif isinstance(value, dict | list):
        yield head
        yield from _lines(value, indent)
    else:
        yield f"{head} {value}"


def _title(explanation: Explanation) -> str:
    agent, spec = explanation.agent, explanation.agent.spec
    what = f"type {spec.type}" if agent.kind == AGENT_KIND else "tool server"
    parts = [f"version {spec.version}", what, *([f"owner {spec.owner}"] if spec.owner else [])]
    stack = explanation.fleet.stack
    return f"{agent.namespace}/{agent.name} on stack {stack}: {', '.join(parts)}"


def _columns(rows: list[tuple[str, str]], colour: bool) -> Iterator[str]:
    texts = [(safe_text(text, _LONGEST_LINE_CHARACTERS), place) for text, place in rows]
    width = min(max((len(text) for text, _ in texts), default=0), 72)
    for text, place in texts:
        shown = click.style(place, dim=True) if colour and place else place
        yield f"  {text:<{width}}  {shown}".rstrip()


def _bold(text: str, colour: bool) -> str:
    return styled(safe_text(text, _LONGEST_LINE_CHARACTERS), colour=colour)


def _place(statement: Statement) -> str:
    return str(statement.location) if statement.location else "default"


def _shown(value: Any) -> str:  # noqa: ANN401 - any scalar
    return yaml_document({"v": value}).removeprefix("v:").strip()


def _statement(statement: Statement) -> dict[str, Any]:
    place = statement.location
    return {
        "text": statement.text,
        "path": statement.path,
        "file": place.file if place else "",
        "line": place.line if place else 0,
    }


def _value(value: EffectiveValue) -> dict[str, Any]:
    place = value.location
    return {
        "path": value.field,
        "value": value.value,
        "source": value.source.value,
        "file": place.file if place else "",
        "line": place.line if place else 0,
    }
