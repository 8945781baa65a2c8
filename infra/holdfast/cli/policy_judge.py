"""The policy pack's verdict on one object, in the words of the drift room. Wiring."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from holdfast.drift.rules import RuleJudge
from holdfast.drift.severity import BrokenRule


def judge_of(environment: str, rules: Mapping[str, Any]) -> RuleJudge:
    """The policy pack's verdict on one object; the pack is loaded when something is found."""

    @cache
    def profile() -> Any:  # noqa: ANN401  (the pack stands alone; its types are not ours)
        from holdfast_policies.profile import profile_of  # noqa: PLC0415  (slow import)

        return profile_of(environment, rules)

    def judge(kube_object: Mapping[str, Any]) -> Mapping[str, Any]:
        from holdfast_policies.judge import violations  # noqa: PLC0415  (as above)
        from holdfast_policies.rule import Level, Severity  # noqa: PLC0415  (as above)

        weakening = {Severity.CRITICAL, Severity.HIGH}
        return {
            each.rule: BrokenRule(
                each.rule, each.level is Level.MANDATORY, each.severity in weakening
            )
            for each in violations(kube_object, profile())
        }

    return judge
