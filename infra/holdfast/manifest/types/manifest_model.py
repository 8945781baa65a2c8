"""A part of a manifest, its lists, and what it takes over from Kubernetes."""

from typing import Annotated, Any, Final, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, Strict
from pydantic.alias_generators import to_camel

T = TypeVar("T")

MOST_ITEMS: Final = 1000
Items = Annotated[tuple[T, ...], Strict(strict=False), Field(max_length=MOST_ITEMS)]
"""A list in the file, a tuple in the model: frozen models hold no mutable lists.

Its length is limited so that the API server can tell what checking it costs at most.
"""

JsonObject = dict[str, Any]
"""A fragment taken over as it stands, in the words of the Kubernetes API."""


class ManifestModel(BaseModel):
    """A part of a manifest: frozen, strictly typed, camelCase in files and snake_case in Python.

    The docstrings of fields become their descriptions in the published schema; they are read when
    it is written, because reading them here would cost every start a third of its time. For the
    same reason a part that is another's default is made by `model_construct`: `Part()` would build
    its validator at every start, once more than the manifest's own.
    """

    # Where `references` keeps what it found in a part.
    __slots__ = ("_marked_values",)

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        validate_by_alias=True,
        validate_by_name=True,
        # One schema is built for the whole manifest, not one more for each of its parts.
        defer_build=True,
    )

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Itself: nothing changes it, and a default is copied at every validation otherwise."""
        return self
