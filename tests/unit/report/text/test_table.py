"""Tables of text reports: columns under headers, and words that wrap at 80."""

import click
from holdfast.report.text.table import styled, table


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert table(("NAME", "STATE"), [("a-long-name", "ok"), ("b", "")]) == [
        "NAME         STATE",
        "a-long-name  ok",
        "b",
    ]


def test_styles_do_not_count_for_the_width() -> None:
    _, first, second = table(
        ("LEVEL", "TITLE"), [(styled("high", "red", colour=True), "x"), ("advisory", "y")]
    )
    assert click.unstyle(first) == "high      x"
    assert second == "advisory  y"


def test_words_of_the_last_column_wrap_below_themselves() -> None:
    words = " ".join(["word"] * 30)
    _, row = table(("NAME", "REASON"), [("agent", words)], "  ")
    lines = row.split("\n")
    assert all(len(line) <= 80 for line in lines)
    assert all(line.startswith(" " * 9) for line in lines[1:])
    assert row.split()[1:] == words.split()


def test_a_word_that_no_line_can_hold_is_kept_whole() -> None:
    name = "x" * 100
    assert name in table(("A", "B"), [("a", name)])[1]
