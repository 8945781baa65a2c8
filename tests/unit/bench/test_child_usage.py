"""A child is measured alone, however much memory the measuring process has used before."""

import sys

from bench.child_usage import usage_of

MIB = 1024 * 1024


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def test_a_small_child_of_a_heavy_process_is_small() -> None:
    ballast = bytearray(b"x") * (400 * MIB)
    usage = usage_of(python("pass"))
    assert len(ballast) == 400 * MIB
    assert usage.exit_code == 0
    assert usage.peak_mib < 100


def test_a_heavy_child_is_heavy_and_the_next_one_is_not() -> None:
    heavy = usage_of(python(f"x = bytearray(b'x') * {300 * MIB}"))
    assert heavy.peak_mib > 300
    assert usage_of(python("pass")).peak_mib < 100


def test_time_and_exit_code_are_the_childs_own() -> None:
    code = "import time\nwhile time.process_time() < 0.3: pass\nraise SystemExit(7)"
    busy = usage_of(python(code))
    assert busy.exit_code == 7
    assert 0.3 <= busy.cpu_seconds < 3
    assert busy.seconds >= 0.3


def test_a_child_that_is_killed_says_by_which_signal() -> None:
    killed = usage_of(python("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"))
    assert killed.exit_code == -9


def test_what_a_child_writes_is_not_taken_for_its_figures() -> None:
    noisy = usage_of(python("import sys\nprint('out')\nprint('{}', file=sys.stderr)"))
    assert noisy.exit_code == 0


def test_the_childs_variables_are_those_that_are_given() -> None:
    ask = python("import os, sys; sys.exit(5 if os.environ.get('ONE') == '1' else 0)")
    assert usage_of(ask, {"ONE": "1", "PATH": "/usr/bin:/bin"}).exit_code == 5
