"""An audit log as it lies about: one file, rotated and compressed ones, batches of a webhook."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from holdfast.adapters.cluster.audit_log import read_audit_log
from holdfast.errors import InputError


def event(name: str) -> dict[str, Any]:
    return {
        "stage": "ResponseComplete",
        "verb": "patch",
        "user": {"username": "alice@example.test"},
        "userAgent": "kubectl/v1.36.3",
        "sourceIPs": ["203.0.113.9"],
        "objectRef": {"resource": "deployments", "namespace": "cx", "name": name},
        "responseStatus": {"code": 200},
        "requestReceivedTimestamp": "2026-11-21T10:05:00Z",
    }


def lines(*names: str) -> bytes:
    return b"".join(json.dumps(event(name)).encode() + b"\n" for name in names)


def batch(*names: str) -> dict[str, Any]:
    return {"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "items": [*map(event, names)]}


def names_in(source: Path) -> list[str]:
    return sorted(each.name for each in read_audit_log(source))


def test_a_file_compressed_or_not(tmp_path: Path) -> None:
    plain, packed = tmp_path / "audit.log", tmp_path / "audit.log.gz"
    plain.write_bytes(lines("a", "b") + b"no event\n")
    packed.write_bytes(gzip.compress(lines("c")))
    assert names_in(plain) == ["a", "b"]
    assert names_in(packed) == ["c"]


def test_a_folder_of_rotated_files_and_batches(tmp_path: Path) -> None:
    (tmp_path / "audit.log").write_bytes(lines("a"))
    (tmp_path / "audit-2026-11-20.log.gz").write_bytes(gzip.compress(lines("b")))
    (tmp_path / "batch-1.json").write_text(json.dumps(batch("c", "d")))
    (tmp_path / "batch-2.json").write_text(json.dumps(batch("e"), indent=2))
    (tmp_path / "posted.jsonl").write_text(json.dumps(batch("f")) + "\n" + json.dumps(batch("g")))
    (tmp_path / ".partial").write_bytes(b"\x1f\x8bbroken")
    (tmp_path / "folder").mkdir()
    assert names_in(tmp_path) == list("abcdefg")


def test_the_client_and_its_address_are_known(tmp_path: Path) -> None:
    file = tmp_path / "audit.log"
    file.write_bytes(lines("a"))
    (found,) = read_audit_log(file)
    assert (found.user_agent, found.source_address) == ("kubectl/v1.36.3", "203.0.113.9")


def test_a_file_that_is_cut_off_is_named(tmp_path: Path) -> None:
    file = tmp_path / "audit.log.gz"
    file.write_bytes(gzip.compress(lines("a"))[:-9])
    with pytest.raises(InputError, match=r"audit\.log\.gz: .*leave --audit-log out"):
        list(read_audit_log(file))
