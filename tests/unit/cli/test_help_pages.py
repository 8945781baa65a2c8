"""Help that is shown without loading the verb."""

import subprocess
import sys
from pathlib import Path

import pytest
from holdfast.cli import help_pages
from holdfast.cli.main import run
from holdfast.cli.verbs import all_verbs

HEAVY = "pydantic,yaml,urllib3,pulumi,msgspec,holdfast.operations,holdfast_policies"
PRINTS_HELP = """
import sys
from holdfast.cli.main import run
code = run(sys.argv[2:])
loaded = [name for name in sys.argv[1].split(",") if name in sys.modules]
sys.exit(f"loaded: {loaded}" if loaded else code)
"""


@pytest.mark.parametrize("words", [" ".join(words) for words, _ in all_verbs()])
@pytest.mark.parametrize("option", help_pages.HELP_OPTIONS)
def test_every_verb_has_a_page(words: str, option: str) -> None:
    page = help_pages.page_of([*words.split(), option])
    assert page is not None
    assert page.startswith(f"Usage: holdfast {words}")


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param([], id="nothing"),
        pytest.param(["--help"], id="the command itself"),
        pytest.param(["validate"], id="no help"),
        pytest.param(["validate", "-s", "dev", "--help"], id="options before it"),
        pytest.param(["nosuch", "--help"], id="no such verb"),
        pytest.param(["../../etc/passwd", "--help"], id="no verb at all"),
        pytest.param(["drift", "../history", "--help"], id="no verb below"),
        pytest.param(["help", "--help"], id="the folder"),
    ],
)
def test_every_other_line_is_for_click(arguments: list[str]) -> None:
    assert help_pages.page_of(arguments) is None


def test_a_narrow_terminal_gets_a_page_of_its_own_width(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert help_pages.page_of(["validate", "--help"]) is None
    assert run(["validate", "--help"]) == 0
    options = capsys.readouterr().out.partition("Options:")[2]
    assert max(map(len, options.splitlines())) < 60


@pytest.mark.parametrize("words", ["validate", "explain", "up", "drift plan", "policy check"])
def test_a_page_loads_no_operation(words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PRINTS_HELP, HEAVY, *words.split(), "--help"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_pages_are_written_once_and_those_of_no_verb_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(help_pages, "FOLDER", tmp_path / "help")
    pages = {tmp_path / "help" / "validate.txt": "Usage: holdfast validate\n"}
    monkeypatch.setattr(help_pages, "rendered_pages", lambda: pages)
    (tmp_path / "help").mkdir()
    gone = tmp_path / "help" / "gone.txt"
    gone.write_text("x")
    assert set(help_pages.write_pages()) == {gone, *pages}
    assert list(help_pages.write_pages()) == []
    assert not gone.exists()
