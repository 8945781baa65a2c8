"""A rule that does not end is named with its resource, and nothing is decided."""

import threading
from pathlib import Path

import pytest
from holdfast_policies import rules
from holdfast_policies.pack.watchdog import (
    LIMIT_SECONDS,
    LIMIT_VARIABLE,
    LateRuleError,
    in_time,
    time_limit,
)


def test_a_rule_that_does_not_end_is_named_with_its_resource() -> None:
    file = Path(rules.__path__[0]) / "never_ends.py"
    is_over = threading.Event()
    made = {"is_over": is_over}
    exec(compile("def check():\n    is_over.wait()", str(file), "exec"), made)  # noqa: S102  (a rule's file)
    with pytest.raises(LateRuleError) as raised:
        in_time("urn:x", made["check"], 0.3)  # type: ignore[arg-type]  # compiled above
    is_over.set()
    assert str(raised.value) == (
        "rule never-ends has not judged urn:x within 0.3 s, so nothing is decided"
    )


def test_what_ends_in_time_is_answered() -> None:
    assert in_time("urn:x", lambda: [1], 60.0) == [1]


def test_judgements_one_after_the_other_run_in_one_thread() -> None:
    threads = {in_time("urn:x", threading.get_ident, 60.0) for _ in range(5)}
    assert len(threads) == 1
    assert threads.isdisjoint({threading.get_ident()})


def test_a_late_judgement_does_not_answer_for_the_next() -> None:
    is_over = threading.Event()
    with pytest.raises(LateRuleError):
        in_time("urn:x", lambda: is_over.wait() and "late", 0.01)
    is_over.set()
    assert in_time("urn:y", lambda: "in time", 60.0) == "in time"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_judgement_that_breaks_off_is_none() -> None:
    def broken() -> list[int]:
        raise MemoryError

    with pytest.raises(LateRuleError, match="urn:x was not judged"):
        in_time("urn:x", broken, 60.0)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param("5", 5.0, id="a number"),
        pytest.param("0", LIMIT_SECONDS, id="none"),
        pytest.param("soon", LIMIT_SECONDS, id="no number"),
    ],
)
def test_the_environment_sets_the_limit(
    said: str, expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, said)
    assert time_limit() == expected
