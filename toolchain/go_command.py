"""The `go` command of this machine: whether it will do, how it is run, what its failures mean."""

import os
import re
import shutil
import subprocess
from pathlib import Path

MINIMUM_GO = (1, 26)


class ToolchainError(Exception):
    """The toolchain cannot be built; the text says why and what to do."""


def go_environment() -> dict[str, str]:
    """The environment of every Go call, after a look at which Go there is."""
    executable = shutil.which("go")
    remedy = (
        "install Go 1.26 or newer and put it on PATH, or set HOLDFAST_PULUMI to your own pulumi"
    )
    if executable is None:
        message = f"Go was not found; {remedy}"
        raise ToolchainError(message)
    found = subprocess.run(
        [executable, "env", "GOVERSION"], capture_output=True, text=True, check=False
    ).stdout.strip()
    match = re.match(r"go(\d+)\.(\d+)", found)
    if match is None or (int(match[1]), int(match[2])) < MINIMUM_GO:
        message = (
            f"Go 1.26 or newer is needed, found {found or 'no version'} at {executable}; {remedy}"
        )
        raise ToolchainError(message)
    return os.environ | {
        "CGO_ENABLED": "0",
        "GOFLAGS": "-mod=readonly -buildvcs=false",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }


def run_go(arguments: list[str], folder: Path, environment: dict[str, str]) -> str:
    """Run one go command in a folder and return its standard output."""
    done = subprocess.run(
        ["go", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return done.stdout.strip()
    raise ToolchainError(explain_failure(arguments, done.stderr))


def explain_failure(arguments: list[str], stderr: str) -> str:
    """One clear message for the ways in which a Go build fails on other people's machines."""
    lines = [
        line
        for line in stderr.splitlines()
        if line.strip() and not line.startswith("go: downloading")
    ]
    detail = "\n  ".join(lines[-6:])
    unreachable = (
        r"dial tcp|no such host|connection refused|i/o timeout|TLS handshake"
        r"|404 Not Found|410 Gone|403 Forbidden"
    )
    if "no space left on device" in stderr:
        remedy = "free some space or point HOLDFAST_CACHE and GOCACHE elsewhere"
        return f"the disk is full; {remedy}\n  {detail}"
    if re.search(unreachable, stderr):
        return (
            "a pinned Go module could not be fetched; check the network and GOPROXY, then run the "
            f"same target of make again (it goes on where it stopped)\n  {detail}"
        )
    return f"'go {' '.join(arguments[:1])}' failed; what is built so far is kept\n  {detail}"
