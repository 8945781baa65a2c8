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
MAX_VALUES: Final = 1_000_000
"""Values of one document, aliases counted each time: they are shared, but compared one by one."""

_SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})
_NESTED_IN_ONE_LINE: Final = re.compile(rb"(?:[-?] ){64}")
_RETYPED: Final = {f"tag:yaml.org,2002:{name}" for name in ("timestamp", "int", "float")}


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

    _refuse_bombs(file, text)
    try:
        documents = list(yaml.load_all(text, Loader=_loader()))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{file}:{mark.line + 1}:{mark.column + 1}" if mark else str(file)
        message = f"{place}: not valid YAML: {error.problem or error.context}"
        raise InputError(message) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{file}: not valid YAML: {type(error).__name__}") from error
    if b"*" in text and any(_count(document, {}) > MAX_VALUES for document in documents):
        raise InputError(
            f"{file}: aliases stand for more than {MAX_VALUES} values", remedy="write them out"
        )
    return [document for document in documents if document is not None]


@cache
def _loader() -> Any:  # noqa: ANN401  (the library has no types)
    """Safe loader that types scalars like sigs.k8s.io/yaml: dates and base 60 are text."""
    import yaml  # noqa: PLC0415  (as above)

    fast: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader: Any = type("KubeLoader", (fast,), {})
    loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag not in _RETYPED]
        for first, resolvers in fast.yaml_implicit_resolvers.items()
    }
    loader.add_implicit_resolver(
        "tag:yaml.org,2002:int",
        re.compile(r"^[-+]?(?:0|[1-9][0-9]*|0x[0-9a-fA-F]+|0[0-7]+)$"),
        list("-+0123456789"),
    )
    loader.add_implicit_resolver(
        "tag:yaml.org,2002:float",
        re.compile(r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?$"),
        list("-+.0123456789"),
    )
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
        raise InputError(f"{file}: nested too deeply", remedy="no Kubernetes object is that deep")
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
            if one["kind"] != "Kustomization":  # what kustomize reads is not for the cluster
                yield KubeFileObject(one, str(file))


def _items(document: Any) -> Iterator[Any]:  # noqa: ANN401  (whatever a file holds)
    """The document, or what a List holds, also when lists are nested."""
    is_list = isinstance(document, dict) and str(document.get("kind", "")).endswith("List")
    if is_list and isinstance(document.get("items", []), list):
        for item in document.get("items") or ():
            yield from _items(item)
    else:
        yield document


def _fault_in(one: Any) -> str:  # noqa: ANN401  (whatever a file holds)
    if not isinstance(one, dict):
        return f"expected a Kubernetes object, got {type(one).__name__}"
    for key in ("apiVersion", "kind"):
        if not isinstance(one.get(key), str) or not one[key]:
            return f"an object without {key}"
    metadata = one.get("metadata")
    if one["kind"] == "Kustomization":
        return ""
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        return f"{one['kind']} without metadata.name"
    return ""
