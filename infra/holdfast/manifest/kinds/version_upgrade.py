"""Documents of older versions as documents of the newest, and errors in their own words. Pure.

Every value keeps the place where it was written, so that a fault is told at its line, and under the
path that stands there. Source of what moved: `versions`.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from holdfast.errors import ManifestError, SourceLocation
from holdfast.kube.paths import ABSENT, Path, format_path, parse_path, value_at
from holdfast.manifest.kinds.kinds import AGENT_TEAM_KIND
from holdfast.manifest.kinds.versions import OLDER_VERSIONS, FieldPath, Move, OlderVersion
from holdfast.manifest.text.documents import Document
from holdfast.manifest.text.origin import Origin

_UNKNOWN_FIELD: Final = "expected a known field"

Names = Mapping[Path, Path]


@dataclass(frozen=True, slots=True)
class OlderDocument:
    """A document that was written in an older version.

    Attributes:
        place: Where its apiVersion is written.
        version: That version.
        first_line: Its first line in its file.
        last_line: Its last line; 0 for the file's last.
        names: Step by step: fields of the newer version to those of the older; and the same of
            mappings that were made around one field, in which nothing else stands.
        fields: Fields that this version has and the newest has not.
    """

    place: SourceLocation
    version: OlderVersion
    first_line: int
    last_line: int
    names: tuple[tuple[Names, Names], ...]
    fields: tuple[FieldPath, ...]

    def holds(self, place: SourceLocation) -> bool:
        """Whether a place lies in it."""
        is_before_end = not self.last_line or place.line <= self.last_line
        return place.file == self.place.file and self.first_line <= place.line and is_before_end

    def written(self, path: Path) -> Path:
        """A field's path in the newest version as the document has it."""
        for names, made in reversed(self.names):
            path = made[path] if path in made else _renamed(path, names)
        return path


@dataclass(frozen=True, slots=True)
class Converted:
    """The documents of one file in the newest version, and what cannot be converted."""

    documents: Sequence[Document]
    older: tuple[OlderDocument, ...] = ()
    errors: tuple[ManifestError, ...] = ()


def converted(documents: Sequence[Document]) -> Converted:
    """The documents of one file, in their order, in the newest version; no argument is changed.

    Laws: documents of the newest version, and of none that is known, come back as they are; so
    converting what was converted changes nothing.
    """
    if not any(_version_of(each.data) for each in documents):
        return Converted(documents)
    newest: list[Document] = []
    older: list[OlderDocument] = []
    errors: list[ManifestError] = []
    for index, document in enumerate(documents):
        version = _version_of(document.data)
        if version is None:
            newest.append(document)
            continue
        following = documents[index + 1].origin.line if index + 1 < len(documents) else 0
        step = _Step(document)
        while version is not None:
            step.to_next(version)
            version = _version_of(step.data)
        newest.append(Document(step.data, step.origin, frozenset(step.faulty)))
        older.append(step.record(document, max(following - 1, 0)))
        errors += step.errors
    return Converted(newest, tuple(older), tuple(errors))


def in_own_words(error: ManifestError, older: Iterable[OlderDocument]) -> ManifestError:
    """An error about the newest version, in the words of the document that it lies in."""
    document = next((each for each in older if each.holds(error.location)), None)
    if document is None or not error.path:
        return error
    path = parse_path(error.path)
    written = document.written(path)
    remedy = error.remedy
    if remedy == f"add {path[-1]}":
        remedy = f"add {written[-1]}"
    if error.expected == _UNKNOWN_FIELD:
        known = [each[-1] for each in document.fields if each[:-1] == path[:-1]]
        if close := difflib.get_close_matches(str(path[-1]), known, n=1):
            remedy = f'did you mean "{close[0]}"?'
    return ManifestError(
        error.location,
        format_path(written),
        expected=error.expected,
        found=error.found,
        remedy=remedy,
        rule=error.rule,
    )


class _Step:
    """A document on its way from version to version."""

    def __init__(self, document: Document) -> None:
        self.data: dict[str, Any] = document.data
        self.origin = document.origin
        self.faulty = set(document.faulty_paths)
        self.errors: list[ManifestError] = []
        self._names: list[tuple[Names, Names]] = []
        self._fields: list[FieldPath] = []

    def to_next(self, version: OlderVersion) -> None:
        """Move every field that the next version has elsewhere."""
        moves = version.moves.get(str(self.data.get("kind")), ())
        for move in moves:
            self._refuse_new_name(move, version)
        made: dict[Path, Path] = {}
        for move in moves:
            self._move(move, made)
        self.data = {**self.data, "apiVersion": version.next_version}
        names: dict[Path, Path] = {move.new: move.old for move in moves}
        if self.data.get("kind") == AGENT_TEAM_KIND:
            # What a team hands down is told under the member's path.
            names |= {_handed_down(move.new): _handed_down(move.old) for move in moves}
        self._names.append((names, made))
        self._fields += [move.old for move in moves]
        forward = {old: new for new, old in names.items()}
        self.faulty |= {format_path(_renamed(parse_path(each), forward)) for each in self.faulty}

    def record(self, document: Document, last_line: int) -> OlderDocument:
        """What is remembered of the document as it was written."""
        place = document.origin.nearest(("apiVersion",)).value_location
        version = OLDER_VERSIONS[document.data["apiVersion"]]
        fields, names = tuple(self._fields), tuple(self._names)
        return OlderDocument(place, version, document.origin.line, last_line, names, fields)

    def _refuse_new_name(self, move: Move, version: OlderVersion) -> None:
        if value_at(self.data, move.new) is ABSENT:
            return
        self._fault(
            move.new,
            expected=f"expected a known field of {version.api_version}",
            found=repr(move.new[-1]),
            remedy=f"write {format_path(move.old)}, or apiVersion: {version.next_version}",
        )

    def _move(self, move: Move, made: dict[Path, Path]) -> None:
        value = value_at(self.data, move.old)
        if value is ABSENT:
            return
        above = move.new[:-1]
        holder = value_at(self.data, above)
        if holder is not ABSENT and not isinstance(holder, dict):
            self._fault(
                above,
                expected="expected a mapping",
                remedy=f"correct it, or remove it: {format_path(move.old)} belongs into it",
            )
        if holder is ABSENT:
            made[above] = move.old
        place = self.origin.nearest(move.old)
        self.data, self.origin = _without(self.data, self.origin, move.old)
        if holder is ABSENT or isinstance(holder, dict):
            self.data, self.origin = _with(self.data, self.origin, move.new, value, place)

    def _fault(self, path: Path, *, expected: str, remedy: str, found: str = "") -> None:
        place, text = self.origin.nearest(path), format_path(path)
        self.errors.append(
            ManifestError(place.key_location, text, expected=expected, found=found, remedy=remedy)
        )
        self.faulty.add(text)


def _version_of(data: object) -> OlderVersion | None:
    version = data.get("apiVersion") if isinstance(data, dict) else None
    return OLDER_VERSIONS.get(version) if isinstance(version, str) else None


def _renamed(path: Path, names: Names) -> Path:
    """A path whose beginning has another name."""
    for name, other in names.items():
        if path[: len(name)] == name:
            return (*other, *path[len(name) :])
    return path


def _handed_down(path: FieldPath) -> FieldPath:
    return tuple(part for part in path if part != "defaults")


def _without(
    data: dict[str, Any], origin: Origin, path: FieldPath
) -> tuple[dict[str, Any], Origin]:
    """The same without the field at a path that it has."""
    first, *rest = path
    children = dict(origin.children) if isinstance(origin.children, dict) else {}
    if not rest:
        children.pop(first, None)
        return {k: v for k, v in data.items() if k != first}, origin.with_children(children)
    below, place = _without(data[first], children[first], tuple(rest))
    return {**data, first: below}, origin.with_child(first, place)


def _with(
    data: dict[str, Any],
    origin: Origin,
    path: FieldPath,
    value: Any,  # noqa: ANN401 - raw data of any shape
    place: Origin,
) -> tuple[dict[str, Any], Origin]:
    """The same with a value at a path; a mapping made around it stands where the value does."""
    first, *rest = path
    if rest:
        made = Origin(
            place.file, place.line, place.column, place.key_line, place.key_column, children={}
        )
        holder = data.get(first, {})
        above = origin.child(first) or made
        value, place = _with(holder, above, tuple(rest), value, place)
    return {**data, first: value}, origin.with_child(first, place)
