"""A branch of a repository elsewhere, followed in a clone of our own."""

import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from holdfast.adapters.git.repository import GitError, run_git
from holdfast.adapters.git.source import Commit, commit_named
from holdfast.errors import InputError

_FETCH_SECONDS = 300.0
_MOST_LOOKED_AT = 100


class SignatureError(GitError):
    """A commit that is not signed by anybody whom this machine trusts."""


@dataclass(frozen=True)
class TrackedBranch:
    """One branch, and the folder of the clone; no other process may work in that.

    Attributes:
        url: As `git clone` takes it.
        folder: Of the clone; made when it is absent.
    """

    url: str
    branch: str
    folder: Path

    @property
    def place(self) -> str:
        """The repository as it may be shown: without a user or password."""
        parts = urlsplit(self.url)
        if not parts.hostname or "@" not in parts.netloc:
            return self.url
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    def newest(self) -> Commit:
        """The newest commit of the branch, as the repository has it now.

        Raises:
            InputError: there is no such branch.
            GitError: the repository cannot be reached.
        """
        self._point_at_repository()
        try:
            # What was forced over is taken as well: the repository says what is wanted.
            refs = f"+refs/heads/{self.branch}:refs/remotes/origin/{self.branch}"
            self._run("fetch", "--quiet", "--no-tags", "--prune", "origin", refs)
        except GitError as error:
            if "couldn't find remote ref" in error.message:
                raise InputError(
                    f"{self.place} has no branch {self.branch!r}", remedy="correct --branch"
                ) from error
            message = f"{self.place} cannot be fetched: {self._masked(error.message)}"
            raise GitError(message, remedy="see whether it can be reached from here") from error
        return commit_named(self.folder, f"refs/remotes/origin/{self.branch}")

    def verify(self, commit: Commit) -> None:
        """Make sure that a commit is signed by a key that this machine trusts.

        Raises:
            SignatureError: it is not.
        """
        try:
            self._run("verify-commit", commit.name)
        except GitError as error:
            raise SignatureError(
                f"commit {commit.short} by {commit.author} has no signature that is trusted here",
                remedy="sign it, or add the key (gpg.ssh.allowedSignersFile, or the GPG key ring)",
            ) from error

    def newest_verified(self) -> Commit:
        """The newest commit of the branch, as fetched last, that a trusted key has signed.

        Raises:
            SignatureError: none of the last ones is.
        """
        ref = f"refs/remotes/origin/{self.branch}"
        names = self._run("rev-list", "--first-parent", f"--max-count={_MOST_LOOKED_AT}", ref)
        for name in names.split():
            commit = commit_named(self.folder, name)
            with suppress(SignatureError):
                self.verify(commit)
                return commit
        raise SignatureError(
            f"none of the last {_MOST_LOOKED_AT} commits of {self.branch} has a trusted signature",
            remedy="sign one, or add the key (gpg.ssh.allowedSignersFile, or the GPG key ring)",
        )

    def check_out(self, commit: Commit) -> None:
        """Make the clone's files those of a commit, but for what Git ignores.

        Raises:
            GitError: they cannot be written.
        """
        self._run("checkout", "--quiet", "--force", "--detach", commit.name)
        self._run("clean", "--quiet", "--force", "-d")

    def check_out_beside(self, folder: Path, revision: str = "HEAD") -> None:
        """Make the files of another folder those of a revision; the clone's own stay as they are.

        Args:
            folder: A working tree beside the clone; made when it is absent.
            revision: A commit of the clone; the one that it has checked out without.

        Raises:
            GitError: they cannot be written.
        """
        commit = commit_named(self.folder, revision).name
        try:
            if not (folder / ".git").exists():
                raise GitError("no working tree")
            run_git(folder, "checkout", "--quiet", "--force", "--detach", commit)
            run_git(folder, "clean", "--quiet", "--force", "-d")
        except GitError:
            # There is none yet, or it belongs to a clone that was removed meanwhile.
            shutil.rmtree(folder, ignore_errors=True)
            self._run("worktree", "prune")
            self._run("worktree", "add", "--quiet", "--force", "--detach", str(folder), commit)

    def _point_at_repository(self) -> None:
        """Make the clone one of this repository; an earlier run may have had another one."""
        if not (self.folder / ".git").is_dir():
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._run("init", "--quiet")
        # A name beginning with a dash must not be taken for an option.
        self._run("config", "remote.origin.url", self.url)

    def _run(self, *arguments: str) -> str:
        return run_git(self.folder, *arguments, timeout_seconds=_FETCH_SECONDS)

    def _masked(self, text: str) -> str:
        return text.replace(self.url, self.place)
