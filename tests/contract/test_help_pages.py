"""The help and the words that are kept are those of the commands."""

import subprocess
import sys

COMPARES = """
from holdfast.cli import help_pages
pages = help_pages.rendered_pages()
kept = {file: file.read_text(encoding="utf-8") for file in help_pages.FOLDER.glob("*.txt")}
print(sorted(
    file.name for file in pages.keys() | kept.keys() if kept.get(file) != pages.get(file)
))
"""


def test_every_page_is_what_click_prints() -> None:
    # In a process of its own: a command keeps the help option of whichever context asks first.
    command = [sys.executable, "-c", COMPARES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", ""), "run `make schema`"


COMPARES_WORDS = """
from holdfast.cli.completion_words import FILE, rendered_table
print(FILE.read_text(encoding="utf-8") == rendered_table())
"""


def test_what_a_shell_completes_is_what_the_commands_take() -> None:
    command = [sys.executable, "-c", COMPARES_WORDS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n", ""), "run `make schema`"
