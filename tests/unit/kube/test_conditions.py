import pytest
from holdfast.kube.conditions import join_names


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ((), ""),
        (("a",), "a"),
        (("a", "b", "c"), "a; b; c"),
        (("a", "b", "c", "d", "e"), "a; b; c; and 2 more"),
    ],
)
def test_a_message_names_the_first_few_and_counts_the_others(
    names: tuple[str, ...], text: str
) -> None:
    assert join_names(names) == text
