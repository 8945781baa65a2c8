"""What a field of a manifest means, and what a rule of the policy pack requires."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from holdfast_policies.catalogue import judged_kinds, parameter_line
from holdfast_policies.evaluation.profile import PolicyConfigError, profile_of
from holdfast_policies.evaluation.rule_set import RuleSet
from holdfast_policies.model.rule import Environment, Rule

from holdfast.errors import InputError
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.kinds.kinds import KINDS, PolicyException
from holdfast.manifest.publish.reference import (
    STACK_FILE,
    FieldEntry,
    entries_of,
    field_at,
    forms_of,
)
from holdfast.manifest.stack.environment import Environment as StackSettings
from holdfast.manifest.stack.stack_files import NAMESPACE
from holdfast.operations.policy.own_rules import rules_here
from holdfast.operations.stack.context import StackContext
from holdfast.render.objects.rule_set import rules_of


@dataclass(frozen=True, slots=True)
class FieldExplanation:
    """One field, or a kind as a whole.

    Attributes:
        below: The fields right below it.
    """

    entry: FieldEntry
    below: tuple[FieldEntry, ...]


_KINDS_IN_ANY_CASE: Final = {each.lower(): each for each in (*KINDS, STACK_FILE)}


def explain_field(path: str) -> FieldExplanation:
    """A field by its path, with the kind before it unless that is Agent; or a kind.

    Args:
        path: Such as `spec.image`, `MCPServer.spec.url`, `MCPServer`, `holdfast:network`, `Stack`.

    Raises:
        InputError: there is no such field; names those that may be meant.
    """
    kind, path = _split(path)
    known = entries_of(kind)
    entry = field_at(kind, path) if path else _whole(kind)
    if entry is None:
        raise _no_field(kind, path, [each.path for each in known])
    below = [each for each in (*known, *forms_of(entry)) if _is_child(each, entry)]
    return FieldExplanation(entry, tuple(below))


def _split(path: str) -> tuple[str, str]:
    """Kind and path below it."""
    kind, _, rest = path.partition(".")
    kind = _KINDS_IN_ANY_CASE.get(kind.lower(), kind)
    if kind in KINDS:
        return kind, rest
    if path.startswith(NAMESPACE):
        return STACK_FILE, path
    if kind == STACK_FILE:
        return STACK_FILE, f"{NAMESPACE}{rest.removeprefix(NAMESPACE)}" if rest else ""
    return AGENT_KIND, path


def _whole(kind: str) -> FieldEntry:
    model = KINDS.get(kind, StackSettings)
    words = "manifest" if kind in KINDS else "mapping `config` of stacks/Pulumi.STACK.yaml"
    return FieldEntry(kind, "", words, "", model.__doc__ or "", (), (model, ""))


def _is_child(each: FieldEntry, entry: FieldEntry) -> bool:
    if not entry.path:
        return "." not in each.path
    rest = each.path.removeprefix(entry.path)
    if rest == each.path or not rest:
        return False
    return rest.removeprefix("[]").removeprefix(".<key>").count(".") == 1


def _no_field(kind: str, path: str, known: Sequence[str]) -> InputError:
    name = path.rpartition(".")[2]
    same = [each for each in known if each.rpartition(".")[2] == name]
    close = same or difflib.get_close_matches(path, known, n=3)
    kinds = difflib.get_close_matches(path.partition(".")[0], [*KINDS, STACK_FILE], n=1)
    is_kind = bool(kinds) and path[:1].isupper()  # no field begins so
    meant = " or ".join(kinds if is_kind else close or kinds)
    remedy = f"did you mean {meant}?" if meant else "`holdfast explain` lists the kinds"
    return InputError(f"{kind} has no field {path!r}", remedy=remedy)


@dataclass(frozen=True)
class InForce:
    """How a rule holds on a stack.

    Attributes:
        settings: Value of each parameter.
        waivers: What is waived, one text a waiver.
    """

    stack: str
    profile: str
    level: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    waivers: tuple[str, ...] = ()


@dataclass(frozen=True)
class RuleExplanation:
    """What a rule wants, why, and where it is in force.

    Attributes:
        levels: Profile to level.
        parameters: One text a parameter.
        cel: What the API server judges by; empty where it does not.
        not_in_cluster: Why it does not.
        in_force: How it holds on a stack; None without one.
    """

    name: str
    title: str
    description: str
    rationale: str
    remedy: str
    severity: str
    judges: str
    levels: Mapping[str, str]
    parameters: tuple[str, ...]
    frameworks: tuple[str, ...]
    cel: tuple[str, ...]
    not_in_cluster: str
    source: str
    file: str = ""
    in_force: InForce | None = None


def explain_rule(name: str, context: StackContext | None) -> RuleExplanation:
    """A rule, with its level and settings on a stack where one is named.

    Raises:
        InputError: there is no such rule; names the nearest.
    """
    known = rules_of(context.fleet) if context is not None else rules_here()
    rule = known.by_id.get(name)
    if rule is None:
        close = difflib.get_close_matches(name, known.by_id, n=1)
        hint = f'did you mean "{close[0]}"?' if close else "`holdfast policy list` names them all"
        raise InputError(f"no rule {name!r}", remedy=hint)
    admission = rule.admission
    return RuleExplanation(
        name=rule.id,
        title=rule.title,
        description=rule.description,
        rationale=rule.rationale,
        remedy=rule.remedy,
        severity=str(rule.severity),
        judges=judged_kinds(rule),
        levels={str(each): str(rule.levels.of(each)) for each in Environment},
        parameters=tuple(parameter_line(each) for each in rule.parameters),
        frameworks=rule.frameworks,
        cel=admission.breaches if admission is not None else (),
        not_in_cluster=rule.not_in_cluster,
        source=rule.source,
        file=known.own.get(rule.id, ""),
        in_force=_in_force(rule, context, known) if context is not None else None,
    )


def _in_force(rule: Rule, state: StackContext, known: RuleSet) -> InForce:
    try:
        profile = profile_of(state.policy_profile, state.fleet.environment.policy.rules, known)
    except PolicyConfigError as error:
        raise InputError("\n".join(error.faults), remedy="run `holdfast validate`") from error
    ruling = next(each for each in profile.rulings if each.rule is rule)
    waivers = (each for each in state.fleet.of(PolicyException) if rule.id in each.spec.rules)
    return InForce(
        stack=state.name,
        profile=str(profile.environment),
        level=str(ruling.level),
        settings=dict(ruling.settings),
        waivers=tuple(
            f"{each.name}: {each.spec.target.kind} {each.spec.target.namespace}/"
            f"{each.spec.target.name} until {each.spec.expires}"
            for each in waivers
        ),
    )
