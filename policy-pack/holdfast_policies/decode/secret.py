"""Text that the program declared secret: rules compare it, messages never show it."""

from holdfast_policies.decode.unknown import is_unknown


class SecretText(str):
    """A secret's value. Equal to, and as long as, the plain text; written as `[secret]`."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __str__(self) -> str:
        return "[secret]"

    def __repr__(self) -> str:
        return "[secret]"

    def __format__(self, _: str) -> str:
        return "[secret]"


def as_secret(value: object) -> object:
    """The value with every text in it made secret, and the same otherwise."""
    if type(value) is str:
        return SecretText(value)
    if is_unknown(value):
        return value
    if isinstance(value, dict):
        for key, item in dict.items(value):
            dict.__setitem__(value, key, as_secret(item))
    elif isinstance(value, list):
        for index, item in enumerate(list.__iter__(value)):
            list.__setitem__(value, index, as_secret(item))
    return value


def holds_secret(value: object) -> bool:
    """Whether a value, or anything in it, is secret text."""
    if is_unknown(value):
        return False
    if isinstance(value, dict):
        return any(holds_secret(item) for item in dict.values(value))
    if isinstance(value, list):
        return any(holds_secret(item) for item in list.__iter__(value))
    return type(value) is SecretText
