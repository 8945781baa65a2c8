"""What every manifest has, whatever its kind."""

from collections.abc import Iterator
from typing import Any, ClassVar, Final, Literal, get_args

from pydantic import Field

from holdfast.kube.syntax import ANNOTATIONS_MAX_BYTES
from holdfast.manifest.text.faults import KEY
from holdfast.manifest.types.manifest_model import ManifestModel
from holdfast.manifest.types.names import AgentName, LabelName, LabelValue, QualifiedKey
from holdfast.manifest.types.rules import Computed, Found, Rule, Ruled, finds

API_VERSION: Final = "holdfast.dev/v1alpha1"
OWN_PREFIXES: Final = ("holdfast.dev/", "app.kubernetes.io/")


_OF_METADATA: Final = "a rule of a custom resource cannot read metadata beyond its name"


class Metadata(Ruled):
    """Name, namespace, labels and annotations of a declared object."""

    RULES = (
        Rule(
            "own-keys",
            Computed(why_not=_OF_METADATA, fields=("labels", "annotations")),
            "keys under holdfast.dev/ and app.kubernetes.io/ are Holdfast's",
            remedy="choose another prefix",
        ),
        Rule(
            "annotations-size",
            Computed(why_not=_OF_METADATA, fields=("annotations",)),
            f"annotations must have at most {ANNOTATIONS_MAX_BYTES} bytes together",
            remedy="move the longest to a file under config",
        ),
    )

    name: AgentName
    """RFC 1123 label of at most 52 characters: role suffixes must still fit."""
    namespace: LabelName | None = None
    """Namespace; default the stack's."""
    labels: dict[QualifiedKey, LabelValue] = Field(default_factory=dict)
    """Labels put on every object, never into selectors."""
    annotations: dict[QualifiedKey, str] = Field(default_factory=dict)
    """Annotations put on every object."""


class Manifest(ManifestModel):
    """A declared object; each kind says its own name and spec."""

    KIND: ClassVar[str]
    """The word in `kind`."""

    api_version: Literal["holdfast.dev/v1alpha1"]
    """Version of this manifest's schema."""
    kind: str
    """Kind of the object."""
    metadata: Metadata
    """Name, namespace, labels and annotations."""
    spec: ManifestModel
    """What it is and needs."""

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:  # noqa: ANN401 - pydantic's protocol
        """Take the name of the kind from the one word that `kind` allows."""
        [cls.KIND] = get_args(cls.model_fields["kind"].annotation)


@finds("own-keys")
def _own_keys(metadata: Metadata) -> Iterator[Found]:
    for field, keys in (("labels", metadata.labels), ("annotations", metadata.annotations)):
        if own := next((key for key in keys if key.startswith(OWN_PREFIXES)), None):
            yield Found((field, own, KEY), repr(own))


@finds("annotations-size")
def _too_large(metadata: Metadata) -> Iterator[Found]:
    size = sum(len(key) + len(value.encode()) for key, value in metadata.annotations.items())
    if size > ANNOTATIONS_MAX_BYTES:
        yield Found(("annotations",), str(size))
