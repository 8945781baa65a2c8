"""Waits grow up to a bound and differ a little."""

import pytest
from holdfast.adapters.cluster.backoff import (
    LONGEST_ASKED_WAIT_SECONDS,
    REQUESTS,
    STREAMS,
    Backoff,
    request_wait_seconds,
)
from hypothesis import given
from hypothesis import strategies as st


@given(st.integers(1, 10_000))
def test_waits_double_differ_a_little_and_are_bounded(failures: int) -> None:
    exact = min(0.8 * 2.0 ** min(failures - 1, 10), 30.0)
    assert exact * 0.8 <= STREAMS.seconds(failures) <= exact * 1.2


@pytest.mark.parametrize(("failures", "seconds"), [(0, 0.0), (1, 1.0), (2, 3.0), (3, 5.0)])
def test_without_jitter_waits_are_exact(failures: int, seconds: float) -> None:
    assert Backoff(1.0, 5.0, factor=3.0, jitter=0.0).seconds(failures) == seconds


@pytest.mark.parametrize(
    ("asked", "waited"),
    [(3.0, 3.0), (100_000.0, LONGEST_ASKED_WAIT_SECONDS)],
    ids=["as asked", "never for hours"],
)
def test_what_the_server_asks_for_counts(asked: float, waited: float) -> None:
    assert request_wait_seconds(1, asked) == waited


def test_without_a_wish_of_the_server_the_policy_of_requests_counts() -> None:
    assert 0 < request_wait_seconds(1) <= REQUESTS.first_seconds * 1.2
