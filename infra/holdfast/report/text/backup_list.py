"""The backups of an agent, as text and data."""

from collections.abc import Sequence
from typing import Final

from holdfast.kube.text import safe_text
from holdfast.operations.actions.backup import BackupFound
from holdfast.report.documents.json_text import json_text

SCHEMA_VERSION: Final = "holdfast.dev/backups/v1"


def backups_text(agent: str, backups: Sequence[BackupFound]) -> str:
    """One line a backup, the newest first; ending in a line end."""
    if not backups:
        return f"{agent} has no backups in the cluster\n"
    return "".join(f"{_line(each)}\n" for each in backups)


def backups_json(agent: str, backups: Sequence[BackupFound]) -> str:
    """The same for programs."""
    found = [
        {
            "kind": each.kind,
            "name": each.name,
            "madeAt": each.made_at,
            "claim": each.claim or None,
            "usable": each.is_usable,
        }
        for each in backups
    ]
    return json_text({"schemaVersion": SCHEMA_VERSION, "agent": agent, "backups": found})


def _line(each: BackupFound) -> str:
    of = f" of {each.claim}" if each.claim else ""
    state = "" if each.is_usable else "  (not ready to be used)"
    return safe_text(f"{each.made_at}  {each.kind} {each.name}{of}{state}", longest=400)
