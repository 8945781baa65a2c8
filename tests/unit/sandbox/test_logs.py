from pathlib import Path

import pytest
from holdfast.sandbox.logs import LOG_NAMES, follow, last_lines, log_files
from holdfast.sandbox.paths import SandboxPaths
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.text(alphabet="ab é", max_size=9), max_size=20),
    count=st.integers(min_value=0, max_value=25),
    is_ended=st.booleans(),
)
def test_the_tail_is_what_reading_everything_would_give(
    tmp_path: Path, lines: list[str], count: int, is_ended: bool
) -> None:
    text = "\n".join(lines) + ("\n" if is_ended else "")
    log = tmp_path / "log"
    log.write_text(text)

    everything = text.splitlines()
    assert last_lines(log, count) == everything[len(everything) - min(count, len(everything)) :]


def test_reads_only_the_end_of_a_large_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("".join(f"line {number}\n" for number in range(50_000)))

    assert last_lines(log, 9_000) == [f"line {number}" for number in range(41_000, 50_000)]


def test_a_log_may_not_be_there_yet(tmp_path: Path) -> None:
    assert last_lines(tmp_path / "log", 5) == []


def test_follows_what_is_written_from_now_on_also_into_a_new_file(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("old\n")
    news = follow({"etcd": log})
    with log.open("a") as file:
        file.write("first\nsecond, only half of it")
    assert next(news) == ("etcd", "first")

    log.rename(tmp_path / "log.1")
    log.write_text("after the rotation\n")

    assert next(news) == ("etcd", "after the rotation")


@pytest.mark.parametrize("name", LOG_NAMES)
def test_every_name_has_a_file(tmp_path: Path, name: str) -> None:
    assert list(log_files(SandboxPaths("a", tmp_path), name)) == [name]


def test_without_a_name_all_programs_are_meant(tmp_path: Path) -> None:
    place = SandboxPaths("a", tmp_path)

    assert "audit" not in log_files(place)
    assert len(log_files(place)) == 5
