"""Documents that keep and break the rules between fields, made from what the rules name."""

import copy
import re
import typing
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from holdfast.manifest.agent.agent import Agent, AgentSpec
from holdfast.manifest.text.documents import read_documents
from holdfast.manifest.types.annotations import alternatives
from holdfast.manifest.types.conditions import (
    Compared,
    Every,
    FieldCondition,
    Is,
    Not,
    Some,
    fields_in,
    written_as,
)
from holdfast.manifest.types.references import parts_of
from holdfast.manifest.types.rules import OneOf, Rule, rules_of
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic.fields import FieldInfo

ABSENT: Any = object()


def documents(model: type[BaseModel], fields: Iterable[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Parts of a manifest in which each of some fields is absent, or has one of a few values."""
    names: dict[str, list[str]] = {}
    for path in fields:
        name, _, rest = path.partition(".")
        names.setdefault(name, []).extend([rest] if rest else [])
    known = named_values(model)
    choices = {}
    for name, below in names.items():
        info = model.model_fields[name]
        [alias] = written_as(model, name)
        inner = _part(info)
        if below and inner is not None:
            value = documents(inner, below)
        else:
            value = st.sampled_from(_values(info, known.get(name, ())))
        choices[alias] = value if info.is_required() else st.just(ABSENT) | value
    return st.fixed_dictionaries(choices).map(
        lambda found: {key: value for key, value in found.items() if value is not ABSENT}
    )


def built(model: type[BaseModel], document: dict[str, Any]) -> BaseModel:
    """A part as validation would build it, without its rules."""
    values: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        [alias] = written_as(model, name)
        if alias not in document:
            continue
        value, inner = document[alias], _part(info)
        if isinstance(value, dict) and inner is not None:
            value = built(inner, value)
        values[name] = tuple(value) if isinstance(value, list) else value
    return model.model_construct(**values)


def named_values(model: type[BaseModel]) -> dict[str, list[Any]]:
    """Field to the values that a rule of the part compares it with."""
    found: dict[str, list[Any]] = {}
    for rule in rules_of(model):
        if isinstance(rule, Rule) and isinstance(rule.holds, FieldCondition):
            for each in _leaves(rule.holds):
                found.setdefault(each.field, []).extend(each.values)
    return found


def _leaves(condition: FieldCondition) -> Iterable[Is]:
    match condition:
        case Every(parts) | Some(parts):
            for each in parts:
                yield from _leaves(each)
        case Not(inner):
            yield from _leaves(inner)
        case Is():
            yield condition
        case Compared():
            return


def _part(info: FieldInfo) -> type[BaseModel] | None:
    models = [
        each
        for each in alternatives(info.annotation)
        if isinstance(each, type) and issubclass(each, BaseModel)
    ]
    return models[0] if len(models) == 1 else None


def _values(info: FieldInfo, known: Iterable[Any]) -> list[Any]:
    """A few values of a field, with those that rules name."""
    values = [*known]
    if isinstance(info.default, str | int | float):
        values.append(info.default)
    for each in alternatives(info.annotation):
        origin = typing.get_origin(each)
        if origin is Literal:
            values += typing.get_args(each)
        elif origin is tuple:
            values += [[], ["a"]]
        elif origin is dict:
            values += [{}, {"a": "b"}]
        elif isinstance(each, type) and issubclass(each, BaseModel):
            values.append({})
        elif each is bool:
            values += [True, False]
        elif each in (int, float):
            values += [1, 2, 7]
        elif each is str:
            values.append("other")
    return values


SAMPLES = Path(__file__).parents[2] / "golden" / "agents"
MOST_VALUES = 4


@dataclass
class Sampled:
    """What the samples say of the parts of an agent.

    Attributes:
        places: Part to a sample that has it, and where.
        values: Part and field to the values that stand there.
    """

    places: dict[type[BaseModel], tuple[Any, tuple[str | int, ...]]] = field(default_factory=dict)
    values: dict[tuple[type[BaseModel], str], list[Any]] = field(default_factory=dict)

    def read(self) -> "Sampled":
        for file in sorted(SAMPLES.glob("*.yaml")):
            for document in read_documents(file.read_text(encoding="utf-8"), file.name).documents:
                if document.data["kind"] == "Agent":
                    self._walk(AgentSpec, document.data, ("spec",))
        return self

    def _walk(self, model: type[BaseModel], whole: Any, path: tuple[str | int, ...]) -> None:
        self.places.setdefault(model, (whole, path))
        part = at(whole, path)
        for name, info in model.model_fields.items():
            [alias] = written_as(model, name)
            if alias not in part:
                continue
            known = self.values.setdefault((model, name), [])
            if part[alias] not in known and len(known) < MOST_VALUES:
                known.append(part[alias])
            inner = _part(info) or _item(info)
            if inner is not None and isinstance(part[alias], dict):
                self._walk(inner, whole, (*path, alias))
            elif inner is not None and isinstance(part[alias], list):
                for index, item in enumerate(part[alias]):
                    if isinstance(item, dict):
                        self._walk(inner, whole, (*path, alias, index))

    def mutants(self, model: type[BaseModel], rule: Rule | OneOf) -> st.SearchStrategy[Any]:
        """A sample with other values, or none, in the fields that a rule names."""
        whole, path = self.places[model]
        choices = {
            name: st.sampled_from(self._options(model, name)) for name in _named(model, rule)
        }

        def changed(values: dict[str, Any]) -> Any:
            document = copy.deepcopy(whole)
            for name, value in values.items():
                new = value if value is ABSENT else copy.deepcopy(value)
                put(document, (*path, *written_as(model, name)), new)
            return document

        return st.fixed_dictionaries(choices).map(changed)

    def _options(self, model: type[BaseModel], name: str) -> list[Any]:
        first, _, rest = name.partition(".")
        info = model.model_fields[first]
        if rest and (inner := _part(info)):
            return self._options(inner, rest)
        sampled = self.values.get((model, first), [])
        plain = _values(info, named_values(model).get(first, ()))
        is_of_parts = _part(info) is not None or _item(info) is not None
        return [ABSENT, *sampled, *([] if is_of_parts else plain)]


def sampled_values(
    models: Iterable[type[BaseModel]],
) -> dict[type[BaseModel], dict[str, list[Any]]]:
    """Part to its fields' values in the samples, validated, so that they can be mixed.

    A list is there twice over as well, which breaks whatever must be unique.
    """
    found: dict[type[BaseModel], dict[str, list[Any]]] = {}
    agents = [
        Agent.model_validate(document.data)
        for file in sorted(SAMPLES.glob("*.yaml"))
        for document in read_documents(file.read_text(encoding="utf-8"), file.name).documents
        if document.data["kind"] == "Agent"
    ]
    for agent in agents:
        for part in (agent, agent.metadata, agent.spec):
            for model in models:
                below: list[BaseModel] = [part] if isinstance(part, model) else []
                below += [each for each, _ in parts_of(part, model)] if part is agent.spec else []
                for each in below:
                    values = found.setdefault(model, {})
                    for name in each.model_fields_set:
                        value = getattr(each, name)
                        doubled = [value * 2] if isinstance(value, tuple) else []
                        values.setdefault(name, []).extend([value, *doubled])
    return found


def at(value: Any, path: Sequence[str | int]) -> Any:
    for part in path:
        value = value[part]
    return value


def put(value: Any, path: Sequence[str | int], new: Any) -> None:
    """Put a value at a path, or remove what is there."""
    for part in path[:-1]:
        if isinstance(value, dict) and part not in value:
            if new is ABSENT:
                return
            value[part] = {}
        value = value[part]
    if new is ABSENT:
        value.pop(path[-1], None)
    else:
        value[path[-1]] = new


def _named(model: type[BaseModel], rule: Rule | OneOf) -> Iterator[str]:
    if isinstance(rule, OneOf):
        yield from rule.fields
        return
    if isinstance(rule.holds, FieldCondition):
        yield from dict.fromkeys(fields_in(rule.holds))
        return
    aliases = {written_as(model, name)[0]: name for name in model.model_fields}
    for alias in dict.fromkeys(re.findall(r"self\.(\w+)", rule.holds.cel)):
        if alias in aliases:
            yield aliases[alias]


def _item(info: FieldInfo) -> type[BaseModel] | None:
    """The part behind a list of parts, each in one form."""
    for each in alternatives(info.annotation):
        if typing.get_origin(each) is tuple:
            items = list(alternatives(typing.get_args(each)[0]))
            if len(items) == 1 and isinstance(items[0], type) and issubclass(items[0], BaseModel):
                return items[0]
    return None
