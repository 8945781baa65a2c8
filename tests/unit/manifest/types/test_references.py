"""Marks at fields that refer to something: none is forgotten, and one walk finds them all."""

import itertools
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from holdfast.manifest.agent import dependency, exposure, model, tools
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.types import names, values
from holdfast.manifest.types.annotations import models_below
from holdfast.manifest.types.references import (
    MARKS,
    EntryOf,
    RefersTo,
    fields_leading_to,
    marked,
    parts_of,
)
from holdfast.manifest.types.text_type import TextType
from pydantic import BaseModel
from pydantic.alias_generators import to_camel

ROOT = Path(__file__).parents[4]
FOR_PEOPLE = {"iconUrl", "documentationUrl", "url of Provider", "runbookUrl"}
"""Addresses that are shown, and that no agent asks."""
TEXTS: list[Any] = [values.Url, names.HostName, values.FetchUri]
ADDRESSES = [each for text in TEXTS for each in text.__metadata__ if isinstance(each, TextType)]
NAMES = {model.ObjectReference, dependency.Dependency}


def inside(annotation: Any) -> Iterator[Any]:
    yield annotation
    yield from getattr(annotation, "__metadata__", ())
    for argument in typing.get_args(annotation):
        yield from inside(argument)


def fields() -> Iterator[tuple[str, list[Any]]]:
    """Every field of an agent, with all that its annotation is made of."""
    for each in models_below([AgentSpec]):
        for name, info in each.model_fields.items():
            alias = info.alias or to_camel(name)
            label = f"{alias} of {each.__name__}" if alias == "url" else alias
            yield label, [*inside(info.annotation), *info.metadata]


def test_every_address_of_an_agent_is_opened_or_for_people() -> None:
    found = {
        label
        for label, parts in fields()
        if any(each in ADDRESSES for each in parts if isinstance(each, TextType))
        and not any(isinstance(each, MARKS) for each in parts)
    }
    assert found == FOR_PEOPLE


def test_every_reference_of_an_agent_is_marked() -> None:
    found = {
        label
        for label, parts in fields()
        if any(isinstance(each, type) and each in NAMES for each in parts)
        and not any(isinstance(each, MARKS) for each in parts)
    }
    assert found == set()


def test_no_mark_lies_below_a_mapping_which_no_walk_enters() -> None:
    for each, mark in itertools.product(models_below([AgentSpec]), MARKS):
        for name, _, _ in fields_leading_to(each, mark):
            parts = list(inside(each.model_fields[name].annotation))
            assert not any(typing.get_origin(part) is dict for part in parts), name


SPEC = AgentSpec.model_validate(
    {
        "version": "1.0.0",
        "image": f"r.example/a@sha256:{'0' * 64}",
        "model": {
            "ref": "big",
            "fallbacks": [{"ref": {"namespace": "shared", "name": "small"}}],
        },
        "tools": [
            {"mcp": {"serverRef": "kb", "toolNames": ["a"]}},
            {"agent": {"ref": "other"}},
        ],
        "network": {"ingressFrom": ["gateway", "friend"], "egress": [{"agent": "friend"}]},
    }
)


def test_a_walk_yields_values_in_the_order_of_the_fields() -> None:
    found = [(each.mark.relation, each.path) for each in marked(SPEC, RefersTo)]
    assert found == [
        ("model", ("spec", "model", "ref")),
        ("model", ("spec", "model", "fallbacks", 0, "ref")),
        ("tools", ("spec", "tools", 0, "mcp", "serverRef")),
        ("calls", ("spec", "tools", 1, "agent", "ref")),
        ("lets in", ("spec", "network", "ingressFrom", 0)),
        ("lets in", ("spec", "network", "ingressFrom", 1)),
        ("egress", ("spec", "network", "egress", 0, "agent")),
    ]
    assert list(marked(SPEC, EntryOf)) == []


def test_a_walk_enters_no_field_that_leads_to_nothing_sought() -> None:
    peers = {name for name, _, _ in fields_leading_to(AgentSpec, RefersTo)}
    entries = {name for name, _, _ in fields_leading_to(AgentSpec, EntryOf)}
    assert "network" in peers
    assert "network" not in entries
    assert "scaling" not in peers | entries


def naive(part: BaseModel, kind: type[Any], path: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    """Every marked value, or part of a class, by a walk that enters everything."""
    for name, info in type(part).model_fields.items():
        said = dict.fromkeys([*inside(info.annotation), *info.metadata])
        marks = [each for each in said if isinstance(each, kind)]
        items = [((*path, info.alias or to_camel(name)), getattr(part, name))]
        while items:
            here, value = items.pop(0)
            if isinstance(value, tuple):
                items[:0] = [((*here, index), item) for index, item in enumerate(value)]
                continue
            if isinstance(value, kind):
                yield here, value
            if value is not None:
                yield from ((here, each) for each in marks)
            if isinstance(value, BaseModel):
                yield from naive(value, kind, here)


SPECS = [
    agent.spec
    for root in (ROOT, ROOT / "tests" / "golden")
    for agent in load_fleet(root, None, is_lock_read=False).agents
]


@pytest.mark.parametrize("kind", [*MARKS, model.ModelAccess, exposure.Network])
def test_a_walk_finds_what_one_finds_that_enters_everything(kind: type[Any]) -> None:
    for spec in SPECS:
        expected = list(naive(spec, kind, ("spec",)))
        if issubclass(kind, BaseModel):
            assert [(path, part) for part, path in parts_of(spec, kind)] == expected
        else:
            assert [(each.path, each.mark) for each in marked(spec, kind)] == expected


def test_parts_of_a_class_come_with_their_places() -> None:
    assert [path for _, path in parts_of(SPEC, tools.McpTool)] == [("spec", "tools", 0, "mcp")]
    models = [path for _, path in parts_of(SPEC, model.ModelAccess)]
    assert models == [("spec", "model"), ("spec", "model", "fallbacks", 0)]
    assert list(parts_of(SPEC, exposure.Network)) == [(SPEC.network, ("spec", "network"))]
