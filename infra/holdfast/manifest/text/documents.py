"""Strict YAML: text to plain data with the origin of every value. The one reader of manifests.

Works on the parser's event stream, which is safe at any nesting, and refuses before composing what
could hurt or surprise: anchors, merge keys, tags, duplicate keys, ambiguous scalars. JSON is YAML
too, and takes the same way.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from holdfast.errors import ManifestError, SourceLocation
from holdfast.kube.paths import Segment, format_path
from holdfast.manifest.text.origin import Origin
from holdfast.manifest.text.plain_scalars import Ambiguous, read_plain
from holdfast.manifest.text.syntax_faults import syntax_fault

MAX_DEPTH = 64
MAX_VALUES = 10_000
MAX_DOCUMENTS = 200
MAX_ERRORS = 100
_DAY_FIELD = ("spec", "expires")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MEAN_TRUE = frozenset({"y", "yes", "on"})
_TYPOGRAPHIC_QUOTES = frozenset("\u201c\u201d\u201e\u2018\u2019\u201a")
_MOST_EXACT = 10**15
_NUMBERS = frozenset({"base-60 int", "float", "int", "octal int"})

# The C parser is ten times faster; PyYAML built without libyaml still works. Only events are asked
# of it: nothing is ever constructed.
_Parser: Any = getattr(yaml, "CLoader", yaml.Loader)


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """One YAML document.

    Attributes:
        data: Plain data: dict with text keys, list, str, int, float, bool, None.
        origin: Where each value was written.
        faulty_paths: Field paths whose fault is reported already.
    """

    data: Any
    origin: Origin
    faulty_paths: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class FileContent:
    """What could be read of a file, and all that is wrong with its YAML.

    Attributes:
        is_whole: The file was read to its end: nothing more stands in it.
    """

    documents: tuple[Document, ...]
    errors: tuple[ManifestError, ...]
    is_whole: bool = True


def read_documents(text: str, file: str) -> FileContent:
    """Read all documents of a text; faults are returned, not raised.

    Args:
        text: Decoded text, as `source_text.read_text` returns it.
        file: Name of the file for people.
    """
    reader = _DocumentReader(text, file)
    documents: list[Document] = []
    try:
        documents.extend(reader.documents())
    except _UnreadableError as stop:
        reader.errors.append(stop.fault)
    except yaml.YAMLError as error:
        reader.errors.append(syntax_fault(error, text, file, _Parser))
    else:
        return FileContent(tuple(documents), tuple(reader.errors))
    return FileContent(tuple(documents), tuple(reader.errors), is_whole=False)


def _as_decimal(text: str) -> str:
    """A number as every version of YAML reads it; empty where they do not agree which it is."""
    bare = text.replace("_", "")
    try:
        number = int(bare, 16) if bare[:2] == "0x" else float(bare)
    except ValueError:
        return ""
    is_plain = abs(number) < _MOST_EXACT and number == int(number)
    return str(int(number)) if is_plain and not re.match("[-+]?0[0-9]", bare) else ""


class _UnreadableError(Exception):
    """Nothing after this fault can be judged."""

    def __init__(self, fault: ManifestError) -> None:
        super().__init__(str(fault))
        self.fault = fault


class _DocumentReader:
    """Turns events into data and origins, document by document."""

    def __init__(self, text: str, file: str) -> None:
        self._next_event = _Parser(text).get_event
        self._file = file
        self._path: list[Segment] = []
        self._values = 0
        self.errors: list[ManifestError] = []

    def documents(self) -> Iterator[Document]:
        self._next_event()  # stream start
        count = 0
        while type(self._next_event()) is yaml.DocumentStartEvent:
            reported = len(self.errors)
            event = self._next_event()
            count += 1
            if count > MAX_DOCUMENTS:
                raise self._stop(event, f"expected at most {MAX_DOCUMENTS} documents in a file")
            data, origin = self._read(event, 1)
            self._next_event()  # document end
            faulty = frozenset(error.path for error in self.errors[reported:])
            yield Document(data, origin, faulty)

    def _read(self, event: Any, depth: int) -> tuple[Any, Origin]:  # noqa: ANN401 - events of the C parser share no typed base
        kind = type(event)
        self._values += 1
        if self._values > MAX_VALUES:
            raise self._stop(event, f"expected at most {MAX_VALUES} values in a file")
        if kind is yaml.AliasEvent or event.anchor is not None:
            sign = "*" if kind is yaml.AliasEvent else "&"
            remedy = f"write the value out at each place, or quote a text that begins with {sign!r}"
            raise self._stop(event, "anchors are not allowed", remedy=remedy)
        if event.tag is not None:
            remedy = "remove the tag; quote a text that begins with '!'"
            raise self._stop(event, "tag not allowed", found=event.tag[:60], remedy=remedy)
        mark = event.start_mark
        origin = Origin(self._file, mark.line + 1, mark.column + 1)
        if kind is yaml.ScalarEvent:
            return self._scalar(event, origin), origin
        if depth > MAX_DEPTH:
            raise self._stop(event, f"expected at most {MAX_DEPTH} levels of nesting")
        if kind is yaml.MappingStartEvent:
            return self._mapping(origin, depth), origin
        return self._sequence(origin, depth), origin

    def _scalar(self, event: Any, origin: Origin) -> Any:  # noqa: ANN401 - see above
        text: str = event.value
        if not event.implicit[0]:
            return text
        value = read_plain(text)
        if type(value) is str:
            if text[0] in _TYPOGRAPHIC_QUOTES and text[-1] in _TYPOGRAPHIC_QUOTES:
                self._report(
                    event,
                    "expected plain quotes",
                    found=text[:60],
                    remedy='write " in place of typographic quotes',
                )
            return value
        if type(value) is Ambiguous:
            if tuple(self._path) == _DAY_FIELD and _DAY.fullmatch(text):
                return text  # the same day, whether it is read as text or as a date
            remedy = f'quote it: "{text}"'
            if value.read_as in _NUMBERS:
                remedy += f", or write {_as_decimal(text) or 'a plain decimal number'}"
            elif value.read_as == "bool":
                remedy += f", or write {'true' if text.lower() in _MEAN_TRUE else 'false'}"
            found = f"{text[:60]} (read as {value.read_as})"
            self._report(event, "expected quotes around text", found=found, remedy=remedy)
            return text
        origin.written = text
        return value

    def _sequence(self, origin: Origin, depth: int) -> list[Any]:
        items: list[Any] = []
        children: list[Origin] = []
        path = self._path
        while type(event := self._next_event()) is not yaml.SequenceEndEvent:
            path.append(len(items))
            item, child = self._read(event, depth + 1)
            path.pop()
            items.append(item)
            children.append(child)
        origin.children = children
        return items

    def _mapping(self, origin: Origin, depth: int) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        children: dict[str, Origin] = {}
        path = self._path
        while type(event := self._next_event()) is not yaml.MappingEndEvent:
            key = self._key(event)
            path.append(key)
            of_value = self._next_event()
            value, child = self._read(of_value, depth + 1)
            if value is None and ":" in key and event.implicit[0]:
                self._refuse_joined(event, of_value, key)
            mark = event.start_mark
            child.key_line = mark.line + 1
            child.key_column = mark.column + 1
            if key in entries:
                lines = f"lines {children[key].key_line} and {child.key_line}"
                found = f"key {key[:60]!r} given twice, {lines}"
                self._report(event, "expected each key once", found=found, remedy="remove one")
            else:
                entries[key] = value
                children[key] = child
            path.pop()
        origin.children = children
        return entries

    def _refuse_joined(self, event: Any, of_value: Any, key: str) -> None:  # noqa: ANN401 - see above
        """Refuse `{tier:internal}`, which YAML reads as a key without a value."""
        name, _, text = key.partition(":")
        if of_value.value or not name or not text:
            return
        remedy = f'write "{name[:60]}: {text[:60]}", or quote the key'
        self._report(event, "expected a space after the colon", found=repr(key[:60]), remedy=remedy)

    def _key(self, event: Any) -> str:  # noqa: ANN401 - see above
        expected = "keys must be strings"
        if type(event) is not yaml.ScalarEvent:
            if type(event) is yaml.AliasEvent:
                raise self._stop(event, "anchors are not allowed", remedy="write the key out")
            raise self._stop(
                event,
                expected,
                found="a list or mapping as key",
                remedy="quote a text that begins with '{' or '['; templates are not rendered",
            )
        if event.anchor is not None:
            raise self._stop(event, "anchors are not allowed", remedy="remove the anchor")
        text: str = event.value
        if event.tag is not None:
            raise self._stop(event, "tag not allowed", found=event.tag[:60], remedy="remove it")
        if not event.implicit[0]:
            return text
        if text == "<<":
            raise self._stop(
                event, "merge keys are not allowed", remedy="write the values out at each place"
            )
        value = read_plain(text)
        if type(value) is str:
            return value
        read_as = value.read_as if type(value) is Ambiguous else type(value).__name__
        found = f"{text[:60]} (read as {read_as})" if text else "an empty key (read as null)"
        remedy = f'quote it: "{text[:60]}"' if text else "write a key before the colon"
        self._path.append(text)
        self._report(event, expected, found=found.replace("NoneType", "null"), remedy=remedy)
        self._path.pop()
        return text

    def _report(self, event: Any, expected: str, *, found: str = "", remedy: str = "") -> None:  # noqa: ANN401 - see above
        self.errors.append(self._fault(event, expected, found, remedy))
        if len(self.errors) >= MAX_ERRORS:
            raise self._stop(event, f"expected fewer than {MAX_ERRORS} errors")

    def _stop(
        self,
        event: Any,  # noqa: ANN401 - see above
        expected: str,
        *,
        found: str = "",
        remedy: str = "",
    ) -> _UnreadableError:
        return _UnreadableError(self._fault(event, expected, found, remedy))

    def _fault(self, event: Any, expected: str, found: str, remedy: str) -> ManifestError:  # noqa: ANN401 - see above
        mark = event.start_mark
        place = SourceLocation(self._file, mark.line + 1, mark.column + 1)
        path = format_path(tuple(self._path))
        return ManifestError(place, path, expected=expected, found=found, remedy=remedy)
