"""How deep a JSON value is: what strangers send is bounded before anything recurses into it."""

from collections.abc import Mapping
from typing import Any


def is_deeper_than(value: Any, levels: int) -> bool:  # noqa: ANN401  (any JSON value)
    """Whether lists and mappings stand in each other more than so many times."""
    layer = [value]
    for _ in range(levels + 1):
        layer = [
            inner
            for each in layer
            if isinstance(each, Mapping | list)
            for inner in (each.values() if isinstance(each, Mapping) else each)
            if isinstance(inner, Mapping | list)
        ]
        if not layer:
            return False
    return True
