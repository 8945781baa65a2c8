"""Texts that stand in for outputs while arguments are validated and rendered.

An output has no value when a component is constructed. A text that its field accepts takes its
place, so that everything can be rendered; what depends on it in the rendered objects becomes an
output (`deferred.py`).
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from holdfast.kube.paths import Segment
from holdfast.manifest.types.annotations import (
    alternatives,
    annotations_at,
    constraints_in,
    models_below,
    text_types_in,
)
from holdfast.manifest.types.names import AgentName, HostName
from holdfast.manifest.types.references import EntryOf, RefersTo
from holdfast.manifest.types.rules import Unique
from holdfast.manifest.types.text_type import TextType
from holdfast.manifest.types.values import IMAGE, IMAGE_NAME, Url

VERSIONS: Final = 4
"""Stand-ins of one output: what differs between the objects rendered with each depends on it.

The first two addresses lie outside the cluster, the others inside, each with another port: the
rules of the network differ.
"""
Maker = Callable[[int, int], str]
"""Number of an output and version of its stand-in to the text."""


@dataclass(frozen=True)
class Refused:
    """Why no output may stand somewhere, as the end of a sentence."""

    reason: str


def maker_at(model: type[BaseModel], path: Sequence[Segment]) -> Maker | Refused:
    """What makes the stand-ins of an output at a path of a component's arguments."""
    if len(path) > 1:
        for above in annotations_at(model, path[:-2]):
            marks = constraints_in(above)
            if any(isinstance(mark, Unique) and mark.key == path[-1] for mark in marks):
                return Refused("it identifies an entry, and names resources of the stack")
    found = [maker_of(each) for each in annotations_at(model, path)]
    if not found:
        return Refused("no field of this name is known")
    return next((each for each in found if not isinstance(each, Refused)), found[0])


def identifying_fields(roots: Iterable[type[BaseModel]]) -> frozenset[tuple[str, str]]:
    """Model and field of what tells the items of a list apart, such as the name of a volume."""
    return frozenset(_identifying(models_below(roots)))


def _identifying(models: Iterable[type[BaseModel]]) -> Iterator[tuple[str, str]]:
    for model in models:
        for name, info in model.model_fields.items():
            for mark in (*info.metadata, *constraints_in(info.annotation)):
                if isinstance(mark, Unique) and mark.key:
                    for item in _items_of(model, name):
                        yield item.__name__, mark.key


def _items_of(model: type[BaseModel], field: str) -> Iterator[type[BaseModel]]:
    for annotation in annotations_at(model, (field, 0)):
        for form in alternatives(annotation):
            if isinstance(form, type) and issubclass(form, BaseModel):
                yield form


def is_reference(annotation: Any) -> bool:  # noqa: ANN401 - any annotation
    """Whether a value names what is declared beside it."""
    return any(isinstance(mark, RefersTo | EntryOf) for mark in constraints_in(annotation))


def maker_of(annotation: Any) -> Maker | Refused:  # noqa: ANN401 - any annotation
    """What makes the stand-ins of an output where a value of this type is expected."""
    if is_reference(annotation):
        return Refused("it refers to another declared resource, which decides what is rendered")
    forms = [*alternatives(annotation)]
    if Any in forms:
        return _name
    if str not in forms:
        return Refused(_why_not(forms))
    types = text_types_in(annotation)
    if _AGENT_NAME in types:
        return Refused("it names the agent, and with it resources of the stack")
    for text_type in types:
        if text_type in _OF_TYPE:
            return _OF_TYPE[text_type]
    fitting = _fitting(annotation)
    words = f" ({types[0].words})" if types else ""
    return fitting or Refused(f"it is computed with{words}")


@lru_cache(maxsize=512)
def _fitting(annotation: Any) -> Maker | None:  # noqa: ANN401 - any annotation
    adapter = TypeAdapter(annotation)
    for maker in _MAKERS:
        try:
            for version in range(VERSIONS):
                adapter.validate_python(maker(100, version))
        except ValidationError:
            continue
        return maker
    return None


def _why_not(forms: Sequence[Any]) -> str:
    kinds = {get_origin(form) or form for form in forms}
    if kinds & {int, float}:
        return "a number decides how many objects or how much of a resource are rendered"
    if bool in kinds:
        return "a switch decides what is rendered"
    if Literal in kinds:
        return "a choice decides what is rendered"
    return "a list or mapping decides the shape; each text in it may be an output"


def _name(number: int, version: int) -> str:
    return f"late-{number}-{'abcd'[version]}"


def _digest(number: int, version: int) -> str:
    return f"sha256:{hashlib.sha256(_name(number, version).encode()).hexdigest()}"


def _image(number: int, version: int) -> str:
    return f"registry.invalid/{_name(number, version)}@{_digest(number, version)}"


def _host(number: int, version: int) -> str:
    name = _name(number, version)
    return f"{name}.invalid" if version < VERSIONS // 2 else f"{name}.{name}.svc"


def _url(number: int, version: int) -> str:
    scheme = "https" if version < VERSIONS // 2 else "http"
    port = ":8443" if version % 2 else ""
    return f"{scheme}://{_host(number, version)}{port}/{_name(number, version)}"


def _address(number: int, version: int) -> str:
    # Addresses for benchmarks (RFC 2544): they lead nowhere.
    return f"198.{18 + number % 2}.{number // 2 % 256}.{version + 1}"


_AGENT_NAME: Final = text_types_in(AgentName)[0]
_OF_TYPE: Final[dict[TextType, Maker]] = {
    IMAGE: _image,
    IMAGE_NAME: _image,
    text_types_in(HostName)[0]: _host,
    text_types_in(Url)[0]: _url,
}
_MAKERS: Final[tuple[Maker, ...]] = (
    _name,
    lambda number, version: f"{_name(number, version)}.invalid",
    lambda number, version: f"/{_name(number, version)}",
    _digest,
    _address,
    lambda number, version: f"{_address(number, version)}/32",
    lambda number, version: f"1.0.0-{_name(number, version)}",
)
"""The most common form first; a field gets the first one that its type accepts."""
