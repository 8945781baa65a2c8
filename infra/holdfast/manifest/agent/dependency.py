"""What must run before an agent starts."""

from typing import Annotated, Literal

from holdfast.manifest.text.faults import branch, chosen_by
from holdfast.manifest.types.conditions import Given, is_
from holdfast.manifest.types.names import LabelName
from holdfast.manifest.types.rules import Rule, Ruled
from holdfast.manifest.types.values import Port

DependencyKind = Literal["Agent", "MCPServer", "ModelConfig", "Service"]


class Dependency(Ruled):
    """Something that an agent needs from its first moment on."""

    RULES = (
        Rule(
            "port-of-a-service",
            is_("kind", "Service").equals(Given("port")),
            "expected port with kind: Service, and only there",
            shown=("port",),
            remedy="the ports of declared objects are known",
        ),
    )

    kind: DependencyKind | None = None
    """Kind; default the one declared object of that name."""
    namespace: LabelName | None = None
    """Namespace; default the agent's."""
    name: LabelName
    """Name."""
    port: Port | None = None
    """Port of a Service, which no manifest declares; required there, refused elsewhere."""
    wait: bool = True
    """Hold the agent back, in an init container, until it listens; default true."""


def _shape(value: object) -> str | None:
    if isinstance(value, str):
        return "name"
    return "dependency" if isinstance(value, dict | Dependency) else None


DependencyReference = Annotated[
    Annotated[LabelName, branch("name")] | Annotated[Dependency, branch("dependency")],
    chosen_by(_shape, "expected a name or {kind, namespace, name, port, wait}"),
]
"""A bare name, or `{kind, namespace, name, port, wait}`."""


def as_dependency(reference: "str | Dependency") -> Dependency:
    """A reference with its parts told apart."""
    return Dependency(name=reference) if isinstance(reference, str) else reference


def address_variable(name: str) -> str:
    """Variable that holds the address of a dependency: `vector-store` gives VECTOR_STORE_URL."""
    return f"{name.upper().replace('-', '_')}_URL"
