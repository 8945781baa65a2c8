"""What a stack says about policy in its own configuration, `holdfast:policy`.

`{"profile": "staging", "rules": {"no-token-automount": {"accounts": ["ops/triage"]}}}`: a profile
other than the one its name stands for, and rules in the words of a config file.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast_policies.evaluation.profile import PolicyConfigError, as_mapping, faults_of
from holdfast_policies.evaluation.rule_set import SHIPPED_RULES, RuleSet
from holdfast_policies.model.rule import Environment

KEY = "holdfast:policy"


@dataclass(frozen=True, slots=True)
class StackSettings:
    """What one stack says.

    Attributes:
        name: Name of the stack; empty where the engine names none (`pulumi policy analyze`).
        profile: Profile it asks for; empty for the one that its name stands for.
        rules: Rule to level and parameters, over the profile.
    """

    name: str = ""
    profile: str = ""
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def read_stack_settings(
    name: str, config: Mapping[str, str], known: RuleSet = SHIPPED_RULES
) -> StackSettings:
    """Settings of a stack.

    Args:
        name: Name of the stack.
        config: Its whole configuration; structured values as JSON text.
        known: All rules of the run.

    Raises:
        PolicyConfigError: what stands under `holdfast:policy` is wrong.
    """
    try:
        given = json.loads(config[KEY]) if KEY in config else {}
    except ValueError as error:
        raise PolicyConfigError([f"{KEY}: expected a mapping, {error}"]) from error
    if not isinstance(given, dict) or not isinstance(given.get("rules", {}), dict):
        raise PolicyConfigError([f'{KEY}: expected a mapping with "profile" and "rules"'])
    profile, levels = given.get("profile") or "", given.get("rules", {})
    profiles = [str(environment) for environment in Environment]
    faults = [f"{KEY}: {fault}" for fault in faults_of(levels, known)]
    if profile and profile not in profiles:
        faults.append(
            f"{KEY}: expected a profile ({', '.join(profiles)}), got {json.dumps(profile)}"
        )
    if faults:
        raise PolicyConfigError(faults)
    return StackSettings(name, profile, {rule: as_mapping(given) for rule, given in levels.items()})
