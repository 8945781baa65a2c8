"""What people declare about an agent beyond what Kubernetes has a field for.

A declaration is an annotation or a label: an agent's own reach all of its objects, so one line in
its manifest is enough. Which keys are asked for is a parameter of each rule.
"""

from collections.abc import Mapping
from typing import Any

from holdfast_policies.subject import mapping, text

DECLARATIONS: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}, "minItems": 1}
"""Schema of a parameter that lists keys."""


def declared(metadata: Mapping[str, Any], key: str) -> str:
    """What an object declares under a key, as annotation or label; empty when nothing."""
    return text(mapping(metadata.get("annotations")).get(key)) or text(
        mapping(metadata.get("labels")).get(key)
    )
