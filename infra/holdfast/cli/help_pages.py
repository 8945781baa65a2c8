"""The help of every verb as a page on the disk: shown without loading the verb.

A verb loads its operation, the models and the policy pack; its help does not wait for
any of them. The pages are what click prints at its usual width. Run
`python -m holdfast.cli.help_pages` after a change of an option; a contract test compares them.
"""

import contextlib
import io
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from holdfast.cli.verbs import all_verbs

FOLDER: Final = Path(__file__).with_name("help")
HELP_OPTIONS: Final = ("-h", "--help")
WIDTH_COLUMNS: Final = 80
"""Width at which click stops: wider terminals get the same page."""


def page_of(arguments: Sequence[str]) -> str | None:
    """The page that a command line asks for; None where it has to be made.

    Args:
        arguments: The command line, without the program's name.
    """
    *words, last = arguments or ("",)
    if last not in HELP_OPTIONS or tuple(words) not in {each for each, _ in all_verbs()}:
        return None
    if shutil.get_terminal_size().columns < WIDTH_COLUMNS:
        return None
    try:
        return _file_of(words).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def rendered_pages() -> Mapping[Path, str]:
    """What click prints for every verb, by the file that holds it."""
    return {_file_of(words): _rendered(words) for words, _ in all_verbs()}


def write_pages() -> Iterator[Path]:
    """Write every page and remove those of verbs that are gone; gives what has changed."""
    pages = rendered_pages()
    FOLDER.mkdir(exist_ok=True)
    for file in sorted(set(FOLDER.glob("*.txt")) - pages.keys()):
        file.unlink()
        yield file
    for file, text in pages.items():
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            yield file


def _file_of(words: Sequence[str]) -> Path:
    return FOLDER / f"{'-'.join(words)}.txt"


def _rendered(words: Sequence[str]) -> str:
    from holdfast.cli.main import command  # noqa: PLC0415  (the command shows these pages)

    columns, printed = os.environ.get("COLUMNS"), io.StringIO()
    os.environ["COLUMNS"] = str(WIDTH_COLUMNS)
    try:
        with contextlib.redirect_stdout(printed):
            command.main([*words, "--help"], prog_name="holdfast", standalone_mode=False)
    finally:
        if columns is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = columns
    return printed.getvalue()


if __name__ == "__main__":
    for changed in write_pages():
        print(f"wrote {changed.name}")  # noqa: T201  (a program of its own)
