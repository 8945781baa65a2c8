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
