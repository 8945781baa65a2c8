"""The help that is shown is the help that click would print."""

from holdfast.cli import help_pages


def test_every_page_is_what_click_prints() -> None:
    pages = help_pages.rendered_pages()
    kept = {file: file.read_text(encoding="utf-8") for file in help_pages.FOLDER.glob("*.txt")}
    stale = sorted(file.name for file, text in pages.items() if kept.get(file) != text)
    assert stale == [], "run `make schema`"
    assert kept.keys() == pages.keys(), "run `make schema`"
