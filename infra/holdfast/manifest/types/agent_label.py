"""The label that ties an object to its agent; known without the models."""

from collections.abc import Mapping
from typing import Any, Final

from holdfast.kube.objects import mapping_at

AGENT_LABEL: Final = "holdfast.dev/agent"


def agent_of(kube_object: Mapping[str, Any]) -> str:
    """Agent that an object belongs to; empty when it names none."""
    return str(mapping_at(kube_object, "metadata", "labels").get(AGENT_LABEL) or "")
