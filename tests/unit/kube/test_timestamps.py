from datetime import UTC, datetime, timedelta, timezone

import pytest
from holdfast.kube.timestamps import Precision, format_utc, parse_timestamp

NOON = datetime(2026, 11, 21, 12, 0, 5, 678_912, tzinfo=UTC)


@pytest.mark.parametrize(
    ("precision", "text"),
    [
        ("seconds", "2026-11-21T12:00:05Z"),
        ("milliseconds", "2026-11-21T12:00:05.678Z"),
        ("microseconds", "2026-11-21T12:00:05.678912Z"),
    ],
)
def test_a_time_is_written_in_utc_and_cut_off_at_its_precision(
    precision: Precision, text: str
) -> None:
    elsewhere = NOON.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert format_utc(NOON, precision) == format_utc(elsewhere, precision) == text


def test_what_is_written_is_read_as_the_same_moment() -> None:
    assert parse_timestamp(format_utc(NOON, "microseconds")) == NOON


@pytest.mark.parametrize("text", ["2026-11-16T09:00:00", "2026-11-16", "soon", ""])
def test_a_text_that_names_no_moment_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"names no time zone|Invalid isoformat string"):
        parse_timestamp(text)
