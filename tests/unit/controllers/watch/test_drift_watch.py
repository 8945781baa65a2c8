"""`holdfast drift watch`: what is refused before anything is watched."""

from pathlib import Path

import pytest
from holdfast.cli.main import run

DESIRED = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: cx}\n"


@pytest.fixture
def desired(tmp_path: Path) -> str:
    file = tmp_path / "desired.yaml"
    file.write_text(DESIRED)
    return str(file)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(["--live", "x.yaml"], "No such option", id="a file"),
        pytest.param(["--resync", "0"], "0.0 is not in the range", id="resync"),
        pytest.param(
            ["--webhook", "ftp://x"],
            "--webhook: expected a URL that begins with http:// or https://; such as",
            id="scheme",
        ),
        pytest.param(
            ["--webhook", "https://u:hunter2@x/"],
            "put a token into HOLDFAST_WEBHOOK_TOKEN",
            id="password",
        ),
        pytest.param(["--metrics", "203.0.113.1:9464"], "choose another address", id="address"),
        pytest.param(["--metrics", ":99999"], "expected HOST:PORT", id="port"),
        pytest.param(["--metrics", "no/such/folder/f"], "no/such/folder/f", id="file"),
    ],
)
def test_bad_input_is_one_error_and_exit_code_2(
    desired: str, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["drift", "watch", "--desired", desired, *options]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error
    assert "hunter2" not in error


@pytest.mark.parametrize("name", ["HOLDFAST_SLACK_URL", "HOLDFAST_TEAMS_URL"])
@pytest.mark.parametrize(
    ("url", "message"),
    [
        pytest.param("http://hooks.example/hunter2", "that begins with https://", id="clear text"),
        pytest.param("https://u:hunter2@hooks.example/", "holds a user or a password", id="user"),
        pytest.param("hunter2", "that begins with https://", id="no URL"),
    ],
)
def test_the_address_of_a_channel_is_checked_at_the_start_and_not_repeated(
    desired: str,
    name: str,
    url: str,
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(name, url)
    assert run(["drift", "watch", "--desired", desired]) == 2
    error = capsys.readouterr().err
    assert f"{name}: " in error
    assert message in error
    assert "hunter2" not in error
