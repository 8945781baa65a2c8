"""Objects as YAML that every parser reads alike: each string quoted as in JSON, no anchors.

Strings such as `00000008`, `NO` or `1e3` are read as something else by one parser or another when
they stand bare; quoted, they cannot be.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_PLAIN_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_RESERVED = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
# What YAML does not print or takes for a line break, and JSON leaves bare.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def yaml_documents(objects: Iterable[Mapping[str, Any]]) -> str:
    """Several objects as one text, each begun by `---`; sorted, so equal input, equal bytes."""
    return "".join(f"---\n{yaml_document(each)}" for each in objects)


def yaml_document(value: Mapping[str, Any]) -> str:
    """One object as block-style YAML."""
    return ("\n".join(_lines(value, "")) or "{}") + "\n"


def _lines(value: Any, indent: str) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, Mapping):
        for key in sorted(value):
            yield from _entry(f"{indent}{_key(key)}:", value[key], f"{indent}  ")
    else:
        for item in value:
            yield from _item(item, indent)


def _entry(head: str, value: Any, indent: str) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, Mapping | list | tuple) and value:
        yield head
        yield from _lines(value, indent)
    else:
        yield f"{head} {_scalar(value)}"


def _item(item: Any, indent: str) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if not isinstance(item, Mapping | list | tuple) or not item:
        yield f"{indent}- {_scalar(item)}"
        return
    first, *rest = _lines(item, f"{indent}  ")
    yield f"{indent}- {first.removeprefix(f'{indent}  ')}"
    yield from rest


def _key(key: str) -> str:
    if _PLAIN_KEY.fullmatch(key) and key.lower() not in _RESERVED:
        return key
    return _scalar(key)


def _scalar(value: Any) -> str:  # noqa: ANN401 - any JSON value
    text = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
