"""What a rule of the policy pack wants, why, and how it is in force on a stack."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast_policies.catalogue import judged_kinds, parameter_line
from holdfast_policies.profile import PolicyConfigError, profile_of
from holdfast_policies.rule import Environment, Rule
from holdfast_policies.table import RULES_BY_ID

from holdfast.errors import InputError
from holdfast.manifest.kinds.kinds import PolicyException
from holdfast.operations.stack.context import StackContext


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
    in_force: InForce | None = None


def is_rule(name: str) -> bool:
    """Whether a rule has this name."""
    return name in RULES_BY_ID


def explain_rule(name: str, context: StackContext | None) -> RuleExplanation:
    """A rule, with its level and settings on a stack where one is named.

    Raises:
        InputError: there is no such rule; names the nearest.
    """
    rule = RULES_BY_ID.get(name)
    if rule is None:
        close = difflib.get_close_matches(name, RULES_BY_ID, n=1)
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
        in_force=_in_force(rule, context) if context is not None else None,
    )


def _in_force(rule: Rule, state: StackContext) -> InForce:
    try:
        profile = profile_of(state.policy_profile, state.fleet.environment.policy.rules)
    except PolicyConfigError as error:
        raise InputError("\n".join(error.faults), remedy="run `holdfast policy lint`") from error
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
