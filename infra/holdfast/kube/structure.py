"""What is known about the shape of objects: which lists have keys, what is a quantity, defaults.

Built-in kinds come from `types.json`, a digest of the API server's own OpenAPI documents; custom
resources from their definition, as the server or a file has it. What is not known is `UNKNOWN`:
its lists are atomic, and nothing is said about its fields.
"""

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

import msgspec

from holdfast.kube.objects import api_group

_METADATA_TYPES: Final = "meta.v1."
"""Types that the server holds as Go structs in objects of every kind, custom resources included."""

Default = Any | Callable[[Mapping[str, Any]], Any]
"""A value, or a function of the struct that lacks the field; ABSENT says "none here"."""


class Shape(Enum):
    """What kind of value stands somewhere."""

    STRUCT = "struct"
    MAP = "map"
    LIST = "list"
    SCALAR = "scalar"
    UNKNOWN = "unknown"


class ListType(Enum):
    """How the items of a list are identified.

    ATOMIC: by position. SET: by value. KEYED: by merge keys. UNORDERED: by value, where order
    means nothing although the server treats the list as atomic (the rules of a Role).
    """

    ATOMIC = "atomic"
    SET = "set"
    KEYED = "keyed"
    UNORDERED = "unordered"


class Structure:
    """One place in the tree of types; its children are made when first asked for.

    Attributes:
        notation: As in `openapi`, without the star.
        is_pointer: The server keeps the difference between absent and zero.
        omits_zero: The server stores a zero value as nothing.
        is_atomic: Written as a whole by server-side apply.
        keys: Merge keys of a keyed list.
        defaults: Field to default, for structs.
    """

    __slots__ = (
        "_children",
        "_fields",
        "_table",
        "defaults",
        "is_atomic",
        "is_pointer",
        "keys",
        "list_type",
        "notation",
        "omits_zero",
        "shape",
    )

    def __init__(self, notation: str, table: "TypeTable") -> None:
        self.is_pointer = notation.startswith("*")
        self.omits_zero = table.omits_zero and not self.is_pointer
        self.notation = notation = notation.removeprefix("*")
        self._table = table
        self._children: dict[str, Structure] = {}
        self._fields: dict[str, str] = {}
        self.defaults: Mapping[str, Default] = {}
        self.keys: tuple[str, ...] = ()
        self.list_type = ListType.ATOMIC
        self.is_atomic = False
        self.shape = Shape.SCALAR
        if notation.startswith("["):
            self._become_list(notation)
        elif notation.startswith("{"):
            self.shape = Shape.MAP
            self.is_atomic = notation.endswith("!")
        elif notation in table.types:
            self.shape = Shape.STRUCT
            self._fields = table.types[notation]
            self.is_atomic = "!" in self._fields
            self.defaults = table.defaults.get(notation, {})
        elif notation == "any" or "." in notation:
            self.shape = Shape.UNKNOWN

    def _become_list(self, notation: str) -> None:
        self.shape = Shape.LIST
        kind = notation[notation.rindex("]") + 1 :]
        if kind in {"set", "unordered", ""}:
            self.list_type = ListType(kind or "atomic")
            self.is_atomic = kind != "set"
        else:
            self.list_type, self.keys = ListType.KEYED, tuple(kind.split(","))

    def field(self, name: str) -> "Structure":
        """Structure of a field of a struct or of a value of a map."""
        child = self._children.get(name)
        if child is None:
            child = self._children[name] = self._make_child(name)
        return child

    def _make_child(self, name: str) -> "Structure":
        if self.shape is Shape.MAP:
            value = Structure(self.notation.rstrip("!")[1:-1], self._table)
            value.omits_zero = False  # a key with an empty value is there
            return value
        notation = self._fields.get(name)
        if notation is None:
            return UNKNOWN
        field = Structure(notation, self._table)
        if self.notation.startswith(_METADATA_TYPES):
            field.omits_zero = not field.is_pointer
        return field

    @property
    def item(self) -> "Structure":
        """Structure of the items of a list."""
        child = self._children.get("[]")
        if child is None:
            child = self._children["[]"] = (
                Structure(self.notation[1 : self.notation.rindex("]")], self._table)
                if self.shape is Shape.LIST
                else UNKNOWN
            )
        return child

    def knows(self, name: str) -> bool:
        """Whether the type names this field, so that absent is its default unless it has one."""
        return self.shape is Shape.MAP or name in self._fields

    @property
    def names(self) -> tuple[str, ...]:
        """Fields that the type names."""
        return tuple(name for name in self._fields if name not in {"!", "*"})

    def walk(self, path: tuple[object, ...]) -> Iterator["Structure"]:
        """Structures from here along a path, this one first."""
        place = self
        yield place
        for segment in path:
            place = place.field(segment) if isinstance(segment, str) else place.item
            yield place


class TypeTable:
    """Types and their defaults, by name, and the kinds that are made of them.

    Attributes:
        omits_zero: These are Go structs: a zero that is no pointer is not stored.
    """

    def __init__(
        self,
        types: dict[str, dict[str, str]],
        defaults: Mapping[str, Mapping[str, Default]],
        roots: dict[tuple[str, str], str],
        *,
        omits_zero: bool = False,
    ) -> None:
        self.types = types
        self.defaults = defaults
        self.omits_zero = omits_zero
        self._roots = roots
        self._structures: dict[tuple[str, str], Structure] = {}

    def structure_of(self, api_version: str, kind: str) -> Structure | None:
        """Structure of a kind's objects; None where the table has no such kind."""
        key = (api_version, kind)
        if key not in self._structures and key in self._roots:
            self._structures[key] = Structure(self._roots[key], self)
        return self._structures.get(key)

    @cached_property
    def of_unknown_kind(self) -> Structure:
        """Structure of an object of which nothing is known but that it has metadata."""
        types = {name: self.types[name] for name in self.types if name.startswith("meta.v1.")}
        types["unknown"] = {"metadata": "meta.v1.ObjectMeta", "*": "any"}
        return Structure("unknown", TypeTable(types, {}, {}))


UNKNOWN: Final = Structure("any", TypeTable({}, {}, {}))


class KindEntry(msgspec.Struct, frozen=True, array_like=True):
    """How a built-in kind is called in the API.

    Attributes:
        plural: Name in URLs, such as `deployments`.
        is_namespaced: False for kinds that exist once a cluster.
        type_name: Name in the table of types.
    """

    plural: str
    is_namespaced: bool
    type_name: str


class _Builtin(msgspec.Struct, frozen=True):
    kubernetes: str
    kinds: dict[str, dict[str, KindEntry]]
    types: dict[str, dict[str, str]]


@cache
def builtin() -> _Builtin:
    """The packaged digest of the built-in types; read once."""
    data = Path(__file__).with_name("types.json").read_bytes()
    return msgspec.json.decode(data, type=_Builtin)


def kubernetes_kind(api_version: str, kind: str) -> KindEntry:
    """Entry of a kind that every cluster serves.

    Raises:
        KeyError: Kubernetes has no such kind.
    """
    entry = builtin_kind(api_version, kind)
    if entry is None:
        raise KeyError(f"{kind} ({api_version})")
    return entry


def is_namespaced(api_version: str, kind: str) -> bool | None:
    """Whether objects of a built-in kind lie in namespaces; None where that is not known."""
    entry = builtin_kind(api_version, kind)
    return None if entry is None else entry.is_namespaced


def builtin_kind(api_version: str, kind: str) -> KindEntry | None:
    """Entry of a built-in kind, also when it is asked for in a version that is not in the table."""
    group = builtin().kinds.get(api_version)
    if group is not None:
        return group.get(kind)
    wanted = api_group(api_version)
    same_group = (
        kinds for version, kinds in builtin().kinds.items() if api_group(version) == wanted
    )
    return next((kinds[kind] for kinds in same_group if kind in kinds), None)
