"""What was declared when a scan was made is kept once, masked, and found again."""

import json
from pathlib import Path

from holdfast.adapters.journal.scan_journal import read_history, record_scan
from holdfast.kube.objects import KubeObject

from tests.unit.report.reports import CLEAN

MONDAY, TUESDAY, WEDNESDAY = (f"2026-11-{day}T09:00:00Z" for day in (16, 17, 18))


def config_map(name: str, value: str) -> KubeObject:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "data": {"a": value},
    }


ONE, TWO, OTHER = config_map("one", "1"), config_map("two", "2"), config_map("two", "3")
SECRET: KubeObject = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "keys"},
    "stringData": {"a": "hunter2"},
}


def test_each_object_stands_in_the_journal_once(tmp_path: Path) -> None:
    file = tmp_path / "scans.jsonl"
    for moment, declared in (
        (MONDAY, [ONE, TWO]),
        (TUESDAY, [ONE, TWO]),
        (WEDNESDAY, [ONE, OTHER]),
    ):
        record_scan(file, moment, CLEAN, declared)
    kept = [json.loads(line)["declared"] for line in file.read_text().splitlines()]
    assert [len(each.get("objects", ())) for each in kept] == [2, 0, 1]
    read = read_history(file)
    found = [read.configurations.declared(each.configuration) for each in read.observations]
    assert found == [(ONE, TWO), (ONE, TWO), (ONE, OTHER)]


def test_a_scan_without_a_declaration_has_none(tmp_path: Path) -> None:
    file = tmp_path / "scans.jsonl"
    record_scan(file, MONDAY, CLEAN)
    read = read_history(file)
    assert read.configurations.declared(read.observations[0].configuration) is None


def test_the_data_of_secrets_is_never_written(tmp_path: Path) -> None:
    file = tmp_path / "scans.jsonl"
    record_scan(file, MONDAY, CLEAN, [SECRET])
    assert "hunter2" not in file.read_text()
