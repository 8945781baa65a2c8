import pytest
from holdfast.kube.value_text import LONGEST_DIFF_LINES, line_diff


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("one", "two", id="short texts"),
        pytest.param(None, "a\nb\n", id="nothing before"),
        pytest.param({"a": 1}, "a\nb\n", id="no text"),
        pytest.param("a\n", "b\n", id="one line each"),
    ],
)
def test_short_values_have_no_diff(before: object, after: object) -> None:
    assert line_diff(before, after) == ()


def test_lines_that_went_and_came_stand_beside_their_neighbours() -> None:
    assert line_diff("a\nb\nc\n", "a\nB\nc\n")[1:] == (" a", "-b", "+B", " c", " ")


def test_a_line_cannot_move_the_cursor() -> None:
    assert "+\\e[2J" in line_diff("a\nb", "a\n\x1b[2J")


def test_a_long_diff_says_how_much_it_leaves_out() -> None:
    lines = line_diff("x\n" * 1000, "y\n" * 1000)
    assert len(lines) == LONGEST_DIFF_LINES + 1
    assert lines[-1].endswith("more lines")
