"""A database's schema and grants as command probes, on a real PostgreSQL."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from holdfast.drift.finding import DriftReport
from holdfast.drift.probes.answers import CommandCheck, digest_of
from holdfast.drift.probes.outcome import ProbeOutcome, Subject
from holdfast.kube.objects import ObjectRef
from holdfast.operations.scan.probing.endpoints import probe_command
from holdfast.operations.scan.scan_context import ReportContext
from holdfast.report.documents.drift import drift_json
from holdfast.report.exchange.formats import write_drift

from tests.e2e.postgres import needs_postgres, postgres_server

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


@pytest.fixture
def psql(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, ...]]:
    """A server of the test's own, reached over a socket; gives the start of a psql command."""
    with postgres_server() as server:
        known = (("PGHOST", server.home), ("PGPORT", str(server.port)))
        for name, value in (*known, ("PGUSER", "app"), ("PGDATABASE", "postgres")):
            monkeypatch.setenv(name, value)
            monkeypatch.setenv(f"HOLDFAST_PROBE_{name}", value)
        yield ("psql", "--no-psqlrc", "-Atc")


def output_of(command: tuple[str, ...]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@needs_postgres
def test_a_column_and_a_grant_are_two_findings_in_one_report(
    psql: tuple[str, ...], tmp_path: Path
) -> None:
    output_of((*psql, "create table doc (id int, body text); create role reader"))
    probes = [
        CommandCheck(name, (*psql, query), digest_of(reviewed.encode()), reviewed)
        for name, query in (("schema", COLUMNS), ("grants", GRANTS))
        for reviewed in (output_of((*psql, query)),)
    ]

    def report() -> DriftReport:
        outcome = ProbeOutcome.together(probe_command(SUBJECT, each, tmp_path) for each in probes)
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
    page = write_drift(drifted, "html", ReportContext())
    assert "+doc|owner|text" in page
    assert "reader|doc|SELECT" in page


def test_a_database_that_is_not_there_is_not_checked(tmp_path: Path) -> None:
    program = "import socket; socket.create_connection(('127.0.0.1', 1))"
    probe = CommandCheck("schema", (sys.executable, "-c", program), digest_of(b""))
    (unknown,) = probe_command(SUBJECT, probe, tmp_path).not_checked
    assert unknown.reason.endswith("ended with exit code 1")
