"""Which changes of a manifest may make it render to what is live: proposals, to be tried. Pure.

Nothing here decides: whoever tries a proposal renders the changed manifest and keeps it when it
then declares the live value and nothing else has moved.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from holdfast.errors import SourceLocation
from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import ABSENT, Path
from holdfast.manifest.fleet.fleet import DeclaredAgent
from holdfast.manifest.text.origin import Origin
from holdfast.render.provenance.origins import Origins

_IDENTITY: frozenset[Path] = frozenset({("metadata", "name"), ("metadata", "namespace")})


@dataclass(frozen=True)
class Proposal:
    """One change of one file.

    Attributes:
        place: Where the nearest value that is written begins.
        path: What is below it; the index behind the last item of a list adds one.
        value: JSON value; ABSENT takes away what stands there.
        field: The field of the manifest.
    """

    place: SourceLocation
    path: Path
    value: Any
    field: Path


def proposals(
    origins: Origins,
    agent: DeclaredAgent,
    ref: ObjectRef,
    path: Path,
    live: Any,  # noqa: ANN401  (any JSON value)
) -> Iterator[Proposal]:
    """Changes that may declare a live value, the likeliest first.

    Args:
        origins: Of the stack.
        agent: Whose object it is.
        ref: The object.
        path: Field of the object.
        live: Value found there; ABSENT where nothing is.
    """
    origin = origins.origin_of(ref, path)
    behind = origin.path if origin else ()
    for field in (behind, behind[:-1] if live is ABSENT else ()):
        # What nobody wrote, a default, has no place of its own: the agent's name stands for it.
        if len(field) > 1 and field not in _IDENTITY:
            yield _proposal(agent.origin, field, live)
    if live is ABSENT:
        return
    names = [segment for segment in path if isinstance(segment, str)]
    last = path[-1]
    if isinstance(last, str):
        for field in _fields_called(names[-2:], type(agent.agent)):
            yield _proposal(agent.origin, field, live)
        for field in _fields_called(names[-2:-1], type(agent.agent)):
            yield _proposal(agent.origin, (*field, last), live)
    else:
        for field in _fields_called(names[-1:], type(agent.agent)):
            yield _proposal(agent.origin, (*field, _length(agent, field)), live)


def _fields_called(names: list[str], model: type[BaseModel]) -> Iterator[Path]:
    """Fields of a manifest whose path ends in some names, the longest match first."""
    every = list(_field_paths(model, ()))
    for start in range(len(names)):
        wanted = tuple(names[start:])
        yield from (path for path in every if path[-len(wanted) :] == wanted)


def _field_paths(model: type[BaseModel], path: Path) -> Iterator[Path]:
    """Paths of all fields that stand below no list, outer ones first."""
    for name, field in model.model_fields.items():
        here = (*path, field.alias or name)
        yield here
        annotation = field.annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield from _field_paths(annotation, here)


def _length(agent: DeclaredAgent, field: Path) -> int:
    place: Origin | None = agent.origin
    for part in field:
        place = place.child(part) if place else None
    return len(place.children) if place and isinstance(place.children, list) else 0


def _proposal(origin: Origin, field: Path, value: Any) -> Proposal:  # noqa: ANN401  (JSON)
    place = origin
    for depth, part in enumerate(field):
        below = place.child(part)
        if below is None:
            return Proposal(place.value_location, field[depth:], value, field)
        place = below
    return Proposal(place.value_location, (), value, field)
