"""A required field that stands in a file under another name: one fault, not two."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel

from holdfast.kube.paths import Path
from holdfast.manifest.text.faults import BRANCH
from holdfast.manifest.types.annotations import fields_at

_ANOTHER_FIELD: Final = 0.8
"""How much alike an unknown name is to a field when that field is meant."""


def without_renamed(
    model: type[BaseModel], details: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """The faults of a document without those that repeat another one.

    Args:
        model: Model of the document.
        details: Its faults, as pydantic has them.

    Returns:
        The same; an unknown field that stands for a missing one says so as `missing` in `ctx`.
    """
    renamed = dict(_renamed(model, details))
    meant = {(*at[:-1], other): at[-1] for at, other in renamed.items()}
    return [
        {**each, "ctx": {"missing": meant[each["loc"]]}}
        if each["type"] == "extra_forbidden" and each["loc"] in meant
        else each
        for each in details
        if each["type"] != "missing" or each["loc"] not in renamed
    ]


def _renamed(
    model: type[BaseModel], details: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[Path, str]]:
    """Place of each missing field, and the unknown one beside it that is meant for it."""
    missing, unknown = _last_parts(details, "missing"), _last_parts(details, "extra_forbidden")
    for above, names in missing.items():
        others = unknown.get(above, [])
        fields = fields_at(model, tuple(part for part in above if not str(part).startswith(BRANCH)))
        for name in names:
            if close := difflib.get_close_matches(name, others, n=1):
                yield (*above, name), close[0]
            elif len(names) == len(others) == 1:
                rest = [each for each in fields if each != name]
                if not difflib.get_close_matches(others[0], rest, n=1, cutoff=_ANOTHER_FIELD):
                    yield (*above, name), others[0]


def _last_parts(details: Sequence[Mapping[str, Any]], kind: str) -> dict[Path, list[str]]:
    """Place of a mapping to its fields that have a fault of one kind."""
    found: dict[Path, list[str]] = {}
    for each in details:
        if each["type"] == kind:
            found.setdefault(each["loc"][:-1], []).append(str(each["loc"][-1]))
    return found
