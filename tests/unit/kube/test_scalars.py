"""Quantities, durations and timestamps."""

from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction

import pytest
from holdfast.kube.scalars import (
    Precision,
    format_utc,
    parse_duration,
    parse_quantity,
    parse_timestamp,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("1", Fraction(1), id="integer"),
        pytest.param("250m", Fraction(1, 4), id="milli"),
        pytest.param("1000m", Fraction(1), id="milli-equal-to-one"),
        pytest.param("1Gi", Fraction(1073741824), id="binary"),
        pytest.param("1.5G", Fraction(1500000000), id="decimal"),
        pytest.param("1e3", Fraction(1000), id="exponent"),
        pytest.param("1E", Fraction(10**18), id="exa-is-no-exponent"),
        pytest.param(".5", Fraction(1, 2), id="no-leading-digit"),
        pytest.param(2, Fraction(2), id="number"),
        pytest.param("-1Ki", Fraction(-1024), id="negative"),
    ],
)
def test_reads_every_spelling_of_a_quantity(text: str, value: Fraction) -> None:
    assert parse_quantity(text) == value


@pytest.mark.parametrize("text", ["", "1 core", "512MB", "Gi", "1e", "1GiB", "0x10", "1,5"])
def test_refuses_what_is_no_quantity(text: str) -> None:
    with pytest.raises(ValueError, match="not a Kubernetes quantity"):
        parse_quantity(text)


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
