"""Messages that are recognised by their text."""

import pytest
from holdfast.adapters.engine.failures.failures import command_failure
from holdfast.adapters.engine.failures.messages import (
    ApplyConflict,
    find_conflicts,
    without_credentials,
)
from holdfast.adapters.engine.run.process import Finished
from holdfast.errors import ExitCode
from hypothesis import given
from hypothesis import strategies as st

SAVING = (
    "resource complete event returned an error: failed to save snapshot: An IO error occurred "
    'while writing the new snapshot file: blob (key ".pulumi/stacks/p/dev.json") (code=Unknown): '
)
UNLOCKING = (
    "error: there was a problem deleting the lock at s3://b/.pulumi/locks/organization/p/dev/1"
    '.json, manual clean up may be required: blob (key ".pulumi/locks/organization/p/dev/1.json") '
    "(code=PermissionDenied): operation error S3: HeadObject, https response error StatusCode: "
    "403, RequestID: , HostID: , api error Forbidden: Forbidden\n"
)
PUT = "operation error S3: PutObject, https response error StatusCode: 403, RequestID: , HostID: , "
GET = PUT.replace("PutObject", "GetObject")
META = 'error: read ".pulumi/meta.yaml": blob (key ".pulumi/meta.yaml") (code=Unknown): '
EXPIRED = "api error ExpiredToken: The provided token has expired."
REFUSED = "dial tcp 127.0.0.1:5432: connect: connection refused"
OPENING = 'error: unable to open state database "postgres://****@127.0.0.1:5432/postgres": '
GO_ON = "then run 'holdfast up -s dev --recover'"


@pytest.mark.parametrize(
    ("said", "message", "code"),
    [
        pytest.param(
            f"{UNLOCKING}{SAVING}{PUT}{EXPIRED}",
            "the state of stack dev cannot be written: the token has expired; renew the login of "
            f"the backend, {GO_ON}",
            ExitCode.AUTHENTICATION,
            id="token-expired-in-mid-run",
        ),
        pytest.param(
            f"{SAVING}{REFUSED}\n",
            "the state of stack dev cannot be written: no connection to 127.0.0.1:5432 (connection "
            f"refused); correct that, {GO_ON}",
            ExitCode.ERROR,
            id="database-gone-in-mid-run",
        ),
        pytest.param(
            f"{SAVING}{PUT}api error InternalError: We are sorry.",
            "the state of stack dev cannot be written: api error InternalError: We are sorry; "
            f"correct that, {GO_ON}",
            ExitCode.ERROR,
            id="store-in-trouble",
        ),
        pytest.param(
            f"error: saving update info: {SAVING[-70:]}{REFUSED}",
            "all of it was done and is saved, but the history of stack dev cannot be written: no "
            "connection to 127.0.0.1:5432 (connection refused); correct that, and run it again to "
            "have it recorded",
            ExitCode.ERROR,
            id="history",
        ),
        pytest.param(
            f"{META}{GET}{EXPIRED}",
            "the backend of stack dev cannot be read: the token has expired; renew the login of "
            "the backend, and run it again",
            ExitCode.AUTHENTICATION,
            id="token-expired-before",
        ),
        pytest.param(
            f"{OPENING}failed to ping PostgreSQL: {REFUSED}",
            "the backend of stack dev cannot be read: no connection to 127.0.0.1:5432 (connection "
            "refused); correct that, and run it again",
            ExitCode.ERROR,
            id="database-gone-before",
        ),
        pytest.param(
            f"{OPENING}failed to ping PostgreSQL: pq: password authentication failed for user "
            '"app"',
            "the backend of stack dev cannot be read: pq: password authentication failed for user "
            '"app"; renew the login of the backend, and run it again',
            ExitCode.AUTHENTICATION,
            id="wrong-password",
        ),
    ],
)
def test_a_backend_that_fails_is_explained(said: str, message: str, code: ExitCode) -> None:
    failure = command_failure("up", "dev", Finished(1, said, 1.0))

    assert failure is not None
    assert (str(failure), failure.exit_code) == (message, code)


@given(st.from_regex(r"[A-Za-z0-9.~!$&*+,;=%-]+", fullmatch=True))
def test_no_password_of_an_address_is_reported(password: str) -> None:
    told = without_credentials(f'open "postgres://app:{password}@db:5432/x?a=b": no')

    assert told == 'open "postgres://****@db:5432/x?a=b": no'


def test_what_is_no_login_stays() -> None:
    text = "s3://bucket/path?endpoint=http://127.0.0.1:1: created by ann@box (pid 1)"

    assert without_credentials(text) == text


REPORT = (
    "Preview failed: 1 error occurred:\n\t* the Kubernetes API server reported that "
    '"default/app" failed to fully initialize or become live: server-side apply field conflict '
    "detected, see https://www.pulumi.com/x/#y for troubleshooting help\n"
    'The resource managed by field manager "holdfast" had an apply conflict: {}\n\n\n'
)


def test_reads_one_conflict() -> None:
    text = REPORT.format(
        'Apply failed with 1 conflict: conflict with "kubectl-set" using apps/v1: '
        '.spec.template.spec.containers[name="agent"].image'
    )

    (conflict,) = find_conflicts(text)

    assert conflict == ApplyConflict(
        "default/app",
        "holdfast",
        "kubectl-set",
        "",
        ('.spec.template.spec.containers[name="agent"].image',),
    )
    assert str(conflict) == (
        "default/app: field manager kubectl-set has changed "
        '.spec.template.spec.containers[name="agent"].image, which holdfast declares'
    )


def test_reads_the_subresource_and_the_time() -> None:
    text = REPORT.format(
        'Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using '
        "apps/v1 at 2026-11-21T18:23:28Z: .spec.replicas"
    )

    (conflict,) = find_conflicts(text)

    assert (conflict.subresource, conflict.paths) == ("scale", (".spec.replicas",))
    assert "through the subresource scale" in str(conflict)


def test_reads_several_managers_and_fields() -> None:
    text = REPORT.format(
        'Apply failed with 3 conflicts: conflicts with "console" using v1:\n- .data.a\n- .data.b\n'
        'conflicts with "kubectl-edit" using v1:\n- .data.c'
    )

    assert [(c.other, c.paths) for c in find_conflicts(text)] == [
        ("console", (".data.a", ".data.b")),
        ("kubectl-edit", (".data.c",)),
    ]


def test_reads_the_conflicts_of_several_objects_each_once() -> None:
    one = REPORT.format('Apply failed with 1 conflict: conflict with "x" using v1: .data.a')

    assert len(find_conflicts(one + one.replace("default/app", "default/b") + one)) == 2


def test_finds_none_in_other_text() -> None:
    assert find_conflicts("error: preview failed") == ()
