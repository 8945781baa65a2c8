"""The scripts of backups, run by a real shell with the real curl against a stub API server."""

import json
import os
import shutil
import stat
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from holdfast.render.objects.backup import RESTORE_SCRIPT
from holdfast.render.objects.snapshot_script import SNAPSHOTS, snapshot_script

MISSING = [name for name in ("sh", "curl", "find") if shutil.which(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"needs {', '.join(MISSING)} on this machine")

CLAIM = "/api/v1/namespaces/cx/persistentvolumeclaims/support-index"
OF_NAMESPACE = f"{SNAPSHOTS}/namespaces/cx/volumesnapshots"


@dataclass
class StubApi:
    """An API server with one claim; snapshots are in the state that a test says.

    Attributes:
        refused: Paths that answer 503 so many times first.
    """

    url: str = ""
    phase: str = "Bound"
    status: dict[str, Any] = field(default_factory=lambda: {"readyToUse": True})
    refused: dict[str, int] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)

    def answer(self, method: str, path: str) -> tuple[int, dict[str, Any]]:
        path = path.partition("?")[0]
        self.asked.append((method, path))
        if self.refused.get(path, 0):
            self.refused[path] -= 1
            return 503, {"kind": "Status", "message": "etcd has no leader"}
        if path == CLAIM:
            return 200, {"status": {"phase": self.phase}}
        if method == "GET":
            # The server writes a manager of fields of that name, too.
            return 200, {"metadata": {"f:error": {}}, "status": self.status}
        return 200 if method == "DELETE" else 201, {}

    def made(self) -> int:
        """Snapshots that were made."""
        return self.asked.count(("POST", OF_NAMESPACE))


@pytest.fixture
def api() -> Iterator[StubApi]:
    stub = StubApi()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"] or 0))
            status, body = stub.answer(self.command, self.path)
            content = json.dumps(body, indent=2).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def do_DELETE(self) -> None:
            self._answer()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    stub.url = f"http://127.0.0.1:{server.server_port}"
    yield stub
    server.shutdown()
    server.server_close()
    thread.join()


def save(api: StubApi, folder: Path) -> "subprocess.CompletedProcess[str]":
    (folder / "token").write_text("a-token")
    variables = {
        "HOLDFAST_API": api.url,
        "HOLDFAST_ACCOUNT": str(folder),
        "HOLDFAST_PAUSE_SECONDS": "0",
    }
    return subprocess.run(
        ["/bin/sh", "-ec", snapshot_script("support", "cx", ["support-index"], 7)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={"PATH": os.environ["PATH"]} | variables,
    )


def test_a_snapshot_is_made_and_old_ones_are_deleted(api: StubApi, tmp_path: Path) -> None:
    done = save(api, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("support-index-")
    assert api.made() == 1
    assert api.asked[-1] == ("DELETE", OF_NAMESPACE)


def test_a_claim_that_is_not_bound_holds_nothing_to_save(api: StubApi, tmp_path: Path) -> None:
    api.phase = "Pending"
    done = save(api, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "not bound yet" in done.stdout
    assert api.made() == 0


def test_a_failed_request_is_not_taken_for_nothing_to_save(api: StubApi, tmp_path: Path) -> None:
    # Only the first request fails: all that follow would succeed.
    api.refused[CLAIM] = 1
    done = save(api, tmp_path)
    assert done.returncode != 0
    assert "support-index could not be read" in done.stderr
    assert "etcd has no leader" in done.stderr
    assert save(api, tmp_path).returncode == 0


def test_a_snapshot_that_keeps_its_error_ends_the_backup(api: StubApi, tmp_path: Path) -> None:
    api.status = {"readyToUse": False, "error": {"message": "quota of the store is used up"}}
    done = save(api, tmp_path)
    assert done.returncode != 0
    assert "quota of the store is used up" in done.stderr


def test_a_snapshot_that_is_not_ready_at_once_is_waited_for(api: StubApi, tmp_path: Path) -> None:
    answer, looks = api.answer, iter(range(5))

    def later(method: str, path: str) -> tuple[int, dict[str, Any]]:
        if method == "GET" and path.startswith(OF_NAMESPACE):
            api.status = {"readyToUse": next(looks) >= 3}
        return answer(method, path)

    api.answer = later  # type: ignore[method-assign]  # plays a driver that takes its time
    assert save(api, tmp_path).returncode == 0
    assert next(looks) == 4


def restore(folder: Path, command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["/bin/sh", "-ec", RESTORE_SCRIPT, "restore", "/bin/sh", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={
            "PATH": os.environ["PATH"],
            "RESTORE_FOLDERS": str(folder),
            "RESTORE_FROM": "nightly-7",
            "FOLDER": str(folder),
        },
    )


def test_restored_files_can_be_written_by_the_group_of_the_volume(tmp_path: Path) -> None:
    filling = 'umask 077; mkdir "$FOLDER/notes"; echo one > "$FOLDER/notes/memory"'
    done = restore(tmp_path, filling)
    assert done.returncode == 0, done.stderr
    for path in (tmp_path / "notes", tmp_path / "notes" / "memory"):
        mode = path.stat().st_mode
        assert mode & stat.S_IRGRP
        assert mode & stat.S_IWGRP
    assert (tmp_path / "notes").stat().st_mode & stat.S_IXGRP


def test_a_volume_is_filled_once(tmp_path: Path) -> None:
    assert restore(tmp_path, 'echo one > "$FOLDER/memory"').returncode == 0
    assert restore(tmp_path, 'echo two > "$FOLDER/memory"').returncode == 0
    assert (tmp_path / "memory").read_text() == "one\n"


def test_a_restore_that_fails_is_tried_again(tmp_path: Path) -> None:
    assert restore(tmp_path, "exit 3").returncode == 3
    assert restore(tmp_path, 'echo two > "$FOLDER/memory"').returncode == 0
    assert (tmp_path / "memory").read_text() == "two\n"
