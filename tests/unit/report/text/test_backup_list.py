"""Which backups there are, for people and programs."""

import json

from holdfast.operations.actions.backup import BackupFound
from holdfast.report.text.action_text import backups_json, backups_text

FOUND = (
    BackupFound("VolumeSnapshot", "rag-index-2", "2026-11-21T03:00:00Z", "rag-index", False),
    BackupFound("Job", "rag-backup-1", "2026-11-20T03:00:00Z", "", True),
)


def test_one_line_a_backup_says_of_what_and_whether_it_can_be_used() -> None:
    assert backups_text("rag", FOUND) == (
        "MADE AT               KIND            NAME          CLAIM      USABLE\n"
        "2026-11-21T03:00:00Z  VolumeSnapshot  rag-index-2   rag-index  not yet\n"
        "2026-11-20T03:00:00Z  Job             rag-backup-1  -          yes\n"
    )
    assert backups_text("rag", ()) == "rag has no backups in the cluster\n"


def test_programs_read_the_same() -> None:
    document = json.loads(backups_json("rag", FOUND))
    assert document["schemaVersion"] == "holdfast.dev/backups/v1"
    first, second = document["backups"]
    assert (first["name"], first["claim"], first["usable"]) == ("rag-index-2", "rag-index", False)
    assert second["claim"] is None
