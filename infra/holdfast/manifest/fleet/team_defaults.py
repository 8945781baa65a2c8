"""Which team an agent belongs to, and what it takes over from it; read from raw data."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from holdfast.errors import ManifestError
from holdfast.kube.paths import format_path
from holdfast.manifest.fleet.overlay import overlay_spec
from holdfast.manifest.kinds.kinds import AgentTeam
from holdfast.manifest.text.documents import Document
from holdfast.manifest.text.origin import Origin

_DEFAULTS = "spec.defaults"


@dataclass(frozen=True, slots=True)
class Membership:
    """What a team says about one of its members.

    Attributes:
        team: Name of the team.
        defaults: Partial spec, the team's owner included; raw data.
        origin: Where those defaults were written.
        faulty_paths: Paths in the member's spec whose fault is reported at the team already.
        place: Where the team names the member.
    """

    team: str
    defaults: dict[str, Any]
    origin: Origin
    faulty_paths: frozenset[str]
    place: Origin

    def under(self, spec: dict[str, Any], origin: Origin) -> tuple[dict[str, Any], Origin]:
        """A member's raw spec with the team's defaults below it; what is missing is missed here."""
        merged, merged_origin = overlay_spec(self.defaults, self.origin, spec, origin)
        return merged, origin.with_children(merged_origin.children or {})


class Memberships:
    """Agents to their teams; an agent that two teams name is a fault."""

    def __init__(self, documents: Iterable[Document], default_namespace: str) -> None:
        self._of_agent: dict[tuple[str, str], Membership] = {}
        self._errors: list[ManifestError] = []
        for document in documents:
            data = document.data if isinstance(document.data, dict) else {}
            if data.get("kind") == AgentTeam.KIND:
                self._read(document, data, default_namespace)

    def of(self, namespace: object, name: object) -> Membership | None:
        """What an agent's team says about it; None when it belongs to none."""
        if isinstance(namespace, str) and isinstance(name, str):
            return self._of_agent.get((namespace, name))
        return None

    def faults(self) -> Iterator[ManifestError]:
        """Agents that more than one team names; both places are told."""
        yield from self._errors

    def _read(self, document: Document, data: dict[str, Any], default_namespace: str) -> None:
        metadata, spec = _mapping(data.get("metadata")), _mapping(data.get("spec"))
        namespace = metadata.get("namespace") or default_namespace
        origin = document.origin.nearest(("spec",))
        defaults, place = _defaults(spec, origin)
        faulty = frozenset(
            f"spec{path.removeprefix(_DEFAULTS)}"
            for path in document.faulty_paths
            if path.startswith(_DEFAULTS)
        )
        members = spec.get("members")
        for index, member in enumerate(members if isinstance(members, list) else []):
            reference = {"name": member} if isinstance(member, str) else _mapping(member)
            key = (reference.get("namespace") or namespace, reference.get("name"))
            if not isinstance(key[0], str) or not isinstance(key[1], str):
                continue  # its validation says so
            here = origin.nearest(("members", index))
            membership = Membership(str(metadata.get("name")), defaults, place, faulty, here)
            first = self._of_agent.setdefault((key[0], key[1]), membership)
            if first.place.file != here.file or first.team != membership.team:
                self._errors.append(_second_team(key[1], index, here, first))


def _defaults(spec: dict[str, Any], origin: Origin) -> tuple[dict[str, Any], Origin]:
    defaults, place = _mapping(spec.get("defaults")), origin.nearest(("defaults",))
    if not isinstance(place.children, dict):
        place = Origin(origin.file, origin.line, origin.column, children={})
    if spec.get("owner") is not None:
        defaults = {"owner": spec["owner"], **defaults}
        place = place.with_child("owner", origin.nearest(("owner",)))
    return defaults, place


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _second_team(name: str, index: int, place: Origin, first: Membership) -> ManifestError:
    return ManifestError(
        place.value_location,
        format_path(("spec", "members", index)),
        expected=f"expected {name!r} in one team only",
        found=f"a member of {first.team!r} as well ({first.place.value_location})",
        remedy="remove it from one of them",
    )
