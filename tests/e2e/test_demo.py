"""`make demo` goes to its end: the first command that a newcomer runs."""

import os
import subprocess
import sys

import pytest

from tests.e2e.fleet_project import CLONE
from tests.e2e.live_sandbox import TIMEOUT_SECONDS

pytestmark = pytest.mark.e2e


def test_the_demo_deploys_finds_reverts_and_refuses(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    state = tmp_path_factory.mktemp("demo")
    variables = os.environ | {"HOLDFAST_STATE": str(state)}

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=CLONE,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_SECONDS,
        )

    try:
        done = run("examples.demo")
    finally:
        run("holdfast.cli.main", "sandbox", "down")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "alice@example.test" in done.stdout
    assert "refused by pss-privileged (mandatory)" in done.stdout
    assert "── Done." in done.stdout
