"""Rules between fields: validation, editors and the API server say the same."""

import re
from typing import Any

import pytest
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.kinds.kinds import KINDS
from holdfast.manifest.publish.custom_resource import custom_resource_definitions
from holdfast.manifest.publish.json_schema import manifest_schema
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.types.annotations import models_below
from holdfast.manifest.types.compiled_conditions import compiled, fields_that_break
from holdfast.manifest.types.conditions import (
    FieldCondition,
    cel,
    fields_in,
    holds,
    schema,
    written_as,
)
from holdfast.manifest.types.rules import (
    _FINDERS,
    Computed,
    OneOf,
    Rule,
    faults_of,
    rules_of,
    unique_fields,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from tests.unit.manifest.rule_examples import built, documents, sampled_values

MODELS = [each for each in models_below([*KINDS.values(), Environment]) if rules_of(each)]

TABLE = [
    (model, rule)
    for rule, model in {
        rule: model for model in reversed(MODELS) for rule in rules_of(model)
    }.items()
    if isinstance(rule, Rule)
]
RULES = [pytest.param(model, rule, id=rule.id) for model, rule in TABLE]
CONDITIONS = [
    pytest.param(model, rule, id=rule.id)
    for model, rule in TABLE
    if isinstance(rule.holds, FieldCondition)
]
CHOICES = [
    pytest.param(model, rule, id=f"{model.__name__} {' or '.join(rule.fields)}")
    for model in MODELS
    for rule in rules_of(model)
    if isinstance(rule, OneOf)
]
DEFINITIONS = manifest_schema()["$defs"]


def test_every_rule_has_a_name_of_its_own() -> None:
    names = [rule.id for _, rule in TABLE]
    assert len(set(names)) == len(names)
    assert len(names) > 90


@pytest.mark.parametrize(("model", "rule"), RULES)
def test_a_rule_is_about_fields_that_exist(model: type[BaseModel], rule: Rule) -> None:
    named = [*rule.shown, *([rule.at] if rule.at else [])]
    if isinstance(rule.holds, FieldCondition):
        named += fields_in(rule.holds)
    for field in named:
        assert written_as(model, field)


def test_a_computed_rule_has_a_function_and_says_who_else_checks_it() -> None:
    computed = {rule.id: rule.holds for _, rule in TABLE if isinstance(rule.holds, Computed)}
    assert _FINDERS.keys() == computed.keys()
    for name, each in computed.items():
        assert bool(each.cel) != bool(each.why_not), name


SAMPLED = sampled_values(MODELS)
OF_SOME_FIELDS = [
    pytest.param(model, rule, id=rule.id)
    for model, rule in TABLE
    if isinstance(rule.holds, Computed) and rule.holds.fields and model in SAMPLED
]


@pytest.mark.parametrize(("model", "rule"), OF_SOME_FIELDS)
def test_a_part_without_the_fields_of_a_computed_rule_does_not_break_it(
    model: type[BaseModel], rule: Rule
) -> None:
    assert isinstance(rule.holds, Computed)
    others = {
        name: st.sampled_from(values)
        for name, values in SAMPLED[model].items()
        if name not in rule.holds.fields
    }

    @settings(max_examples=100, deadline=None, derandomize=True)
    @given(st.fixed_dictionaries({}, optional=others))
    def holds_without(values: dict[str, Any]) -> None:
        assert [*_FINDERS[rule.id](model.model_construct(**values))] == []

    holds_without()


def test_most_computed_rules_of_an_agent_need_not_be_checked_of_every_agent() -> None:
    computed = [each.values for each in OF_SOME_FIELDS if each.values[0] is AgentSpec]
    assert len(computed) > 20


def accepts(text: str, document: dict[str, Any]) -> bool:
    """What the CEL of a condition says: the operators that `cel` writes, and no others."""

    def value(path: str) -> Any:
        found: Any = document
        for name in path.split("."):
            found = found.get(name.strip("_")) if isinstance(found, dict) else None
        return found

    text = re.sub(r"\((has\(\S+\)) \? (\S+) : (\S+)\)", r"(\2 if \1 else \3)", text)
    text = re.sub(r"\bself\.([\w.]+)", r"value('\1')", text)
    text = text.replace("has(", "given(").replace("&&", " and ").replace("||", " or ")
    text = re.sub(r"!(?!=)", " not ", text).replace("== true", "is True")
    text = text.replace("== false", "is False")
    known = {"value": value, "given": lambda found: found is not None, "size": len}
    return bool(eval(text, {"__builtins__": {}}, known))  # noqa: S307 - our own text


@pytest.mark.parametrize(("model", "rule"), CONDITIONS)
def test_a_condition_means_the_same_in_every_language(model: type[BaseModel], rule: Rule) -> None:
    condition = rule.holds
    assert isinstance(condition, FieldCondition)
    text, published = cel(condition, model), schema(condition, model)
    check, breaking = compiled(condition), fields_that_break(condition, model)
    verdicts = set()

    @settings(max_examples=200, deadline=None, derandomize=True)
    @given(documents(model, tuple(fields_in(condition))))
    def agree(document: dict[str, Any]) -> None:
        part = built(model, document)
        verdict = holds(condition, part)
        verdicts.add(verdict)
        assert check(part) == verdict
        if breaking is not None and breaking.isdisjoint(part.model_fields_set):
            assert verdict, "what is not checked holds"
        assert accepts(text, document) == verdict, text
        if published is not None:
            assert Draft202012Validator(published).is_valid(document) == verdict

    agree()
    assert verdicts == {True, False}, "the examples keep it and break it"


def test_most_conditions_need_not_be_checked_of_a_part_that_gives_nothing() -> None:
    breaking = [
        fields_that_break(rule.holds, model)
        for model, rule in TABLE
        if isinstance(rule.holds, FieldCondition)
    ]
    always = [each for each in breaking if each is None]
    assert len(always) < len(breaking) / 5


@pytest.mark.parametrize(("model", "choice"), CHOICES)
def test_a_choice_means_the_same_to_editors(model: type[BaseModel], choice: OneOf) -> None:
    published = Draft202012Validator({"allOf": DEFINITIONS[model.__name__]["allOf"]})
    others = [each for each in rules_of(model) if each is not choice and isinstance(each, Rule)]
    fields = {*choice.fields, *(name for each in others for name in named(each))}

    @settings(max_examples=200, deadline=None, derandomize=True)
    @given(documents(model, tuple(sorted(fields))))
    def agree(document: dict[str, Any]) -> None:
        part = built(model, document)
        broken = [
            each
            for each in others
            if isinstance(each.holds, FieldCondition) and not holds(each.holds, part)
        ]
        given_fields = [name for name in choice.fields if getattr(part, name) not in (None, ())]
        is_kept = len(given_fields) == 1 or (choice.may_be_none and not given_fields)
        assert published.is_valid(document) == (is_kept and not broken)

    agree()


def named(rule: Rule) -> list[str]:
    return list(fields_in(rule.holds)) if isinstance(rule.holds, FieldCondition) else []


@pytest.mark.parametrize(
    ("model", "name"),
    [
        pytest.param(model, name, id=f"{model.__name__} {name}")
        for model in models_below([*KINDS.values(), Environment])
        for name, _ in unique_fields(model)
    ],
)
def test_items_that_repeat_are_refused_at_the_second(model: type[BaseModel], name: str) -> None:
    [mark] = [mark for field, mark in unique_fields(model) if field == name]
    item = type("Item", (), {mark.key: "a"})() if mark.key else "a"
    [alias] = written_as(model, name)
    lists: dict[str, Any] = {field: () for field, _ in unique_fields(model)} | {name: (item, item)}
    broken = next(faults_of(model.model_construct(**lists)))
    place = (broken.context or {})["at"]
    assert place == ((alias, 1, mark.key) if mark.key else (alias, 1))


def test_the_schema_of_the_api_server_has_the_choices_and_lists_of_an_agent() -> None:
    [agent] = [
        each for each in custom_resource_definitions() if each["spec"]["names"]["kind"] == "Agent"
    ]
    [version] = agent["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    tool = spec["properties"]["tools"]["items"]
    assert tool["allOf"] == [
        {"oneOf": [{"required": ["mcp"]}, {"required": ["agent"]}, {"required": ["http"]}]}
    ]
    probes = spec["properties"]["drift"]["properties"]["probes"]
    assert probes["x-kubernetes-list-map-keys"] == ["name"]


def test_an_override_may_hold_half_of_a_choice() -> None:
    assert "allOf" not in DEFINITIONS["ToolChange"]
