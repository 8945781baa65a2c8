"""A PostgreSQL server of a test's own, from the programs that a system's packages bring."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest


def programs() -> Path | None:
    """Where the server's programs are: Debian keeps them off the PATH."""
    if found := shutil.which("initdb"):
        return Path(found).parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return versions[-1].parent if versions else None


needs_postgres = pytest.mark.skipif(
    programs() is None or shutil.which("psql") is None,
    reason="no PostgreSQL here: install it to see its schema probed, and state kept in it",
)


@dataclass(frozen=True)
class PostgresServer:
    """A server that lets everybody in as `app`.

    Attributes:
        home: Folder of its data, its log and its socket.
        port: Of the loopback address.
    """

    home: str
    port: int

    def start(self) -> None:
        """Start it, and wait until it answers."""
        where = f"-k {self.home} -h 127.0.0.1 -p {self.port}"
        self._control("-o", where, "-l", f"{self.home}/log", "start")

    def stop(self) -> None:
        """End it as a crash does: every connection drops."""
        self._control("-m", "immediate", "stop")

    def _control(self, *arguments: str) -> None:
        folder = programs()
        assert folder is not None
        _as_server(str(folder / "pg_ctl"), "-D", f"{self.home}/data", "-w", *arguments)


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Run a server with an empty database until the end of the block."""
    folder = programs()
    assert folder is not None
    # Not pytest's folder, which only its owner may enter: the server runs as another user.
    with tempfile.TemporaryDirectory(prefix="holdfast-pg-") as home:
        if os.geteuid() == 0:
            shutil.chown(home, "postgres")
        flags = ("-U", "app", "--auth=trust", "--no-sync")
        _as_server(str(folder / "initdb"), "-D", f"{home}/data", *flags)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            server = PostgresServer(home, int(probe.getsockname()[1]))
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _as_server(*command: str) -> None:
    """Run a program of the server, which refuses to be root."""
    user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, user=user, cwd="/", timeout=60
    )
    assert done.returncode == 0, done.stderr
