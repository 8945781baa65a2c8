"""Commands are run for real: a database's schema is compared with the reviewed one."""

import sqlite3
import sys
from pathlib import Path

import pytest
from holdfast.drift.finding import Severity
from holdfast.drift.probes.answers import CommandCheck, digest_of
from holdfast.drift.probes.outcome import Subject
from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import format_path
from holdfast.operations.scan.probing.endpoints import LARGEST_OUTPUT_BYTES, probe_command

SUBJECT = Subject("support-rag", ObjectRef("cx", "Deployment", "support-rag", "apps/v1"))
SCHEMA = """
import sqlite3
rows = sqlite3.connect("db").execute("select sql from sqlite_master order by name")
print(*(row[0] for row in rows), sep="\\n")
"""


def python(program: str, reviewed: str | None = "", **more: object) -> CommandCheck:
    digest = digest_of((reviewed or "").encode())
    return CommandCheck("schema", (sys.executable, "-c", program), digest, reviewed, **more)  # type: ignore[arg-type]  # (test material)


@pytest.fixture
def database(tmp_path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(tmp_path / "db", isolation_level=None)
    connection.execute("create table doc (\n  id integer,\n  body text\n)")
    return connection


REVIEWED = "CREATE TABLE doc (\n  id integer,\n  body text\n)\n"


def test_the_reviewed_output_is_in_sync(database: sqlite3.Connection, tmp_path: Path) -> None:
    outcome = probe_command(SUBJECT, python(SCHEMA, REVIEWED), tmp_path)
    assert (outcome.findings, outcome.not_checked, outcome.asked) == ((), (), 1)


def test_a_column_that_was_added_shows_both_texts(
    database: sqlite3.Connection, tmp_path: Path
) -> None:
    database.execute("alter table doc add column owner text")
    (finding,) = probe_command(SUBJECT, python(SCHEMA, REVIEWED), tmp_path).findings
    assert format_path(finding.path) == "probes[name=schema].output"
    assert finding.desired == REVIEWED
    assert "owner text" in finding.live
    assert finding.severity is Severity.HIGH


def test_with_the_digest_alone_only_digests_are_shown(
    database: sqlite3.Connection, tmp_path: Path
) -> None:
    probe = CommandCheck(
        "schema", (sys.executable, "-c", SCHEMA), digest_of(b"x"), severity=Severity.LOW
    )
    (finding,) = probe_command(SUBJECT, probe, tmp_path).findings
    assert format_path(finding.path) == "probes[name=schema].digest"
    assert (finding.desired, finding.live) == (digest_of(b"x"), digest_of(REVIEWED.encode()))
    assert finding.severity is Severity.LOW


@pytest.mark.parametrize(
    ("probe", "reason"),
    [
        pytest.param(
            CommandCheck("p", ("no-such-program",), "x"),
            "there is no program 'no-such-program' here",
            id="no program",
        ),
        pytest.param(python("import sys; sys.exit('s3cr3t')"), "exit code 1", id="failed"),
        pytest.param(
            python("import time; time.sleep(60)", timeout_seconds=0.5),
            "no answer within 0.5 s",
            id="too slow",
        ),
        pytest.param(
            python("import os, time\nif os.fork() == 0: time.sleep(60)", timeout_seconds=0.5),
            "no answer within 0.5 s",
            id="its child is too slow",
        ),
        pytest.param(
            python(f"print('x' * {LARGEST_OUTPUT_BYTES})\nwhile True: print('y' * 1000)"),
            "it prints more than",
            id="too much",
        ),
    ],
)
def test_what_cannot_be_asked_is_not_checked(
    probe: CommandCheck, reason: str, tmp_path: Path
) -> None:
    outcome = probe_command(SUBJECT, probe, tmp_path)
    assert outcome.findings == ()
    (unknown,) = outcome.not_checked
    assert reason in unknown.reason
    assert "s3cr3t" not in unknown.reason


def test_no_shell_reads_the_arguments(tmp_path: Path) -> None:
    probe = CommandCheck("p", ("echo", "$HOME; touch x"), digest_of(b"$HOME; touch x\n"))
    assert probe_command(SUBJECT, probe, tmp_path).asked == 1
    assert list(tmp_path.iterdir()) == []


def test_a_credential_in_an_output_is_masked(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    (finding,) = probe_command(SUBJECT, python(f"print({token!r})", "none\n"), tmp_path).findings
    assert token not in str(finding.live)


def test_a_command_gets_what_was_meant_for_it_and_no_token_of_the_scan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULUMI_ACCESS_TOKEN", "pul-hidden")
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "hidden")
    monkeypatch.setenv("HOLDFAST_PROBE_PGPASSWORD", "meant")
    program = (
        "import os; print(sorted(v for v in os.environ.values() if v in {'meant'} or 'hid' in v))"
    )
    assert probe_command(SUBJECT, python(program, "['meant']\n"), tmp_path).findings == ()
