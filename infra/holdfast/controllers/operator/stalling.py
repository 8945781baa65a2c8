"""Whether anything is done about an agent, and why not: one condition for whoever waits. Pure.

Source: kstatus, the conditions `Reconciling` and `Stalled` of sigs.k8s.io/cli-utils.
"""

from holdfast.controllers.operator.agent_view import AgentView
from holdfast.kube.conditions import Condition, join_names


def stalled(view: AgentView) -> Condition:
    """The condition `Stalled`: True names the one thing that must change first.

    Law: what nothing hinders is never stalled, whatever else is wrong with it.
    """
    mandatory = view.mode == "expand" and not view.was_programmed and view.broken
    cases = (
        (view.is_paused, "Paused", ("the annotation holdfast.dev/paused is true",)),
        (view.invalid, "Invalid", view.invalid),
        (view.unresolved, "Unresolved", view.unresolved),
        (view.blind, "CannotSee", view.blind),
        (mandatory, "PolicyRefused", tuple(f"breaks {rule}" for rule in view.broken)),
        (view.error, "NotWritten", (view.error,)),
        (view.fights, "Fight", tuple(f"left alone: {name}" for name in view.fights)),
    )
    for applies, reason, why in cases:
        if applies:
            return Condition("Stalled", "True", reason, join_names(why))
    return Condition("Stalled", "False", "NothingHinders", "nothing hinders it")
