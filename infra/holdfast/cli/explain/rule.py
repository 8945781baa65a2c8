"""`holdfast explain rule NAME`: what a rule wants, why, and how it is in force. Wiring."""

import difflib

from holdfast_policies.catalogue import judged_kinds, parameter_line
from holdfast_policies.profile import PolicyConfigError, profile_of
from holdfast_policies.rule import Environment, Rule
from holdfast_policies.table import RULES_BY_ID

from holdfast.errors import InputError
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root
from holdfast.report.exchange.policy_notices import page_of
from holdfast.report.text.rule_words import InForce, RuleExplanation, explained_json, explained_text


def is_rule(name: str) -> bool:
    """Whether a rule has this name."""
    return name in RULES_BY_ID


def explain_rule(name: str, stack: str | None, *, as_json: bool, colour: bool) -> str:
    """A rule in words, with its level and settings on a stack where one is named.

    Raises:
        InputError: there is no such rule; names the nearest.
    """
    rule = RULES_BY_ID.get(name)
    if rule is None:
        close = difflib.get_close_matches(name, RULES_BY_ID, n=1)
        hint = f'did you mean "{close[0]}"?' if close else "`holdfast policy list` names them all"
        raise InputError(f"no rule {name!r}", remedy=hint)
    explanation = _explanation(rule, _in_force(rule, stack) if stack else None)
    return explained_json(explanation) if as_json else explained_text(explanation, colour=colour)


def _explanation(rule: Rule, in_force: InForce | None) -> RuleExplanation:
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
        page=page_of(rule.id),
        source=rule.source,
        in_force=in_force,
    )


def _in_force(rule: Rule, stack: str) -> InForce:
    state = StackContext(find_project_root(), stack)
    try:
        profile = profile_of(state.policy_profile, state.fleet.environment.policy.rules)
    except PolicyConfigError as error:
        raise InputError("\n".join(error.faults), remedy="run `holdfast policy lint`") from error
    ruling = next(each for each in profile.rulings if each.rule is rule)
    waivers = (each for each in state.fleet.policy_exceptions if rule.id in each.spec.rules)
    return InForce(
        stack=stack,
        profile=str(profile.environment),
        level=str(ruling.level),
        settings=dict(ruling.settings),
        waivers=tuple(
            f"{each.name}: {each.spec.target.kind} {each.spec.target.namespace}/"
            f"{each.spec.target.name} until {each.spec.expires}"
            for each in waivers
        ),
    )
