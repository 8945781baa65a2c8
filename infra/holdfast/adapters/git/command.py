"""One run of `git`: its output, or one error."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from holdfast.errors import HoldfastError, InputError

_NEVER_ASK = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
# Set by a hook that calls us, these would point every run at the hook's own repository.
_OF_HOOKS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")


class GitError(HoldfastError):
    """Git refused, or did not end in time."""


def run_git(
    folder: Path,
    *arguments: str,
    text: str = "",
    variables: Mapping[str, str] | None = None,
    timeout_seconds: float = 120.0,
) -> str:
    """Run one command; returns what it printed, without the last line end.

    It never asks for a password: what needs one fails.

    Args:
        folder: Working directory.
        arguments: Of `git`.
        text: Its standard input.
        variables: Over the ambient environment.
        timeout_seconds: When to give up.

    Raises:
        InputError: there is no `git`.
        GitError: it failed.
    """
    ambient = {name: value for name, value in os.environ.items() if name not in _OF_HOOKS}
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            input=text,
            env=ambient | _NEVER_ASK | dict(variables or {}),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=timeout_seconds,
        )
    except FileNotFoundError as error:
        raise InputError("git was not found", remedy="install it") from error
    except subprocess.TimeoutExpired as error:
        message = f"git {arguments[0]} did not end within {timeout_seconds:g} s"
        raise GitError(message, remedy="see whether the repository can be reached") from error
    if done.returncode:
        said = " ".join(done.stderr.split()).removeprefix("fatal: ").removeprefix("error: ")
        raise GitError(f"git {arguments[0]} failed: {said or f'exit code {done.returncode}'}")
    return done.stdout.removesuffix("\n")
