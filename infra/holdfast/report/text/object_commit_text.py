"""The commit that a live object is rendered from, as text and JSON."""

from holdfast.operations.deploy.object_provenance import ObjectProvenance
from holdfast.report.documents.json_text import json_text


def object_commit_json(named: str, found: ObjectProvenance) -> str:
    """The result as one document; the commit is null where none is known.

    Args:
        named: The object as it was asked for.
        found: Where it comes from.
    """
    update = found.update
    return json_text(
        {
            "object": named,
            "revision": found.revision,
            "commit": update.commit if update else None,
            "author": update.author if update else None,
            "updatedAt": update.started_at if update else None,
        }
    )


def object_commit_text(found: ObjectProvenance) -> str:
    """Two lines; empty where no commit is known."""
    if found.update is None:
        return ""
    return (
        f"{found.ref} is revision {found.revision}: commit {found.update.commit}\n"
        f"  by {found.update.author}, first brought there at {found.update.started_at}\n"
    )
