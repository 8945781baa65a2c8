"""One comment a change, one issue a subject: on both hosts, over HTTP, however often it is said."""

from collections.abc import Iterator

import pytest
from holdfast.adapters.codehost.api import CodeHost, CodeHostError
from holdfast.adapters.codehost.detection import code_host
from holdfast.adapters.codehost.sticky import CommentOutcome, keep_comment, keep_issue
from holdfast.errors import ExitCode, InputError

from tests.code_host_server import ROBOT, SOMEBODY, TOKEN, CodeHostServer, code_host_server

MARKER = "policy/prod"
TITLE = "Drift of stack prod"


@pytest.fixture
def server() -> Iterator[CodeHostServer]:
    with code_host_server() as held:
        yield held


@pytest.fixture(params=["github", "gitlab"])
def host(server: CodeHostServer, request: pytest.FixtureRequest) -> CodeHost:
    server.tells_name = request.param == "gitlab"
    return code_host(getattr(server, request.param)()).host


def test_a_comment_is_written_once_and_then_updated(server: CodeHostServer, host: CodeHost) -> None:
    assert keep_comment(host, 5, MARKER, "one").outcome is CommentOutcome.CREATED
    assert keep_comment(host, 5, MARKER, "two").outcome is CommentOutcome.UPDATED
    assert [each["body"] for each in server.comments] == ["<!-- holdfast:policy/prod -->\ntwo\n"]


def test_the_same_text_again_writes_nothing(server: CodeHostServer, host: CodeHost) -> None:
    keep_comment(host, 5, MARKER, "one")
    written = list(server.writes)
    server.comments[0]["body"] = server.comments[0]["body"].replace("\n", "\r\n")
    assert keep_comment(host, 5, MARKER, "one\n").outcome is CommentOutcome.UNCHANGED
    assert server.writes == written


def test_nothing_to_say_makes_no_comment_and_takes_an_old_one_back(
    server: CodeHostServer, host: CodeHost
) -> None:
    assert keep_comment(host, 5, MARKER, "\n").outcome is CommentOutcome.NOTHING
    assert server.writes == []
    keep_comment(host, 5, MARKER, "one")
    assert keep_comment(host, 5, MARKER, "").outcome is CommentOutcome.UPDATED
    assert "Nothing to say" in server.comments[0]["body"]


def test_stacks_have_a_comment_each(server: CodeHostServer, host: CodeHost) -> None:
    keep_comment(host, 5, "policy/prod", "one")
    keep_comment(host, 5, "policy/dev", "one")
    assert len(server.comments) == 2


def test_what_somebody_else_wrote_is_never_taken_for_ours(
    server: CodeHostServer, host: CodeHost
) -> None:
    body = "<!-- holdfast:policy/prod -->\nI am the robot"
    server.comments.append({"id": 1, "body": body, "user": SOMEBODY, "author": SOMEBODY})
    assert keep_comment(host, 5, MARKER, "one").outcome is CommentOutcome.CREATED
    assert server.comments[0]["body"] == body


def test_an_app_finds_its_comment_though_it_may_not_ask_for_its_name(
    server: CodeHostServer,
) -> None:
    """The token of an app's installation: `GET /user` is refused, the author is no job."""
    host = code_host(server.github()).host
    keep_comment(host, 5, MARKER, "one")
    server.comments[0]["user"] = {"login": "acme-deployer[bot]", "id": 99, "type": "Bot"}

    assert keep_comment(host, 5, MARKER, "two").outcome is CommentOutcome.UPDATED
    assert len(server.comments) == 1


def test_what_another_app_wrote_and_we_may_not_change_is_passed_over(
    server: CodeHostServer,
) -> None:
    host = code_host(server.github()).host
    keep_comment(host, 5, MARKER, "of another app")
    keep_issue(host, "drift/prod", TITLE, "of another app")
    server.locked = {1}

    assert keep_comment(host, 5, MARKER, "one").outcome is CommentOutcome.CREATED
    assert keep_comment(host, 5, MARKER, "two").outcome is CommentOutcome.UPDATED
    assert [each["body"].splitlines()[1] for each in server.comments] == ["of another app", "two"]
    assert keep_issue(host, "drift/prod", TITLE, "one").outcome is CommentOutcome.CREATED


def test_ours_is_found_behind_a_page_of_others(server: CodeHostServer, host: CodeHost) -> None:
    other = {"body": "hello", "user": ROBOT, "author": ROBOT}
    server.comments.extend({"id": at + 1, **other} for at in range(150))
    keep_comment(host, 5, MARKER, "one")
    assert keep_comment(host, 5, MARKER, "two").outcome is CommentOutcome.UPDATED
    assert len(server.comments) == 151


def test_an_issue_is_opened_updated_and_closed(server: CodeHostServer, host: CodeHost) -> None:
    assert keep_issue(host, "drift/prod", TITLE, None).outcome is CommentOutcome.NOTHING
    assert keep_issue(host, "drift/prod", TITLE, "one").outcome is CommentOutcome.CREATED
    assert keep_issue(host, "drift/prod", TITLE, "one").outcome is CommentOutcome.UNCHANGED
    assert keep_issue(host, "drift/prod", TITLE, "two").outcome is CommentOutcome.UPDATED
    assert keep_issue(host, "drift/prod", TITLE, None).outcome is CommentOutcome.CLOSED
    assert keep_issue(host, "drift/prod", TITLE, None).outcome is CommentOutcome.NOTHING
    (issue,) = server.issues
    assert (issue["title"], issue["state"]) == (TITLE, "closed")
    assert issue["labels"] in ("holdfast", ["holdfast"])
    assert "two" in (issue.get("body") or "") + issue.get("description", "")
    assert keep_issue(host, "drift/prod", TITLE, "three").outcome is CommentOutcome.CREATED


@pytest.mark.parametrize("marker", ["", "a b", "a-->", "a--b", "ä"])
def test_a_marker_that_could_end_its_comment_is_refused(host: CodeHost, marker: str) -> None:
    with pytest.raises(InputError, match="expected a marker of letters, digits and"):
        keep_comment(host, 5, marker, "one")


def test_a_text_that_no_host_would_take_is_refused(host: CodeHost) -> None:
    with pytest.raises(InputError, match="expected at most 65000 characters, got 70031"):
        keep_comment(host, 5, MARKER, "x" * 70_000)


def test_a_host_that_is_busy_is_asked_again(server: CodeHostServer, host: CodeHost) -> None:
    server.failures = [503, (429, {"Retry-After": "0"})]
    assert keep_comment(host, 5, MARKER, "one").outcome is CommentOutcome.CREATED


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"Retry-After": "0"}, id="secondary-limit"),
        pytest.param({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"}, id="spent"),
    ],
)
def test_a_short_limit_of_requests_is_waited_for(
    server: CodeHostServer, host: CodeHost, headers: dict[str, str]
) -> None:
    server.failures = [(403, headers)]
    assert keep_comment(host, 5, MARKER, "one").outcome is CommentOutcome.CREATED


@pytest.mark.parametrize("status", [403, 429])
def test_a_long_limit_of_requests_is_no_refused_token(
    server: CodeHostServer, host: CodeHost, status: int
) -> None:
    server.failures = [(status, {"Retry-After": "1800"})]
    with pytest.raises(CodeHostError, match="the limit of requests is reached; run it again in 30"):
        keep_comment(host, 5, MARKER, "one")
    assert server.requests == 1


def test_a_limit_that_does_not_end_is_given_up(server: CodeHostServer, host: CodeHost) -> None:
    server.failures = [(403, {"Retry-After": "0"})] * 20
    with pytest.raises(CodeHostError, match="the limit of requests is reached") as raised:
        keep_comment(host, 5, MARKER, "one")
    assert raised.value.exit_code is ExitCode.ERROR


def test_a_right_that_is_missing_is_no_limit(server: CodeHostServer, host: CodeHost) -> None:
    server.failures = [(403, {"X-RateLimit-Remaining": "4999"})]
    with pytest.raises(CodeHostError, match="403 later") as raised:
        keep_comment(host, 5, MARKER, "one")
    assert raised.value.exit_code is ExitCode.AUTHENTICATION


@pytest.mark.parametrize(
    ("page", "says"),
    [
        pytest.param("<html>Sign in</html>", "expected JSON, got text/html", id="html"),
        pytest.param("", "expected JSON, got", id="empty"),
        pytest.param('{"login": "x"}', "expected a JSON list of objects", id="another-document"),
    ],
)
def test_the_page_of_a_proxy_is_an_error_without_a_traceback(
    server: CodeHostServer, host: CodeHost, page: str, says: str
) -> None:
    server.page = page or " "
    with pytest.raises(CodeHostError, match=f"{says}.*whether a proxy answers"):
        keep_comment(host, 5, MARKER, "one")


def test_a_failure_names_request_and_answer_and_no_token(
    server: CodeHostServer, host: CodeHost
) -> None:
    server.failures = [500]
    with pytest.raises(CodeHostError, match="500 later") as raised:
        keep_comment(host, 5, MARKER, "one")
    assert TOKEN not in str(raised.value)
    assert raised.value.exit_code is ExitCode.ERROR


@pytest.mark.parametrize("name", ["github", "gitlab"])
def test_a_refused_token_says_which_right_is_missing(server: CodeHostServer, name: str) -> None:
    variables = getattr(server, name)()
    variables |= {"GITHUB_TOKEN": "wrong", "GITLAB_TOKEN": "wrong"}
    host = code_host(variables).host
    with pytest.raises(CodeHostError, match=r"401 Bad credentials; (give|set)") as raised:
        keep_comment(host, 5, MARKER, "one")
    assert raised.value.exit_code is ExitCode.AUTHENTICATION


def test_a_host_that_is_gone_is_an_error_without_a_traceback(server: CodeHostServer) -> None:
    host = code_host(server.github() | {"GITHUB_API_URL": "http://127.0.0.1:1"}).host
    with pytest.raises(CodeHostError, match="no answer"):
        keep_comment(host, 5, MARKER, "one")
