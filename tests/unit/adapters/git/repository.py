"""A repository of a test's own."""

from pathlib import Path

from holdfast.adapters.git.repository import run_git

PERSON = {
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.test",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.test",
}


def commit_all(folder: Path, message: str) -> str:
    """Commit everything in a folder, which becomes a repository if it is none; the commit."""
    if not (folder / ".git").exists():
        run_git(folder, "init", "--quiet", "--initial-branch=main")
    run_git(folder, "add", "--all")
    run_git(folder, "commit", "--quiet", "--message", message, variables=PERSON)
    return run_git(folder, "rev-parse", "HEAD")
