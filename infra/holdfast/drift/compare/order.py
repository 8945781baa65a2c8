"""Where the order of a keyed list means something, although its items are told apart by a key.

Sources: core/v1 PodSpec (init containers run one after another; containers are started in list
order, and a postStart hook holds back the next one); core/v1 EnvVar (a reference sees only
variables defined before it); admissionregistration/v1 (mutating webhooks are called in order).
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from holdfast.kube.objects import mapping_at
from holdfast.kube.paths import Path

_VARIABLE: Final = re.compile(r"\$\(([^()]+)\)")
_ONE_AFTER_ANOTHER: Final = frozenset({"initContainers"})
"""Fields of a pod spec, wherever one stands: custom resources carry pod templates, too."""
_CALLED_IN_ORDER: Final = "admissionregistration.v1.MutatingWebhook"
_VARIABLES: Final = "core.v1.EnvVar"


def is_order_drift(
    path: Path, item_notation: str, want: Sequence[Any], have: Sequence[Any], is_reordered: bool
) -> bool:
    """Whether two lists order the items that they share so that it means something else.

    Args:
        path: Where the list stands.
        item_notation: Type of its items, as in the table of types; empty where it is not known.
        want: Declared items.
        have: Live items.
        is_reordered: Whether the shared items stand in another order at all.
    """
    if item_notation == _VARIABLES:
        return _references_reordered(want, have)
    if not is_reordered:
        return False
    field = path[-1] if path else ""
    return (
        field in _ONE_AFTER_ANOTHER
        or item_notation == _CALLED_IN_ORDER
        or (field == "containers" and any(map(_holds_back, (*want, *have))))
    )


def _holds_back(container: object) -> bool:
    return isinstance(container, Mapping) and bool(
        mapping_at(container, "lifecycle").get("postStart")
    )


def _references_reordered(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """Whether two lists of environment variables resolve `$(NAME)` differently by their order.

    A reference sees only variables defined before it.
    """
    places = _places(second)
    own = _places(first)
    for name, place in own.items():
        value = first[place].get("value")
        for used in _VARIABLE.findall(value) if isinstance(value, str) else ():
            if used in own and used in places and name in places:
                was_before = own[used] < place
                if was_before != (places[used] < places[name]):
                    return True
    return False


def _places(variables: Sequence[Any]) -> dict[str, int]:
    return {
        str(variable.get("name")): place
        for place, variable in enumerate(variables)
        if isinstance(variable, Mapping)
    }
