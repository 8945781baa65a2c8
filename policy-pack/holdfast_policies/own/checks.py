"""Whether what a rule file defines is a rule, each fault with the argument that is wrong."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from holdfast_policies.model.cel import Admission
from holdfast_policies.model.kinds import Kind
from holdfast_policies.model.parameters import fault_of
from holdfast_policies.model.rule import Environment, Fix, Level, Levels, Parameter, Rule, Severity

_TEXTS = ("title", "description", "rationale", "remedy", "source")
_TYPES: Mapping[str, type] = {"severity": Severity, "levels": Levels, "fix": Fix}


def faults_of_rule(rule: object, name: str) -> list[tuple[str, str]]:
    """Field of the rule and what is wrong with it; none for one that can be evaluated.

    Args:
        rule: What the file calls RULE.
        name: What its file is called.
    """
    if not isinstance(rule, Rule):
        got = "nothing" if rule is None else type(rule).__name__
        return [("RULE", f"expected RULE = Rule(...), got {got}")]
    found = list(_faults(rule, name))
    # What is of a wrong type is not read further.
    return found or [*_faults_of_levels(rule), *_faults_of_parameters(rule)]


def _faults(rule: Rule, name: str) -> Iterator[tuple[str, str]]:
    if rule.id != name:
        yield "id", f"expected id {name!r}, as the file is named, got {rule.id!r}"
    for field in _TEXTS:
        value = getattr(rule, field)
        if not isinstance(value, str) or not value.strip() or len(value.splitlines()) != 1:
            yield field, f"expected one line of text as {field}"
    for field, expected in _TYPES.items():
        if not isinstance(getattr(rule, field), expected):
            yield field, f"expected a {expected.__name__} as {field}"
    if not isinstance(rule.kinds, frozenset) or not rule.kinds or not _are(rule.kinds, Kind):
        yield "kinds", "expected a frozenset of Kind, at least one; ANY_KIND for every object"
    if not isinstance(rule.frameworks, tuple) or not _are(rule.frameworks, str):
        yield "frameworks", "expected a tuple of texts; () for none"
    if (rule.check is None) == (rule.check_stack is None):
        yield "check", "expected either check or check_stack"
    for field in ("check", "check_stack", "remediate"):
        value = getattr(rule, field)
        if value is not None and not isinstance(value, Callable):  # type: ignore[arg-type]  # at run time it is a class
            yield field, f"expected a function as {field}"
    if not isinstance(rule.parameters, tuple) or not _are(rule.parameters, Parameter):
        yield "parameters", "expected a tuple of Parameter(...)"
    yield from _faults_in_cluster(rule)


def _faults_in_cluster(rule: Rule) -> Iterator[tuple[str, str]]:
    if rule.admission is not None and not isinstance(rule.admission, Admission):
        yield "admission", "expected Admission(...), or nothing"
    if rule.admission is None and not rule.not_in_cluster and rule.check is not None:
        yield (
            "RULE",
            "expected admission=Admission(...), or not_in_cluster with the reason for its absence",
        )


def _faults_of_levels(rule: Rule) -> Iterator[tuple[str, str]]:
    levels = [rule.levels.of(environment) for environment in Environment]
    if not _are(levels, Level):
        yield "levels", "expected Levels(dev, staging, prod), each a Level"
    elif Level.REMEDIATE in levels and rule.remediate is None:
        yield (
            "levels",
            "level remediate requires the function `remediate`, which corrects the object",
        )


def _faults_of_parameters(rule: Rule) -> Iterator[tuple[str, str]]:
    for parameter in rule.parameters:
        if parameter.schema.get("type") not in ("string", "boolean", "integer", "array"):
            got = json.dumps(parameter.schema.get("type"), default=str)
            known = "string, boolean, integer or array"
            yield "parameters", f"{parameter.name}: expected type {known} in the schema, got {got}"
            continue
        for environment in Environment:
            fault = fault_of(parameter.value_in(environment), parameter.schema)
            if fault:
                yield "parameters", f"default of {parameter.name} on {environment}: {fault}"
                break


def _are(values: Any, expected: type) -> bool:  # noqa: ANN401  # whatever a file gives
    return all(isinstance(each, expected) for each in values)
