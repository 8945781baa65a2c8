"""The policy pack's verdict on one object, in the words of the drift room. Wiring."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from holdfast.drift.severity import BrokenRule, RuleJudge

if TYPE_CHECKING:
    from holdfast.manifest.fleet.fleet import Fleet


def judge_of(
    environment: str,
    rules: Mapping[str, Any],
    find_fleet: "Callable[[], Fleet | None]" = lambda: None,
) -> RuleJudge:
    """The policy pack's verdict on one object; the pack is loaded when something is found.

    What is waived is named all the same, and refuses nothing.

    Args:
        environment: Profile, or the name of a stack.
        rules: What a stack says of single rules.
        find_fleet: Reads whose exceptions hold, when something is found; None for plain objects.
    """

    @cache
    def profile() -> Any:  # noqa: ANN401  (the pack stands alone; its types are not ours)
        from holdfast_policies.profile import profile_of  # noqa: PLC0415  (slow import)
        from holdfast_policies.waivers import Waivers  # noqa: PLC0415  (as above)

        from holdfast.render.objects.admission import waivers_of  # noqa: PLC0415  (as above)

        fleet = find_fleet()
        granted = waivers_of(fleet) if fleet is not None else ()
        today = datetime.now(UTC).date()
        return replace(profile_of(environment, rules), waivers=Waivers(granted, today))

    def judge(kube_object: Mapping[str, Any]) -> Mapping[str, Any]:
        from holdfast_policies.judge import violations  # noqa: PLC0415  (as above)
        from holdfast_policies.rule import Level, Severity  # noqa: PLC0415  (as above)

        weakening = {Severity.CRITICAL, Severity.HIGH}
        return {
            each.rule: BrokenRule(
                each.rule,
                each.level is Level.MANDATORY,
                each.severity in weakening,
            )
            for each in violations(kube_object, profile())
        }

    return judge
