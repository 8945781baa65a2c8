"""Following a branch of a repository elsewhere."""

from pathlib import Path

import pytest
from holdfast.adapters.git.repository import GitError, run_git
from holdfast.adapters.git.tracking import SignatureError, TrackedBranch
from holdfast.errors import InputError

from tests.unit.adapters.git.repository import PERSON, commit_all, sign_commits


def pushed(work: Path, bare: Path, text: str) -> str:
    (work / "a").write_text(text)
    name = commit_all(work, f"Say {text}")
    run_git(work, "push", "--quiet", "--force", str(bare), "HEAD:main")
    return name


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    folder = tmp_path / "bare.git"
    folder.mkdir()
    (tmp_path / "work").mkdir()
    run_git(folder, "init", "--quiet", "--bare")
    return folder


def test_what_is_pushed_is_seen_and_checked_out(bare: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    first = pushed(work, bare, "one")
    branch = TrackedBranch(str(bare), "main", tmp_path / "clone")
    assert branch.newest().name == first
    second = pushed(work, bare, "two")
    newest = branch.newest()
    assert newest.name == second
    branch.check_out(newest)
    (branch.folder / "a").write_text("edited here")
    (branch.folder / "left").write_text("behind")
    branch.check_out(newest)
    assert (branch.folder / "a").read_text() == "two"
    assert not (branch.folder / "left").exists()


def test_a_branch_that_was_forced_is_followed(bare: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    pushed(work, bare, "one")
    branch = TrackedBranch(str(bare), "main", tmp_path / "clone")
    branch.newest()
    (work / "a").write_text("other")
    run_git(work, "commit", "--quiet", "--amend", "--all", "-m", "Other", variables=PERSON)
    run_git(work, "push", "--quiet", "--force", str(bare), "HEAD:main")
    assert branch.newest().subject == "Other"


def test_another_repository_is_followed_in_the_same_clone(bare: Path, tmp_path: Path) -> None:
    pushed(tmp_path / "work", bare, "one")
    clone = tmp_path / "clone"
    with pytest.raises(GitError):
        TrackedBranch(str(tmp_path / "absent.git"), "main", clone).newest()
    assert TrackedBranch(str(bare), "main", clone).newest().subject == "Say one"


def test_what_cannot_be_followed_is_one_clear_error(bare: Path, tmp_path: Path) -> None:
    pushed(tmp_path / "work", bare, "one")
    with pytest.raises(InputError, match="has no branch 'nowhere'"):
        TrackedBranch(str(bare), "nowhere", tmp_path / "clone").newest()
    with pytest.raises(GitError, match="cannot be fetched"):
        TrackedBranch(str(tmp_path / "absent.git"), "main", tmp_path / "other").newest()


def test_an_unsigned_commit_is_not_verified(bare: Path, tmp_path: Path) -> None:
    pushed(tmp_path / "work", bare, "one")
    branch = TrackedBranch(str(bare), "main", tmp_path / "clone")
    with pytest.raises(SignatureError, match="has no signature that is trusted here"):
        branch.verify(branch.newest())


def test_a_signed_commit_is_verified(bare: Path, tmp_path: Path) -> None:
    signers = sign_commits(tmp_path / "work", tmp_path)
    pushed(tmp_path / "work", bare, "one")
    branch = TrackedBranch(str(bare), "main", tmp_path / "clone")
    newest = branch.newest()
    run_git(branch.folder, "config", "gpg.ssh.allowedSignersFile", str(signers))
    branch.verify(newest)
    assert branch.newest_verified() == newest


@pytest.mark.parametrize(
    ("url", "place"),
    [
        pytest.param("https://u:secret@git.example/a.git", "https://git.example/a.git", id="user"),
        pytest.param("https://git.example/a.git", "https://git.example/a.git", id="plain"),
        pytest.param("git@git.example:a.git", "git@git.example:a.git", id="ssh"),
    ],
)
def test_a_password_in_the_address_is_never_shown(url: str, place: str, tmp_path: Path) -> None:
    assert TrackedBranch(url, "main", tmp_path).place == place
