"""Names, labels and schedules as the API server accepts them."""

import pytest
from holdfast.kube.syntax import (
    fault_in_cron,
    fault_in_label_name,
    fault_in_label_value,
    fault_in_qualified_key,
    fault_in_subdomain_name,
)


@pytest.mark.parametrize("name", ["a", "support-rag", "0", "a" * 63])
def test_accepts_label_names(name: str) -> None:
    assert fault_in_label_name(name) == ""


@pytest.mark.parametrize(
    ("name", "says"),
    [
        pytest.param("", "empty", id="empty"),
        pytest.param("../x", "'.'", id="path"),
        pytest.param("a/b", "'/'", id="slash"),
        pytest.param("Agent_1", "'A'", id="upper-case"),
        pytest.param("-a", "begin and end", id="leading-dash"),
        pytest.param("a" * 64, "at most 63", id="too-long"),
    ],
)
def test_says_what_is_wrong_with_a_label_name(name: str, says: str) -> None:
    assert says in fault_in_label_name(name)


def test_accepts_a_subdomain_and_names_its_faulty_part() -> None:
    assert fault_in_subdomain_name("agents.holdfast.dev") == ""
    assert "'_'" in fault_in_subdomain_name("agents.hold_fast.dev")
    assert "at most 253" in fault_in_subdomain_name("a" * 254)


def test_limits_label_values_to_63_characters() -> None:
    assert fault_in_label_value("") == ""
    assert fault_in_label_value("A.b_c-1") == ""
    assert "has 64" in fault_in_label_value("a" * 64)
    assert "letters, digits" in fault_in_label_value("a b")


@pytest.mark.parametrize(
    ("key", "says"),
    [
        pytest.param("holdfast.dev/agent", "", id="prefixed"),
        pytest.param("tier", "", id="plain"),
        pytest.param("a/b/c", "at most one '/'", id="two-slashes"),
        pytest.param("Bad_/x", "prefix", id="bad-prefix"),
        pytest.param("example.dev/", "name after", id="no-name"),
    ],
)
def test_judges_qualified_keys(key: str, says: str) -> None:
    fault = fault_in_qualified_key(key)
    assert (says in fault) if says else fault == ""


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
def test_what_it_would_refuse_or_never_reach_is_reported(text: str, words: str) -> None:
    assert words in fault_in_cron(text)
