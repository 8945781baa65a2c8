"""What must run before an agent starts."""

from typing import Annotated, Literal, Self

from pydantic import model_validator

from holdfast.manifest.text.faults import branch, chosen_by, fault
from holdfast.manifest.types.values import LabelName, ManifestModel, Port

DependencyKind = Literal["Agent", "MCPServer", "ModelConfig", "Service"]


class Dependency(ManifestModel):
    """Something that an agent needs from its first moment on."""

    kind: DependencyKind | None = None
    """Kind; default the one declared object of that name."""
    namespace: LabelName | None = None
    """Namespace; default the agent's."""
    name: LabelName
    """Name."""
    port: Port | None = None
    """Port of a Service, which no manifest declares; required there, refused elsewhere."""

    @model_validator(mode="after")
    def _port_of_service(self) -> Self:
        if (self.kind == "Service") != (self.port is not None):
            raise fault(
                "expected port with kind: Service, and only there",
                found="no port" if self.port is None else f"port {self.port}",
                remedy="the ports of declared objects are known",
            )
        return self


def _shape(value: object) -> str | None:
    if isinstance(value, str):
        return "name"
    return "dependency" if isinstance(value, dict | Dependency) else None


DependencyReference = Annotated[
    Annotated[LabelName, branch("name")] | Annotated[Dependency, branch("dependency")],
    chosen_by(_shape, "expected a name or {kind, namespace, name, port}"),
]
"""A bare name, or `{kind, namespace, name, port}`."""


def as_dependency(reference: "str | Dependency") -> Dependency:
    """A reference with its parts told apart."""
    return Dependency(name=reference) if isinstance(reference, str) else reference


def address_variable(name: str) -> str:
    """Variable that holds the address of a dependency: `vector-store` gives VECTOR_STORE_URL."""
    return f"{name.upper().replace('-', '_')}_URL"
