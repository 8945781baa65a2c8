"""Prometheus' own tool, as `make testtools` lays it down: what it says of rules and metrics."""

import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@cache
def promtool_path() -> Path:
    """The program; built once a machine."""
    script = ROOT / "toolchain" / "test_tools.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip()) / "promtool"


def promtool(*arguments: str | Path, stdin: str = "") -> None:
    """Run it; it must find nothing wrong."""
    done = subprocess.run(
        [promtool_path(), *arguments], input=stdin, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def check_metrics(text: str) -> None:
    """What an endpoint serves is well formed, and named as Prometheus asks."""
    assert text
    promtool("check", "metrics", stdin=text)
