"""What people declare about an agent beyond what Kubernetes has a field for.

A declaration is an annotation or a label: an agent's `spec.governance` stands on all of its objects
as `holdfast.dev/*`. Which keys are asked for is a parameter of each rule.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from holdfast_policies.model.finding import Breach, Finding
from holdfast_policies.model.parts import each
from holdfast_policies.model.subject import Subject, key_path, mapping, text

DECLARATIONS: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}, "minItems": 1}
"""Schema of a parameter that lists keys."""


def declared(metadata: Mapping[str, Any], key: str) -> str:
    """What an object declares under a key, as annotation or label; empty when nothing."""
    return text(mapping(metadata.get("annotations")).get(key)) or text(
        mapping(metadata.get("labels")).get(key)
    )


def undeclared(subject: Subject, keys: Iterable[str]) -> Iterator[Finding]:
    """One breach for each key under which an object declares nothing."""

    def check_key(key: str, _: str) -> Iterator[Breach]:
        if not declared(subject.metadata, key):
            yield Breach(key_path("metadata.annotations", key), got="nothing", required="a value")

    yield from each(list(keys), "", check_key)
