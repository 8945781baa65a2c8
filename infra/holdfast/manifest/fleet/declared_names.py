"""The names that manifests declare, taken from raw data: known even of a faulty manifest."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from holdfast.errors import ManifestError, NameTakenError
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.agent.exposure import GATEWAY
from holdfast.manifest.kinds.kinds import KINDS, MCP_SERVER_KIND
from holdfast.manifest.text.documents import Document
from holdfast.manifest.text.origin import Origin
from holdfast.manifest.types.names import BACKED_UP_AGENT_NAME_MAX

_NAME_PATH = ("metadata", "name")


class DeclaredNames:
    """Kind and name to the namespaces in which it is declared, and where.

    Attributes:
        are_complete: Every file was read to its end, and each of its documents says its kind and
            name. Else a name that is not found may stand in what could not be read.
    """

    def __init__(
        self, documents: Iterable[Document], default_namespace: str, *, are_complete: bool = True
    ) -> None:
        self.are_complete = are_complete
        self._places: dict[str, dict[str, dict[str, list[Origin]]]] = {}
        self._run: dict[str, dict[str, list[Origin]]] = {}
        for document in documents:
            data = document.data if isinstance(document.data, dict) else {}
            metadata: Any = data.get("metadata")
            metadata = metadata if isinstance(metadata, dict) else {}
            kind, name = data.get("kind"), metadata.get("name")
            namespace = metadata.get("namespace") or default_namespace
            if isinstance(kind, str) and isinstance(name, str) and isinstance(namespace, str):
                if kind == AGENT_KIND or _is_hosted(data):
                    of_run = self._run.setdefault(name, {}).setdefault(namespace, [])
                    of_run.append(document.origin.nearest(_NAME_PATH))
                of_name = self._places.setdefault(kind, {}).setdefault(name, {})
                of_name.setdefault(namespace, []).append(document.origin.nearest(_NAME_PATH))
            self.are_complete &= isinstance(name, str) and kind in KINDS

    def of(self, kind: str) -> Mapping[str, Mapping[str, list[Origin]]]:
        """Name to namespace to the places where an object of this kind is declared."""
        return self._places.get(kind, {})

    def faults(self) -> Iterator[ManifestError]:
        """Names given twice; each error names both places."""
        yield from _faults_of_run(self._run)
        for kind, names in self._places.items():
            if kind == AGENT_KIND:
                continue
            for name, namespaces in names.items():
                for namespace, places in namespaces.items():
                    for place in places[1:]:
                        what = f"{kind} {name!r} in namespace {namespace!r}"
                        yield _taken(place, places[0], f"expected one {what}")


def _is_hosted(data: Mapping[str, Any]) -> bool:
    """Whether a manifest declares a tool server that the stack runs."""
    spec = data.get("spec")
    return data.get("kind") == MCP_SERVER_KIND and isinstance(spec, dict) and "image" in spec


def _faults_of_run(names: Mapping[str, Mapping[str, list[Origin]]]) -> Iterator[ManifestError]:
    first: dict[str, tuple[str, Origin]] = {}
    for name, namespaces in names.items():
        if name == GATEWAY:
            place = next(iter(namespaces.values()))[0]
            yield ManifestError(
                place.value_location,
                "metadata.name",
                expected="expected another name",
                found=f"{GATEWAY!r}, which stands for the stack's gateway in ingressFrom",
                remedy="rename it",
            )
        for place in (place for places in namespaces.values() for place in places):
            folded = name[:BACKED_UP_AGENT_NAME_MAX].lower()
            if folded not in first:
                first[folded] = (name, place)
                continue
            other, other_place = first[folded]
            expected = "expected a name that no other agent or tool server of the fleet has"
            if other != name:
                expected += (
                    f" (case and what follows {BACKED_UP_AGENT_NAME_MAX} characters do not count)"
                )
            yield _taken(place, other_place, expected, other)


def _taken(place: Origin, other_place: Origin, expected: str, other: str = "") -> ManifestError:
    return NameTakenError(
        place.value_location,
        other_place.value_location,
        expected=expected,
        found=repr(other) if other else "another",
    )
