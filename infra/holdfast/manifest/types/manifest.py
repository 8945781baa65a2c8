"""What every manifest has, whatever its kind."""

from typing import Any, ClassVar, Final, Literal, Self, get_args

from pydantic import Field, model_validator

from holdfast.kube.syntax import ANNOTATIONS_MAX_BYTES
from holdfast.manifest.text.faults import KEY, fault
from holdfast.manifest.types.values import (
    AgentName,
    LabelName,
    LabelValue,
    ManifestModel,
    QualifiedKey,
)

API_VERSION: Final = "holdfast.dev/v1alpha1"
OWN_PREFIXES: Final = ("holdfast.dev/", "app.kubernetes.io/")


class Metadata(ManifestModel):
    """Name, place and marks of a declared object."""

    name: AgentName
    """RFC 1123 label of at most 52 characters: role suffixes must still fit."""
    namespace: LabelName | None = None
    """Namespace; default the stack's."""
    labels: dict[QualifiedKey, LabelValue] = Field(default_factory=dict)
    """Labels put on every object, never into selectors."""
    annotations: dict[QualifiedKey, str] = Field(default_factory=dict)
    """Annotations put on every object."""

    @model_validator(mode="after")
    def _not_ours(self) -> Self:
        for field, keys in (("labels", self.labels), ("annotations", self.annotations)):
            if own := next((key for key in keys if key.startswith(OWN_PREFIXES)), None):
                raise fault(
                    "keys under holdfast.dev/ and app.kubernetes.io/ are Holdfast's",
                    found=repr(own),
                    remedy="choose another prefix",
                    at=(field, own, KEY),
                )
        size = sum(len(key) + len(value.encode()) for key, value in self.annotations.items())
        if size > ANNOTATIONS_MAX_BYTES:
            raise fault(
                f"annotations must have at most {ANNOTATIONS_MAX_BYTES} bytes together",
                found=str(size),
                at=("annotations",),
            )
        return self


class Manifest(ManifestModel):
    """A declared object; each kind says its own name and spec."""

    KIND: ClassVar[str]
    """The word in `kind`."""

    api_version: Literal["holdfast.dev/v1alpha1"]
    """Version of this manifest's schema."""
    kind: str
    """Kind of the object."""
    metadata: Metadata
    """Name, place and marks."""
    spec: ManifestModel
    """What it is and needs."""

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:  # noqa: ANN401 - pydantic's protocol
        """Take the name of the kind from the one word that `kind` allows."""
        [cls.KIND] = get_args(cls.model_fields["kind"].annotation)
