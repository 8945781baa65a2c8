"""Resources taken out of a stack's record: the engine owns them no more, nothing happens to them.

As `pulumi state delete` for each of them, in one write: the state is exported, edited as plain JSON
with its secrets encrypted, and imported, under the engine's own lock and checks.
"""

from collections.abc import Collection, Mapping
from typing import Any

from holdfast.adapters.engine.stack import Stack
from holdfast.errors import EngineError

_REFERENCES = ("dependencies", "propertyDependencies", "deletedWith", "replaceWith")


def remove_from_state(stack: Stack, urns: Collection[str]) -> int:
    """Take resources out of the record of a stack, protected ones as well.

    Args:
        stack: The stack.
        urns: Resources; those that are not recorded do not matter.

    Returns:
        How many were taken out.

    Raises:
        EngineError: an update is under way or was interrupted, or the state cannot be written.
    """
    state = stack.state()
    resources = (state.get("deployment") or {}).get("resources") or []
    if (state.get("deployment") or {}).get("pending_operations"):
        raise EngineError(
            f"an update of stack {stack.name} was interrupted",
            remedy="run `pulumi cancel`, then `holdfast up`, then this again",
        )
    kept = without(resources, set(urns))
    count = len(resources) - len(kept)
    if not count:
        return 0
    state["deployment"]["resources"] = kept
    stack.import_state(state)
    return count


def without(resources: list[dict[str, Any]], urns: Collection[str]) -> list[dict[str, Any]]:
    """Recorded resources without some of them, and without what refers to those. Pure.

    A resource whose parent goes would be an orphan: it goes, too.
    """
    gone = set(urns)
    for each in resources:  # parents stand before their children
        if each.get("parent") in gone:
            gone.add(str(each["urn"]))
    return [_unreferring(each, gone) for each in resources if each["urn"] not in gone]


def _unreferring(resource: Mapping[str, Any], gone: set[str]) -> dict[str, Any]:
    cleaned = dict(resource)
    for key in _REFERENCES:
        value = cleaned.get(key)
        if isinstance(value, list):
            cleaned[key] = [each for each in value if each not in gone]
        elif isinstance(value, dict):
            cleaned[key] = {
                name: [each for each in urns or () if each not in gone]
                for name, urns in value.items()
            }
        elif value in gone:
            del cleaned[key]
    return cleaned
