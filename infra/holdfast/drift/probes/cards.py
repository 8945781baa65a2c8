"""The agent card that is served against the one that was generated from the manifest."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from holdfast.drift.finding import Severity
from holdfast.drift.probes.outcome import Outcome, Subject, as_declared, differs
from holdfast.kube.objects import canonical_json
from holdfast.kube.paths import ABSENT, ItemKey, Path

CARD_PATH: Final = "/.well-known/agent-card.json"
CARD_KEY: Final = "agent-card.json"
"""Key of the agent's ConfigMap that holds the generated card."""

_UNSIGNED: Final = frozenset({"signatures"})
"""A signature is made at serving time and is no part of what the card says."""


def judge_card(subject: Subject, declared: Mapping[str, Any], served: Mapping[str, Any]) -> Outcome:
    """One finding a field that differs. Pure."""
    outcomes = [
        differs(subject, ("card", *path), _shown(wanted), _shown(found), Severity.MEDIUM)
        for path, wanted, found in _differences(declared, served, ())
        if path[:1] and path[0] not in _UNSIGNED
    ]
    return Outcome.together(outcomes) if outcomes else as_declared()


def _shown(value: Any) -> Any:  # noqa: ANN401  (any JSON value)
    return None if value is ABSENT else value


def _differences(
    wanted: Any,  # noqa: ANN401  (any JSON value)
    found: Any,  # noqa: ANN401  (any JSON value)
    path: Path,
) -> Iterator[tuple[Path, Any, Any]]:
    """Smallest parts that differ; skills are told apart by their id, other lists are whole."""
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        for key in sorted(wanted.keys() | found.keys()):
            yield from _differences(
                wanted.get(key, ABSENT), found.get(key, ABSENT), (*path, str(key))
            )
        return
    before, after = _by_id(wanted), _by_id(found)
    if before is not None and after is not None:
        for key in sorted(before.keys() | after.keys()):
            yield from _differences(
                before.get(key, ABSENT), after.get(key, ABSENT), (*path, ItemKey((("id", key),)))
            )
        return
    if wanted is ABSENT or found is ABSENT or canonical_json(wanted) != canonical_json(found):
        yield path, wanted, found


def _by_id(value: object) -> dict[str, Any] | None:
    """Items of a list by their ids, where each has one of its own."""
    if not isinstance(value, list) or not value:
        return None
    found = {
        str(item["id"]): item for item in value if isinstance(item, Mapping) and item.get("id")
    }
    return found if len(found) == len(value) else None
