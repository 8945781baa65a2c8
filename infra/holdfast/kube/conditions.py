"""Conditions of a resource: what is true of it, why, and since when. Pure.

Source: Kubernetes API conventions, "Typical status properties".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

Truth = Literal["True", "False", "Unknown"]
MOST_CHARACTERS: Final = 1024
"""A message is for people: more of it is in the report of a scan."""
_MOST_NAMED: Final = 3


@dataclass(frozen=True)
class Condition:
    """One condition.

    Attributes:
        reason: One word in CamelCase, for programs.
        message: For people; never a secret.
    """

    type: str
    status: Truth
    reason: str
    message: str = ""


def condition_in(status: Mapping[str, Any], wanted: str) -> Mapping[str, Any]:
    """A condition of a live status; empty when it is not there."""
    found = status.get("conditions")
    listed = found if isinstance(found, list) else []
    return next((dict(each) for each in listed if each.get("type") == wanted), {})


def join_names(names: Sequence[str]) -> str:
    """Names or short texts as a message holds them: the first few, and how many more there are."""
    more = len(names) - _MOST_NAMED
    return "; ".join(names[:_MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")


def with_times(
    conditions: Iterable[Condition],
    before: Sequence[Mapping[str, Any]],
    generation: int | None,
    now: str,
) -> list[dict[str, Any]]:
    """Conditions as a status holds them.

    Law: the time of a condition changes when its status does, and not otherwise.

    Args:
        conditions: As they are now.
        before: As the status held them.
        generation: Of the spec that they are about; None where there is none.
        now: RFC 3339.
    """
    old = {str(each.get("type")): each for each in before}
    about = {} if generation is None else {"observedGeneration": generation}
    return [
        {
            "type": each.type,
            "status": each.status,
            "reason": each.reason,
            "message": each.message[:MOST_CHARACTERS],
            **about,
            "lastTransitionTime": _since(each, old.get(each.type), now),
        }
        for each in conditions
    ]


def _since(condition: Condition, before: Mapping[str, Any] | None, now: str) -> str:
    is_same = before is not None and before.get("status") == condition.status
    return str(before["lastTransitionTime"]) if before is not None and is_same else now


def turned(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]
) -> tuple[Mapping[str, Any], ...]:
    """The conditions whose status or reason is another one than before."""
    old = {each.get("type"): (each.get("status"), each.get("reason")) for each in before}
    return tuple(
        each for each in after if old.get(each["type"]) != (each["status"], each["reason"])
    )
