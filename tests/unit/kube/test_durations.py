import pytest
from holdfast.kube.durations import parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        pytest.param("90m", 5400, id="minutes"),
        pytest.param("1h30m0s", 5400, id="the same in parts"),
        pytest.param("1.5h", 5400, id="fraction"),
        pytest.param("-2s", -2, id="negative"),
        pytest.param("0", 0, id="zero"),
    ],
)
def test_spelling_does_not_change_a_duration(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "5", "1d", "h", "5 s"])
def test_what_go_does_not_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration(text)
