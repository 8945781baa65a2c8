"""Plain Kubernetes objects from files: YAML or JSON, several documents, Lists, whole folders.

For what `kubectl` writes and reads, not for agents' manifests (`loader`): as fast as the C parser
goes, typed like Kubernetes' own reader (no dates, no base 60), and still refusing what would hurt.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from holdfast.errors import InputError
from holdfast.kube.objects import KubeObject

MAX_FILE_BYTES: Final = 256 * 1024 * 1024
MAX_DEPTH: Final = 1000
"""Nesting at which the C parser is still safe: it crashes between 20,000 and 25,000."""
_FLATTER: Final = "no Kubernetes object is that deep"
MAX_VALUES: Final = 1_000_000
"""Values of one document, aliases counted each time: they are shared, but compared one by one."""

_SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})
_NESTED_IN_ONE_LINE: Final = re.compile(rb"(?:[-?] ){64}")
_TAG: Final = "tag:yaml.org,2002:"
_RETYPED: Final = {f"{_TAG}{name}" for name in ("timestamp", "int", "float", "value")}
_TAGS: Final = {f"{_TAG}{name}" for name in ("str", "int", "float", "bool", "null", "map", "seq")}
"""Others make of a value what JSON does not know: bytes, dates, sets."""

_INT: Final = (
    r"^[-+]?(?:0[bB]_*[01][01_]*|0[oO]_*[0-7][0-7_]*|0[xX]_*[0-9a-fA-F][0-9a-fA-F_]*"
    r"|0[0-7_]*|[1-9][0-9_]*)$"
)
_FLOAT: Final = r"^[-+]?(?:\.[0-9_]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?$"
"""As Go's YAML reader has them: underscores between digits, other bases by their prefix."""


@dataclass(frozen=True)
class KubeFileObject:
    """One object and the file it came from."""

    kube_object: KubeObject
    file: str


def read_kube_objects(source: Path) -> list[KubeFileObject]:
    """Objects of a file, or of all YAML and JSON files below a folder, in order of the names.

    Raises:
        InputError: nothing is there, a file cannot be read or holds what is no object.
    """
    if source.is_dir():
        files = sorted(
            file for file in source.rglob("*") if file.suffix in _SUFFIXES and file.is_file()
        )
        if not files:
            raise InputError(
                f"{source}: no YAML or JSON file in this folder", remedy="name another one"
            )
    else:
        files = [source]
    return [one for file in files for one in _objects_of(file)]


def read_data(file: Path) -> list[Any]:
    """All documents of a YAML or JSON file as plain data; empty ones left out.

    Raises:
        InputError: the file cannot be read or is neither YAML nor JSON; with line and column.
    """
    text = _read(file)
    if text.lstrip()[:1] in {b"{", b"["}:
        try:
            return [msgspec.json.decode(text)]
        except (msgspec.DecodeError, RecursionError):
            pass  # YAML in flow style begins like JSON
    import yaml  # noqa: PLC0415  (what programs write is JSON, and needs none)

    from holdfast.manifest.text.syntax_faults import syntax_fault  # noqa: PLC0415  (as above)

    _refuse_bombs(file, text)
    try:
        documents = list(yaml.load_all(text, Loader=_loader()))
    except yaml.YAMLError as error:
        raise syntax_fault(error, text.decode(errors="replace"), str(file), _loader()) from error
    except RecursionError as error:
        raise InputError(f"{file}: nested too deeply", remedy=_FLATTER) from error
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        message = f"{file}: expected valid YAML, got a value that its tag (!!) does not allow"
        raise InputError(message, remedy="remove the tag, or correct the value") from error
    if b"*" in text and any(_count(document, {}) > MAX_VALUES for document in documents):
        raise InputError(
            f"{file}: aliases stand for more than {MAX_VALUES} values", remedy="write them out"
        )
    return [document for document in documents if document is not None]


@cache
def _loader() -> Any:  # noqa: ANN401  (the library has no types)
    """Safe loader that types scalars and keys like sigs.k8s.io/yaml: `y` is true, no dates."""
    import yaml  # noqa: PLC0415  (as above)

    fast: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    def construct_mapping(loader: Any, node: Any, deep: bool = False) -> Any:  # noqa: ANN401  (the library's)
        found = fast.construct_mapping(loader, node, deep=deep)
        if all(type(key) is str for key in found):
            return found
        return {_key(key, node): value for key, value in found.items()}

    def _key(key: object, node: Any) -> str:  # noqa: ANN401  (as above)
        if isinstance(key, bool):
            return "true" if key else "false"
        if isinstance(key, str | int):
            return str(key)
        raise yaml.constructor.ConstructorError(
            None, None, f"a key of type {type(key).__name__}", node.start_mark
        )

    def construct_object(loader: Any, node: Any, deep: bool = False) -> Any:  # noqa: ANN401  (as above)
        if node.tag not in _TAGS:
            raise yaml.constructor.ConstructorError(
                None, None, f"the unsupported tag {node.tag[:80]!r}", node.start_mark
            )
        return fast.construct_object(loader, node, deep=deep)

    def construct_number(loader: Any, node: Any) -> float:  # noqa: ANN401  (as above)
        written = loader.construct_scalar(node).replace("_", "")
        number = float(written)
        # What only looks octal, such as 08, is a whole number to kubectl.
        return int(written) if written.lstrip("+-").isdigit() else number

    members = {
        "construct_mapping": construct_mapping,
        "construct_object": construct_object,
        "bool_values": {**fast.bool_values, "y": True, "n": False},
    }
    loader: Any = type("KubeLoader", (fast,), members)
    loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag not in _RETYPED]
        for first, resolvers in fast.yaml_implicit_resolvers.items()
    }
    resolvers = (("bool", r"^[yYnN]$", "yYnN"), ("int", _INT, "-+0123456789"))
    for name, pattern, first in (*resolvers, ("float", _FLOAT, "-+.0123456789")):
        loader.add_implicit_resolver(f"{_TAG}{name}", re.compile(pattern), list(first))
    loader.add_constructor(f"{_TAG}float", construct_number)
    return loader


def _read(file: Path) -> bytes:
    try:
        if not file.is_file():
            raise InputError(f"{file}: no such file", remedy="name a file or a folder")
        if file.stat().st_size > MAX_FILE_BYTES:
            raise InputError(f"{file}: larger than {MAX_FILE_BYTES // 2**20} MiB")
        return file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from error


def _refuse_bombs(file: Path, text: bytes) -> None:
    depth = deepest = 0
    for bracket in re.findall(rb"[\[\]{}]", text) if text.count(b"[") + text.count(b"{") else ():
        depth = max(depth + (1 if bracket in b"[{" else -1), 0)
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH or _NESTED_IN_ONE_LINE.search(text):
        raise InputError(f"{file}: nested too deeply", remedy=_FLATTER)
    if re.search(rb"(?m)^[ \t-]*<<[ \t]*:", text):
        raise InputError(f"{file}: merge keys (<<) are not read", remedy="write the fields out")


def _count(value: Any, counted: dict[int, int]) -> int:  # noqa: ANN401  (any YAML value)
    """Values in a value, those of an alias each time; more than MAX_VALUES for one in itself."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in counted:
        counted[id(value)] = MAX_VALUES + 1  # what is met again inside itself has no end
        parts = value.values() if isinstance(value, dict) else value
        counted[id(value)] = 1 + sum(_count(part, counted) for part in parts)
    return counted[id(value)]


def _objects_of(file: Path) -> Iterator[KubeFileObject]:
    for document in read_data(file):
        for one in _items(document):
            fault = _fault_in(one)
            if fault:
                raise InputError(
                    f"{file}: {fault}", remedy="every object needs apiVersion, kind and a name"
                )
            if not _is_for_kustomize(one):
                yield KubeFileObject(one, str(file))


def _items(document: Any) -> Iterator[Any]:  # noqa: ANN401  (whatever a file holds)
    """The document, or what a List holds, also when lists are nested."""
    is_list = isinstance(document, dict) and str(document.get("kind", "")).endswith("List")
    is_plain = is_list and not {"spec", "data"} & document.keys()
    if is_plain and (document["kind"] == "List" or isinstance(document.get("items"), list)):
        for item in document.get("items") or ():
            yield from _items(item)
    else:
        yield document


def _is_for_kustomize(one: KubeObject) -> bool:
    """Whether only kustomize reads it; Flux has a kind of the same name, which deploys."""
    is_called_so = one["kind"] == "Kustomization"
    return is_called_so and str(one["apiVersion"]).startswith("kustomize.config.k8s.io/")


def _fault_in(one: Any) -> str:  # noqa: ANN401  (whatever a file holds)
    if not isinstance(one, dict):
        return f"expected a Kubernetes object, got {type(one).__name__}"
    for key in ("apiVersion", "kind"):
        if not isinstance(one.get(key), str) or not one[key]:
            return f"an object without {key}"
    metadata = one.get("metadata")
    if _is_for_kustomize(one):
        return ""
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        return f"{one['kind']} without metadata.name"
    return ""
