"""The cases of every rule: an object that passes and, for each case, one edit of it.

`cases/<rule>.yaml` holds `object` (a name of another file, or written out), `others` (the rest of
the stack, for stack rules) and `cases`. A case has `set` and `remove` (JSON pointers) or an
`object` of its own, `settings` over those of the file, `options` and
`hidden`. Expected is `violates` (a
field path), or nothing for a pass; `says` is part of the message, `hides` must not be; `except`
names kinds it does not hold for.
"""

import copy
import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from google.protobuf import json_format, struct_pb2
from holdfast_policies.decode.properties import UNKNOWN_TEXTS, decode_properties
from holdfast_policies.evaluation import judge
from holdfast_policies.evaluation.profile import Profile, Ruling
from holdfast_policies.model.finding import Undecided
from holdfast_policies.model.kinds import kind_of
from holdfast_policies.model.rule import Environment, Level, Rule
from holdfast_policies.model.stack import Hidden, Stack
from holdfast_policies.model.subject import Options, Subject
from holdfast_policies.table import RULES

FOLDER = Path(__file__).parent / "cases"
UNKNOWN = min(UNKNOWN_TEXTS)


@dataclass(frozen=True)
class Case:
    """One case of one rule."""

    rule: Rule
    name: str
    kube_object: dict[str, Any]
    edited: tuple[str, ...] = ()
    others: tuple[dict[str, Any], ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Options | None = None
    hidden: tuple[Hidden, ...] = ()
    violates: str | None = None
    says: str = ""
    hides: str = ""
    excepted: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return f"{self.rule.id}/{self.name}"


@dataclass(frozen=True)
class Outcome:
    """What one rule said."""

    violations: tuple[judge.Violation, ...] = ()
    undecided: tuple[Undecided, ...] = ()

    @property
    def paths(self) -> list[str]:
        return [violation.path for violation in self.violations]


def run(case: Case, kube_object: Mapping[str, Any] | None = None) -> Outcome:
    """Judge the object of a case, or another one in its place, by its rule alone."""
    chosen = case.kube_object if kube_object is None else kube_object
    settings = {each.name: each.value_in(Environment.PROD) for each in case.rule.parameters}
    ruling = Ruling(case.rule, Level.MANDATORY, settings | dict(case.settings))
    profile = Profile(Environment.PROD, (ruling,))
    if case.rule.check is not None:
        found = judge.judgements(Subject.of(chosen, options=case.options), profile)
    else:
        stack = Stack.of((Subject.of(each) for each in (chosen, *case.others)), case.hidden)
        found = judge.stack_judgements(stack, profile)
    for judgement in found:
        return Outcome(judgement.violations, judgement.undecided)
    return Outcome()


@functools.cache
def allowed_case(rule: Rule) -> Case:
    """The object that a rule passes."""
    content = _read(rule.id)
    return Case(
        rule,
        "allowed",
        _object(content["object"]),
        others=tuple(content.get("others", ())),
        settings=content.get("settings", {}),
        options=_options(content.get("options")),
    )


@functools.cache
def cases_of(rule: Rule) -> tuple[Case, ...]:
    """All cases of a rule but the allowed one."""
    return tuple(_cases(rule))


def all_cases() -> list[Case]:
    """All cases of all rules, allowed ones first."""
    return [*map(allowed_case, RULES), *(case for rule in RULES for case in cases_of(rule))]


def has_cases(rule: Rule) -> bool:
    """Whether a rule has a file of cases at all."""
    return (FOLDER / f"{rule.id}.yaml").exists()


def with_value(kube_object: Mapping[str, Any], pointer: str, value: Any) -> dict[str, Any]:
    """A copy with the value at a JSON pointer replaced, or removed where the value is `REMOVED`."""
    changed = copy.deepcopy(dict(kube_object))
    *parents, last = _steps(pointer)
    holder: Any = changed
    for step in parents:
        index = int(step) if isinstance(holder, list) else step
        if isinstance(holder, dict) and step not in holder:
            holder[step] = {}
        holder = holder[index]
    key = int(last) if isinstance(holder, list) else last
    if value is REMOVED:
        del holder[key]
    else:
        holder[key] = value
    return changed


REMOVED = object()


def decoded(kube_object: Mapping[str, Any]) -> dict[str, Any]:
    """The object as it looks after its way through the engine's encoding."""
    struct = struct_pb2.Struct()
    json_format.ParseDict(dict(kube_object), struct)
    return decode_properties(struct)


def with_unknown(kube_object: Mapping[str, Any], pointer: str) -> dict[str, Any]:
    """The object as it looks when the value at a JSON pointer is not known yet."""
    return decoded(with_value(kube_object, pointer, UNKNOWN))


def pointers(value: Any, path: str = "") -> Iterator[str]:
    """JSON pointers to everything within a value."""
    children: Any = ()
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    for key, child in children:
        pointer = f"{path}/{str(key).replace('~', '~0').replace('/', '~1')}"
        yield pointer
        yield from pointers(child, pointer)


def _cases(rule: Rule) -> Iterator[Case]:
    allowed = allowed_case(rule)
    for name, content in (_read(rule.id)["cases"] or {}).items():
        kube_object = _object(content.get("object")) or allowed.kube_object
        for pointer in content.get("remove", ()):
            kube_object = with_value(kube_object, pointer, REMOVED)
        for pointer, value in content.get("set", {}).items():
            kube_object = with_value(kube_object, pointer, value)
        yield Case(
            rule,
            name,
            kube_object,
            edited=(*content.get("remove", ()), *content.get("set", {})),
            others=allowed.others,
            settings={**allowed.settings, **content.get("settings", {})},
            options=_options(content["options"]) if "options" in content else allowed.options,
            hidden=tuple(Hidden(**each) for each in content.get("hidden", ())),
            violates=content.get("violates"),
            says=content.get("says", ""),
            hides=content.get("hides", ""),
            excepted=tuple(content.get("except", ())),
        )


def _options(given: Mapping[str, Any] | None) -> Options | None:
    if given is None:
        return None
    return Options(given.get("protect", False), tuple(given.get("ignoreChanges", ())))


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _object(given: Any) -> dict[str, Any]:
    content: dict[str, Any] = _read(given) if isinstance(given, str) else given or {}
    return copy.deepcopy(content)


@functools.cache
def _read(name: str) -> dict[str, Any]:
    content = yaml.safe_load((FOLDER / f"{name}.yaml").read_text())
    unshared: dict[str, Any] = json.loads(json.dumps(content))  # an edit must not show twice
    return unshared


def is_pod(case: Case) -> bool:
    """Whether the object of a case is a plain Pod, which can be wrapped into anything."""
    return kind_of(case.kube_object).name == "Pod"
