"""Every field of every manifest: what it moves in the rendered objects, and how it is refused.

Nobody writes the table: agents that use every field are rendered again with one value changed at a
time, and validated again with one value that cannot be meant. `python -m tests.golden` prints it;
a field that no sample uses, that moves nothing, or that takes anything has no line, and the
contract test says so.
"""

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError, RenderError
from holdfast.kube.objects import reference_of
from holdfast.kube.paths import format_path
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.fleet.loader import load_fleet, manifest_files
from holdfast.manifest.kinds.kinds import KINDS, McpServer, ModelConfig
from holdfast.manifest.publish.reference import FieldEntry, fields_of
from holdfast.manifest.text.documents import read_documents
from holdfast.manifest.text.origin import Origin
from holdfast.manifest.types.validation import validate
from holdfast.render.fleet import render_fleet
from holdfast.render.plan.planning import plan_fleet
from holdfast.render.plan.render_agent import render_agent
from holdfast.render.provenance.field_variants import variants
from holdfast.render.provenance.flatten import leaves_of

FOLDER = Path(__file__).parent
STACK = "full"
MOST_SHOWN = 3
# They follow from everything else, and say nothing about one field.
_FOLLOWS = ("holdfast.dev/revision", "holdfast.dev/config-hash")
_UNRENDERABLE = (HoldfastError, ValueError, KeyError, TypeError, AttributeError, AssertionError)
_COMPANIONS: tuple[Any, ...] = (ModelConfig, McpServer)
"""Kinds that are rendered into the objects of the agents that refer to them."""
_NEVER_MEANT: tuple[Any, ...] = (7, "?", {"?": 7}, ["?"], None)
Leaves = dict[tuple[str, str], Any]


@cache
def moves_of_samples() -> Mapping[str, list[str]]:
    """What `moved` says of the samples."""
    return moved(load_fleet(FOLDER, STACK))


def names() -> list[str]:
    """Kind and path of every field, in the models' order."""
    return [name_of(entry) for kind in KINDS for entry in fields_of(kind)]


def name_of(entry: FieldEntry) -> str:
    """How the tables call a field."""
    return f"{entry.kind} {entry.path}"


def moved(fleet: Fleet) -> dict[str, list[str]]:
    """Field to the places in rendered objects that change with it, the first few."""
    found: dict[str, dict[str, None]] = {}
    bases: dict[int | None, Leaves] = {}
    for kind, path, changed, agent in _changes(fleet):
        name = f"{kind} {_known(kind, path)}"
        if len(found.get(name, {})) >= MOST_SHOWN:
            continue
        base = bases[agent] if agent in bases else bases.setdefault(agent, _leaves(fleet, agent))
        try:
            after = _leaves(changed, agent)
        except RenderError as error:
            found.setdefault(name, {})[f"otherwise refused: {error}"] = None
            continue
        except _UNRENDERABLE:
            continue
        places = [key for key in base | after if base.get(key) != after.get(key)]
        for where, place in sorted(places, key=lambda key: ("metadata" in key[1], key)):
            if place.rpartition('["')[2].removesuffix('"]') not in _FOLLOWS:
                found.setdefault(name, {})[f"{where} {place}"] = None
    return {name: list(places)[:MOST_SHOWN] for name, places in found.items()}


@cache
def refused() -> dict[str, str]:
    """Field to the error about a value that cannot be meant there."""
    found: dict[str, str] = {}
    for document in _documents():
        kind = document["kind"]
        for path in _paths(document):
            entry = entries().get((kind, _generic(path)))
            if entry is not None and name_of(entry) not in found:
                error = _refusal(document, path)
                if error:
                    found[name_of(entry)] = error
    return found


@cache
def entries() -> Mapping[tuple[str, str], FieldEntry]:
    """Kind and generic path to the field."""
    return {(kind, entry.path): entry for kind in KINDS for entry in fields_of(kind)}


def _changes(fleet: Fleet) -> Iterator[tuple[str, str, Fleet, int | None]]:
    """Kind, field, the fleet with that field changed, and the one agent it can matter to."""
    for index, agent in enumerate(fleet.agents):
        for path, manifest in variants(agent.agent):
            agents = _with(fleet.agents, index, replace(agent, agent=manifest))
            yield "Agent", _generic(path), replace(fleet, agents=agents), index
    for kind in _COMPANIONS:
        declared = fleet.of(kind)
        for at, one in enumerate(declared):
            for path, spec in variants(one.spec, ("spec",)):
                items = _with(declared, at, replace(one, spec=spec))
                yield kind.KIND, _generic(path), fleet.with_items(kind, items), None


def _known(kind: str, path: str) -> str:
    """The field that a path leads to: keys of mappings and items of lists are none."""
    while path and (kind, path) not in entries():
        path = path.removesuffix("[]") if path.endswith("[]") else path.rpartition(".")[0]
    return path


def _leaves(fleet: Fleet, agent: int | None) -> Leaves:
    plan = plan_fleet(fleet, STACK)
    rendered = render_fleet(plan) if agent is None else render_agent(plan.agents[agent])
    return {
        (f"{reference_of(item.manifest)}", format_path(path)): value
        for item in rendered
        # The agent as a resource repeats its manifest: every field would move that, and its digest.
        if not item.role.startswith("resource") and item.manifest["kind"] != "StackDeclaration"
        for path, value in leaves_of(item.manifest)
    }


def _with(items: tuple[Any, ...], index: int, new: Any) -> tuple[Any, ...]:
    return (*items[:index], new, *items[index + 1 :])


def _documents() -> list[dict[str, Any]]:
    return [
        document.data
        for file in manifest_files(FOLDER)
        for document in read_documents(file.read_text(encoding="utf-8"), file.name).documents
    ]


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if path:
        yield path
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, below in items:
        yield from _paths(below, (*path, key))


def _generic(path: tuple[Any, ...]) -> str:
    """A concrete path as the reference has it; keys of mappings are told by what is known there."""
    text = ""
    for part in path:
        text = f"{text}[]" if isinstance(part, int) else f"{text}.{part}".lstrip(".")
    return text


def _refusal(document: dict[str, Any], path: tuple[str | int, ...]) -> str:
    written = format_path(path)
    for value in _NEVER_MEANT:
        data = copy.deepcopy(document)
        place: Any = data
        for part in path[:-1]:
            place = place[part]
        place[path[-1]] = value
        result = validate(KINDS[document["kind"]], data, Origin("", 0, 0))
        if isinstance(result, list):
            for error in result:
                if error.path == written:
                    return f"{json.dumps(value)} → {str(error).removeprefix(f': {written}: ')}"
    return ""
