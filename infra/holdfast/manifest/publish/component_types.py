"""Type tokens of the components, as programs, previews and states of Pulumi spell them."""

from typing import Final

COMPONENT_PREFIX: Final = "holdfast:index:"


def component_type(component: str) -> str:
    """Type token of a component, such as `holdfast:index:Agent`."""
    return f"{COMPONENT_PREFIX}{component}"


AGENT_TYPE: Final = component_type("Agent")
