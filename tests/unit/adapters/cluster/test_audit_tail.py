import json
from pathlib import Path

from holdfast.adapters.cluster.audit_log import AuditTail


def event(user: str) -> str:
    document = {
        "kind": "Event",
        "stage": "ResponseComplete",
        "verb": "patch",
        "user": {"username": user},
        "objectRef": {"resource": "configmaps", "namespace": "cx", "name": "one"},
        "responseStatus": {"code": 200},
        "requestReceivedTimestamp": "2026-11-21T10:00:00.000000Z",
    }
    return json.dumps(document) + "\n"


def users(tail: AuditTail) -> list[str]:
    return [each.user for each in tail.read_new()]


def test_each_reading_takes_what_has_come_since(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    log.write_text(event("alice"))
    tail = AuditTail(log)
    assert users(tail) == ["alice"]
    assert users(tail) == []
    with log.open("a") as file:
        file.write(event("bob"))
    assert users(tail) == ["bob"]


def test_a_line_that_is_being_written_waits(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    whole = event("alice")
    log.write_text(whole[:40])
    tail = AuditTail(log)
    assert users(tail) == []
    log.write_text(whole)
    assert users(tail) == ["alice"]


def test_a_new_file_in_its_place_is_read_from_its_beginning(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    log.write_text(event("alice") * 3)
    tail = AuditTail(log)
    assert len(users(tail)) == 3
    log.rename(tmp_path / "audit-1.log")
    assert users(tail) == []
    log.write_text(event("bob"))
    assert users(tail) == ["bob"]
