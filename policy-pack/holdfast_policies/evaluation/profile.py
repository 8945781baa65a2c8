"""Which rules are in force, at which level and with which settings.

An environment gives all of it, and a config file overrides it rule by rule.

A config file has the engine's own shape, JSON: `{"all": "mandatory", "rule": "advisory", "rule2":
{"enforcementLevel": "mandatory", "parameter": 3}}`. The engine accepts unknown rules, unknown
parameters and levels by mistake; here each is an error that names the remedy.
"""

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from holdfast_policies.evaluation.rule_set import SHIPPED_RULES, RuleSet
from holdfast_policies.evaluation.waivers import NO_WAIVERS, Waivers
from holdfast_policies.model.applies_to import (
    APPLIES_TO_KEY,
    AppliesTo,
    applies_to_faults,
    applies_to_of,
)
from holdfast_policies.model.kinds import ANY_KIND, Kind
from holdfast_policies.model.parameters import fault_of
from holdfast_policies.model.rule import Environment, Level, Rule
from holdfast_policies.model.subject import Subject

ALL = "all"
LEVEL_KEY = "enforcementLevel"


class PolicyConfigError(ValueError):
    """A policy config cannot be used as it stands.

    Attributes:
        faults: Everything that is wrong with it, one sentence each, in the order of the file.
    """

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(self.faults))


@dataclass(frozen=True, slots=True)
class Ruling:
    """One rule as it is in force.

    Attributes:
        rule: The rule.
        level: Level that takes effect.
        settings: Value of every parameter of the rule.
        applies_to: Which objects it is asked about; None for all of its kinds.
    """

    rule: Rule
    level: Level
    settings: Mapping[str, Any]
    applies_to: AppliesTo | None = None

    def is_about(self, subject: Subject) -> bool:
        """Whether the rule is asked about an object of one of its kinds."""
        return self.applies_to is None or self.applies_to.holds(subject)


@dataclass(frozen=True, eq=False)
class Profile:
    """All rules as they are in force in one environment.

    Attributes:
        environment: Where the levels and defaults come from.
        rulings: One for each rule of the table, in its order; disabled ones too.
        waivers: What single objects may break, and until when.
    """

    environment: Environment
    rulings: tuple[Ruling, ...]
    waivers: Waivers = NO_WAIVERS
    _by_kind: dict[Kind, tuple[Ruling, ...]] = field(default_factory=dict, repr=False)

    def for_kind(self, kind: Kind) -> tuple[Ruling, ...]:
        """Rules about one object that apply to a kind and are not disabled."""
        found = self._by_kind.get(kind)
        if found is None:
            found = tuple(
                ruling
                for ruling in self.rulings
                if ruling.rule.check is not None
                and ruling.level is not Level.DISABLED
                and (kind in ruling.rule.kinds or ANY_KIND in ruling.rule.kinds)
            )
            self._by_kind[kind] = found
        return found

    @property
    def levels(self) -> Mapping[str, Level]:
        """Level in force of each rule."""
        return {each.rule.id: each.level for each in self.rulings}

    @property
    def stack_rulings(self) -> Iterator[Ruling]:
        """Rules about the whole stack that are not disabled."""
        return (
            ruling
            for ruling in self.rulings
            if ruling.rule.check_stack is not None and ruling.level is not Level.DISABLED
        )


@cache
def environment_of(stack_name: str) -> Environment:
    """Environment of a stack by its name, `organization/project/` before it or not.

    Everything that is neither dev nor staging counts as production.
    """
    name = stack_name.rpartition("/")[2]
    return Environment(name) if name in {"dev", "staging"} else Environment.PROD


def profile_of(
    environment: str, config: Mapping[str, Any] | None = None, rules: RuleSet = SHIPPED_RULES
) -> Profile:
    """Profile of an environment (or of the stack of that name), with what a config overrides.

    Args:
        environment: `dev`, `staging`; anything else counts as production.
        config: Parsed config file; None for the environment's own levels and settings.
        rules: All rules that there are.

    Raises:
        PolicyConfigError: the config names unknown rules or parameters, or has wrong values.
    """
    if not config:
        return _standard_profile(environment_of(environment), rules)
    faults = list(faults_of(config, rules))
    if faults:
        raise PolicyConfigError(faults)
    return _profile(environment_of(environment), config, rules)


def load_config(path: Path, rules: RuleSet = SHIPPED_RULES) -> Mapping[str, Any]:
    """Parsed and checked config file.

    Raises:
        PolicyConfigError: it cannot be read, is not JSON, or its content is wrong.
    """
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        message = f"{path}: expected a JSON file, {error}"
        raise PolicyConfigError([message]) from error
    if not isinstance(config, dict):
        raise PolicyConfigError([f"{path}: expected a mapping of rule names to levels"])
    faults = [f"{path}: {fault}" for fault in faults_of(config, rules)]
    if faults:
        raise PolicyConfigError(faults)
    return config


def faults_of(config: Mapping[str, Any], rules: RuleSet = SHIPPED_RULES) -> Iterator[str]:
    """Everything that is wrong with a parsed config."""
    return (fault for _, fault in located_faults_of(config, rules))


def located_faults_of(
    config: Mapping[str, Any], rules: RuleSet = SHIPPED_RULES
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Everything that is wrong with a parsed config, each with the keys that lead to it."""
    for name, given in config.items():
        if name == ALL:
            levels = as_mapping(given)
            if not levels or set(levels) - {LEVEL_KEY, APPLIES_TO_KEY}:
                wanted = f"takes a level and {APPLIES_TO_KEY} only; set parameters at each rule"
                yield (name,), f'"{ALL}" {wanted}'
            if LEVEL_KEY in levels:
                yield from _at((name,), _level_faults(ALL, None, levels[LEVEL_KEY]))
            if APPLIES_TO_KEY in levels:
                place = (name, APPLIES_TO_KEY)
                yield from _at(place, applies_to_faults(levels[APPLIES_TO_KEY]))
        elif name not in rules.by_id:
            yield (name,), f'there is no rule "{name}"{_suggestion(name, rules.by_id)}'
        elif isinstance(given, dict):
            for key, value in given.items():
                yield from _at((name, key), _rule_faults(rules.by_id[name], {key: value}))
        else:
            yield from _at((name,), _level_faults(name, rules.by_id[name], given))


def _at(path: tuple[str, ...], faults: Iterable[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    return ((path, fault) for fault in faults)


def _rule_faults(rule: Rule, given: Mapping[str, Any]) -> Iterator[str]:
    parameters = {parameter.name: parameter for parameter in rule.parameters}
    for key, value in given.items():
        if key == LEVEL_KEY:
            yield from _level_faults(rule.id, rule, value)
        elif key == APPLIES_TO_KEY:
            yield from applies_to_faults(value)
        elif key not in parameters:
            known = ", ".join(parameters) or "none"
            hint = _suggestion(key, parameters) or f"; it has: {known}"
            yield f'rule "{rule.id}" has no parameter "{key}"{hint}'
        else:
            fault = fault_of(value, parameters[key].schema)
            if fault:
                yield f"{rule.id}.{key}: {fault}"


def _level_faults(name: str, rule: Rule | None, level: object) -> Iterator[str]:
    allowed = [str(each) for each in Level]
    if level not in allowed:
        yield f"{name}: expected a level ({', '.join(allowed)}), got {json.dumps(level)}"
    elif level == Level.REMEDIATE and (rule is None or rule.remediate is None):
        what = "not every rule" if rule is None else "this rule never"
        yield f'{name}: {what} puts an object right, use "{Level.MANDATORY}"'


def _suggestion(name: str, known: Iterable[str]) -> str:
    matches = difflib.get_close_matches(name, list(known), n=1)
    return f'; did you mean "{matches[0]}"?' if matches else ""


@cache
def _standard_profile(environment: Environment, rules: RuleSet) -> Profile:
    return _profile(environment, {}, rules)


def _profile(environment: Environment, config: Mapping[str, Any], rules: RuleSet) -> Profile:
    return Profile(environment, tuple(_ruling(rule, environment, config) for rule in rules.rules))


def _ruling(rule: Rule, environment: Environment, config: Mapping[str, Any]) -> Ruling:
    overall, own = as_mapping(config.get(ALL)), as_mapping(config.get(rule.id))
    level = own.get(LEVEL_KEY) or overall.get(LEVEL_KEY) or rule.levels.of(environment)
    settings = {
        parameter.name: own.get(parameter.name, parameter.value_in(environment))
        for parameter in rule.parameters
    }
    given = own.get(APPLIES_TO_KEY) or overall.get(APPLIES_TO_KEY)
    applies_to = applies_to_of(given) if given else rule.applies_to
    return Ruling(rule, Level(level), settings, None if applies_to.is_everything else applies_to)


def as_mapping(given: object) -> Mapping[str, Any]:
    """What a config says of one rule, level and parameters; a level may stand alone."""
    return given if isinstance(given, dict) else {LEVEL_KEY: given} if given else {}
