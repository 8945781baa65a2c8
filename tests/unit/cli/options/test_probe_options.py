"""Options of `--probes`: nothing is accepted and ignored, no header goes to another host."""

import pytest
from holdfast.cli.main import run
from holdfast.operations.scan.request import HostHeaders, ProbeRequest


def test_a_header_goes_to_its_host_and_to_no_other() -> None:
    request = ProbeRequest(True, headers=HostHeaders({"api.example": {"x-api-key": "k"}}))
    assert request.headers_for("https://api.example/v1/models/x") == {"x-api-key": "k"}
    for other in (
        "https://api.example:8443/",
        "https://evil.example/api.example",
        "x",
        "http://api.example/v1",
        "https://k@api.example/",
        "https://[",
        "",
    ):
        assert request.headers_for(other) == {}
    assert "k" not in repr(request).split("x-api-key")[-1] or "headers" not in repr(request)


def test_a_header_is_sent_in_clear_text_only_where_that_was_asked_for() -> None:
    headers = HostHeaders({"http://tools.ops.svc:8000": {"a": "b"}, "127.0.0.1:8000": {"c": "d"}})
    assert headers.for_url("http://Tools.ops.svc:8000/mcp") == {"a": "b"}
    assert headers.for_url("http://127.0.0.1:8000/mcp") == {"c": "d"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["-s", "dev", "--probe-address", "a=http://x"], "need --probes", id="alone"),
        pytest.param(["--desired", "x", "--probes"], "--probes requires --stack", id="files"),
        pytest.param(["-s", "dev", "--probes", "--probe-address", "a=ftp://x"],
                     "expected NAME=URL, with http or https", id="address"),
        pytest.param(["-s", "dev", "--probes", "--probe-header", "x=y"],
                     "expected HOST/NAME=VARIABLE", id="header"),
        pytest.param(["-s", "dev", "--probes", "--probe-header", "h/x=NO_SUCH_VARIABLE"],
                     "the environment variable NO_SUCH_VARIABLE is not set", id="variable"),
    ],
)  # fmt: skip
def test_bad_input_is_one_message_and_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["drift", *arguments]) == 2
    assert message in capsys.readouterr().err
