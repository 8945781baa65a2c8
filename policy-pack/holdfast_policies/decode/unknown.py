"""Values the engine does not know yet, made impossible to overlook.

A rule that reads an unknown value cannot decide. Python offers no way to make `value is True` or
`value is None` fail, so the containers guard their own reads: a mapping or list that directly
holds an unknown raises `UndeterminedError` when that very value is read. Whatever slips past them
meets an `Unknown`, on which every operation raises as well. Rules need no code for any of this:
`parts` catches the signal around each part, so that the other parts are still judged.
"""

from collections.abc import Iterator
from typing import Any, NoReturn, SupportsIndex, TypeVar

_T = TypeVar("_T")


class UndeterminedError(Exception):
    """A rule touched a value that is not known yet; a signal, never shown to people.

    Attributes:
        path: Field path of the unknown value, empty when it is not known either.
    """

    def __init__(self, path: str = "") -> None:
        super().__init__(path)
        self.path = path


class Unknown:
    """A value that the engine does not know yet. Everything done with it raises.

    Even `isinstance(value, dict)` raises: Python asks the value for its class.
    """

    __slots__ = ("path",)

    def __init__(self, path: str = "") -> None:
        object.__setattr__(self, "path", path)

    def __getattribute__(self, name: str) -> NoReturn:
        raise UndeterminedError(object.__getattribute__(self, "path"))

    def _touched(self, *_: object, **__: object) -> NoReturn:
        raise UndeterminedError(object.__getattribute__(self, "path"))

    __setattr__ = __delattr__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _touched
    __bool__ = __len__ = __iter__ = __contains__ = __getitem__ = __setitem__ = _touched
    __str__ = __repr__ = __format__ = __int__ = __float__ = __index__ = __call__ = _touched
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __rmod__ = _touched
    __hash__ = __reduce_ex__ = _touched  # no copy and no pickle either


def is_unknown(value: object) -> bool:
    """Whether a value is unknown: the one question that does not raise."""
    return type(value) is Unknown


def raw_items(values: list[Any]) -> Iterator[Any]:
    """Items of a list, unknown ones among them; only for code that asks `is_unknown` of each."""
    return list.__iter__(values)


def unknown_path(value: object) -> str:
    """Field path of an unknown value."""
    return str(object.__getattribute__(value, "path"))


def known(value: _T) -> _T:
    """The value itself.

    Raises:
        UndeterminedError: it is not known yet.
    """
    if type(value) is Unknown:
        raise UndeterminedError(unknown_path(value))
    return value


class PartlyKnownDict(dict[str, Any]):
    """A mapping that directly holds an unknown value; reading that value raises.

    The keys are known; whether an unknown one will be there at all is not, so `in` raises for it.
    """

    __slots__ = ()
    __hash__ = None

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401  # any JSON value
        return known(super().__getitem__(key))

    def get(self, key: str, default: Any = None) -> Any:  # noqa: ANN401  # any JSON value
        """Value of a key, guarded."""
        return known(super().get(key, default))

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and known(super().get(key, self)) is not self

    def values(self) -> list[Any]:  # type: ignore[override]  # a list is enough of a view
        """All values, guarded: one unknown among them raises."""
        return [known(value) for value in super().values()]

    def items(self) -> list[tuple[str, Any]]:  # type: ignore[override]  # likewise
        """All pairs, guarded: one unknown among them raises."""
        return [(key, known(value)) for key, value in super().items()]

    def __eq__(self, other: object) -> bool:
        return bool(dict(self.items()) == other)

    def __ne__(self, other: object) -> bool:
        return not self == other


class PartlyKnownList(list[Any]):
    """A list that directly holds an unknown item; reaching that item raises."""

    __slots__ = ()
    __hash__ = None

    def __getitem__(self, index: SupportsIndex | slice) -> Any:  # noqa: ANN401  # any JSON value
        value = super().__getitem__(index)
        return [known(item) for item in value] if isinstance(index, slice) else known(value)

    def __iter__(self) -> Iterator[Any]:
        return (known(item) for item in super().__iter__())

    def __reversed__(self) -> Iterator[Any]:
        return (known(item) for item in super().__reversed__())

    def __contains__(self, item: object) -> bool:
        return any(each == item for each in self)

    def __eq__(self, other: object) -> bool:
        return bool(list(self) == other)

    def __ne__(self, other: object) -> bool:
        return not self == other
