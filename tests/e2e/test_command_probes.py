"""A database's schema and grants as command probes, on a real PostgreSQL."""

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from holdfast.drift.finding import DriftReport
from holdfast.kube.objects import ObjectRef
from holdfast.probes.commands import CommandProbe, digest_of, probe_command
from holdfast.probes.outcome import Outcome, Subject
from holdfast.report.drift_context import DriftContext
from holdfast.report.drift_json import drift_json
from holdfast.report.formats import write_drift

pytestmark = pytest.mark.e2e

SUBJECT = Subject("support-rag", ObjectRef("cx", "Deployment", "support-rag", "apps/v1"))
COLUMNS = (
    "select table_name, column_name, data_type from information_schema.columns "
    "where table_schema = 'public' order by 1, 2"
)
GRANTS = (
    "select grantee, table_name, privilege_type from information_schema.role_table_grants "
    "where table_schema = 'public' and grantee <> current_user order by 1, 2, 3"
)


def postgres_folder() -> Path | None:
    """Where the server's programs are: Debian keeps them off the PATH."""
    if found := shutil.which("initdb"):
        return Path(found).parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return versions[-1].parent if versions else None


needs_postgres = pytest.mark.skipif(
    postgres_folder() is None or shutil.which("psql") is None,
    reason="no PostgreSQL here: install it to see its schema and grants probed",
)


def as_server(*command: str) -> "subprocess.CompletedProcess[str]":
    """Run a program of the server, which refuses to be root."""
    user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    done = subprocess.run(command, capture_output=True, text=True, check=False, user=user, cwd="/")
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture
def psql(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, ...]]:
    """A server of the test's own, reached over a socket; gives the start of a psql command."""
    programs = postgres_folder()
    assert programs is not None
    # Not pytest's folder, which only its owner may enter: the server runs as another user.
    with tempfile.TemporaryDirectory(prefix="holdfast-pg-") as home:
        if os.geteuid() == 0:
            shutil.chown(home, "postgres")
        as_server(str(programs / "initdb"), "-D", f"{home}/data", "-U", "app", "--auth=trust")
        control = (str(programs / "pg_ctl"), "-D", f"{home}/data", "-w")
        as_server(*control, "-o", f"-k {home} -c listen_addresses=", "-l", f"{home}/log", "start")
        for name, value in (("PGHOST", home), ("PGUSER", "app"), ("PGDATABASE", "postgres")):
            monkeypatch.setenv(name, value)
        try:
            yield ("psql", "--no-psqlrc", "-Atc")
        finally:
            as_server(*control, "-m", "immediate", "stop")


def output_of(command: tuple[str, ...]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@needs_postgres
def test_a_column_and_a_grant_are_two_findings_in_one_report(
    psql: tuple[str, ...], tmp_path: Path
) -> None:
    output_of((*psql, "create table doc (id int, body text); create role reader"))
    probes = [
        CommandProbe(name, (*psql, query), digest_of(reviewed.encode()), reviewed)
        for name, query in (("schema", COLUMNS), ("grants", GRANTS))
        for reviewed in (output_of((*psql, query)),)
    ]

    def report() -> DriftReport:
        outcome = Outcome.together(probe_command(SUBJECT, each, tmp_path) for each in probes)
        assert outcome.not_checked == ()
        return outcome.added_to(DriftReport())

    assert report().findings == ()
    output_of((*psql, "alter table doc add column owner text; grant select on doc to reader"))
    drifted = report()
    findings = json.loads(drift_json(drifted))["findings"]
    assert [each["path"] for each in findings] == [
        "probes[name=grants].output",
        "probes[name=schema].output",
    ]
    page = write_drift(drifted, "html", DriftContext())
    assert "+doc|owner|text" in page
    assert "reader|doc|SELECT" in page


def test_a_database_that_is_not_there_is_not_checked(tmp_path: Path) -> None:
    program = "import socket; socket.create_connection(('127.0.0.1', 1))"
    probe = CommandProbe("schema", (sys.executable, "-c", program), digest_of(b""))
    (unknown,) = probe_command(SUBJECT, probe, tmp_path).not_checked
    assert unknown.reason.endswith("ended with exit code 1")
