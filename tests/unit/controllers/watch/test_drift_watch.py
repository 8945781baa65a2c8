"""`holdfast drift --watch`: what is refused before anything is watched."""

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
        pytest.param(["--interval", "5"], "--interval is an option of --watch", id="no watch"),
        pytest.param(["-v"], "--verbose is an option of --watch", id="flag"),
        pytest.param(["--watch", "--revert"], "--watch only reports", id="revert"),
        pytest.param(["--watch", "--live", "x.yaml"], "a file cannot be watched", id="file"),
        pytest.param(["--watch", "--interval", "0"], "0.0 is not in the range", id="interval"),
        pytest.param(
            ["--watch", "--webhook", "ftp://x"],
            "--webhook: expected a URL that begins with http:// or https://; such as",
            id="scheme",
        ),
        pytest.param(
            ["--watch", "--webhook", "https://u:hunter2@x/"],
            "put a token into HOLDFAST_WEBHOOK_TOKEN",
            id="password",
        ),
        pytest.param(
            ["--watch", "--metrics", "203.0.113.1:9464"], "choose another address", id="address"
        ),
        pytest.param(["--watch", "--metrics", ":99999"], "expected HOST:PORT", id="port"),
        pytest.param(["--watch", "--metrics", "no/such/folder/f"], "no/such/folder/f", id="file"),
    ],
)
def test_bad_input_is_one_error_and_exit_code_2(
    desired: str, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["drift", "--desired", desired, *options]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error
    assert "hunter2" not in error
