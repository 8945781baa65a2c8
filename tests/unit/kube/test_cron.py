import pytest
from holdfast.kube.cron import fault_in_cron


@pytest.mark.parametrize(
    "text",
    [
        "0 2 * * *",
        "*/15 * * * *",
        "0 9-17 * * mon-fri",
        "5/10 1,2,3 ? JAN sun",
        "0 0 29 2 *",
        "0 0 31 2 1",
        "  0  0 1 1 0 ",
    ],
)
def test_what_the_controller_reads_is_a_schedule(text: str) -> None:
    assert fault_in_cron(text) == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("0 2 * *", "must have five fields", id="too few fields"),
        pytest.param("0 0 2 * * *", "has 6", id="with seconds"),
        pytest.param("@daily", "has 1", id="a word for a schedule"),
        pytest.param("60 * * * *", "'60' as minute, where 0 to 59 may stand", id="minute"),
        pytest.param("0 24 * * *", "'24' as hour", id="hour"),
        pytest.param("0 0 0 * *", "'0' as day of the month", id="day"),
        pytest.param("0 0 * 13 *", "'13' as month", id="month"),
        pytest.param("0 0 * * 7", "'7' as day of the week, where 0 to 6", id="weekday"),
        pytest.param("0 0 * * funday", "'funday'", id="no such day"),
        pytest.param("10-5 * * * *", "'10-5'", id="range backwards"),
        pytest.param("*-5 * * * *", "'*-5'", id="range from everything"),
        pytest.param("*/0 * * * *", "'*/0'", id="step of nothing"),
        pytest.param("1,,2 * * * *", "''", id="empty part"),
        pytest.param("² * * * *", "'²'", id="a digit of another kind"),
        pytest.param("0 0 31 2,4 *", "never comes", id="a day that no such month has"),
    ],
)
def test_what_it_would_refuse_or_never_reach_is_told(text: str, words: str) -> None:
    assert words in fault_in_cron(text)
