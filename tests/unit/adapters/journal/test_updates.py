"""The journal of updates: what the engine does not keep."""

import json
import shutil
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
    assert journal.file == tmp_path / "history" / "project" / "dev" / "updates.jsonl"


def test_lines_that_earlier_versions_wrote_are_read_and_distinguished_from_a_report(
    tmp_path: Path,
) -> None:
    journal = UpdateJournal(tmp_path / "updates.jsonl")
    shutil.copy(Path(__file__).parent / "written_before" / "updates.jsonl", journal.file)
    journal.add(record("a3"))
    first, second, _ = journal.records()
    assert (first.identifier, first.agents, first.changes) == ("a1", ("support",), {"update": 1})
    assert (second.identifier, second.outcome) == ("a2", "refused")
    versions = [json.loads(line)["schemaVersion"] for line in journal.file.read_text().splitlines()]
    assert versions == [*["holdfast.dev/updates/v1"] * 2, "holdfast.dev/journal/update/v1"]
