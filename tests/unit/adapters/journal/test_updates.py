"""The journal of updates: what the engine does not keep."""

from pathlib import Path

from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.journal.updates import UpdateJournal


def record(identifier: str) -> UpdateRecord:
    return UpdateRecord(identifier=identifier, action="up", stack="dev", outcome="succeeded")


def test_a_torn_line_spoils_no_other(tmp_path: Path) -> None:
    journal = UpdateJournal.of(tmp_path, "project", "organization/project/dev")
    journal.add(record("a"))
    with journal.file.open("ab") as file:
        file.write(b'{"schemaVersion": "holdf')
    journal.add(record("b"))
    assert [each.identifier for each in journal.records()] == ["a", "b"]
    assert journal.file.name == "dev.updates.jsonl"
