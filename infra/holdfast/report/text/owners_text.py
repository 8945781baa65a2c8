"""Who owns which fields of live objects, for people and as data."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from holdfast.drift.cause.owners import OwnedObject, Owner
from holdfast.kube.text import safe_text
from holdfast.report.documents.json_text import json_text

OWNERS_VERSION: Final = "holdfast.dev/owners/v1"


def owners_text(objects: Sequence[OwnedObject]) -> str:
    """An object a paragraph: deliverers with how much they apply, everybody else by field."""
    lines = [line for each in objects for line in _paragraph(each)]
    shared = sum(len(each.deliverers) > 1 for each in objects)
    lines.append(
        f"{len(objects)} object{'s'[: len(objects) != 1]}, {shared} delivered by more than one"
    )
    return "\n".join(lines) + "\n"


def _paragraph(owned: OwnedObject) -> Iterator[str]:
    yield safe_text(str(owned.ref))
    for owner in owned.owners:
        yield f"  {safe_text(owner.manager)}  {safe_text(owner.operation)} {safe_text(owner.time)}"
        if owner.deliverer:
            count = len(owner.paths)
            yield f"    delivers {count} field{'s'[: count != 1]} ({owner.deliverer})"
        else:
            yield from (f"    {safe_text(path)}" for path in owner.paths)
    if len(owned.deliverers) > 1:
        yield f"  shared by {', '.join(map(safe_text, owned.deliverers))}"


def owners_json(objects: Sequence[OwnedObject]) -> str:
    """Everything as data, each path of each owner."""
    document = {"schemaVersion": OWNERS_VERSION, "objects": [_document(each) for each in objects]}
    return json_text(document)


def _document(owned: OwnedObject) -> dict[str, Any]:
    ref = owned.ref
    return {
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "namespace": ref.namespace,
        "name": ref.name,
        "owners": [_owner(each) for each in owned.owners],
    }


def _owner(owner: Owner) -> dict[str, Any]:
    return {
        "manager": owner.manager,
        "operation": owner.operation,
        "time": owner.time,
        "delivers": owner.deliverer or None,
        "paths": list(owner.paths),
    }
