"""The table of rules as the SDK's policy objects, from which it tells the engine about them."""

from collections.abc import Mapping
from typing import Any, NoReturn

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyConfigSchema,
    ResourceValidationPolicy,
    Severity,
    StackValidationPolicy,
)

from holdfast_policies.evaluation.rule_set import RuleSet
from holdfast_policies.model.rule import Parameter, Rule


def policies(rules: RuleSet) -> list[Policy]:
    """One policy a rule. They are never run: the servicer judges by the table."""
    return [_policy(rule) for rule in rules.rules]


def _policy(rule: Rule) -> Policy:
    make: Any = ResourceValidationPolicy if rule.check is not None else StackValidationPolicy
    policy: Policy = make(
        rule.id,
        rule.description,
        validate=_never_run,
        enforcement_level=EnforcementLevel.MANDATORY,
        config_schema=_config_schema(rule.parameters),
        display_name=rule.title,
        severity=Severity(str(rule.severity)),
        tags=list(rule.frameworks),
        remediation_steps=rule.remedy,
        url=rule.source,
    )
    return policy


def _never_run(*_: object) -> NoReturn:
    message = "the servicer judges by the table of rules"
    raise NotImplementedError(message)


def _config_schema(parameters: tuple[Parameter, ...]) -> PolicyConfigSchema | None:
    """Schema by which the engine checks a config file; no defaults, for they differ by profile."""
    if not parameters:
        return None
    properties = {}
    for parameter in parameters:
        properties[parameter.name] = _anchored(parameter.schema)
        properties[parameter.name]["description"] = parameter.description
    return PolicyConfigSchema(properties)


def _anchored(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with patterns that match whole texts, which JSON Schema's do not by themselves."""
    anchored = dict(schema)
    if "pattern" in schema:
        anchored["pattern"] = f"^(?:{schema['pattern']})$"
    if "items" in schema:
        anchored["items"] = _anchored(schema["items"])
    return anchored
