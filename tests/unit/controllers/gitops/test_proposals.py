"""Branches of adopted drift, pushed to a repository of the test's own."""

from pathlib import Path

import pytest
from holdfast.adapters.git.repository import GitError, run_git
from holdfast.controllers.gitops.proposals import ProposalBranches

from tests.unit.adapters.git.repository import commit_all


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of `origin`, beside it."""
    first = tmp_path / "first"
    first.mkdir()
    (first / "file").write_text("x")
    commit_all(first, "First")
    run_git(tmp_path, "clone", "--quiet", "--bare", str(first), str(tmp_path / "origin"))
    run_git(tmp_path, "clone", "--quiet", str(tmp_path / "origin"), str(tmp_path / "clone"))
    return tmp_path / "clone"


def published(clone: Path) -> set[str]:
    shown = run_git(clone.parent / "origin", "for-each-ref", "--format=%(refname:short)")
    return set(shown.split())


def test_only_what_was_just_made_is_pushed(clone: Path) -> None:
    run_git(clone, "branch", "adopt-dev-merged-and-deleted-upstream")
    branches = ProposalBranches(clone)
    before = branches.commits()
    run_git(clone, "branch", "adopt-dev-new")

    assert branches.push_since(before) == ["adopt-dev-new"]
    assert published(clone) == {"main", "adopt-dev-new"}


def test_where_nothing_was_made_nothing_is_pushed_or_said_to_be(clone: Path) -> None:
    run_git(clone, "branch", "adopt-dev-old")
    branches = ProposalBranches(clone)

    assert branches.push_since(branches.commits()) == []
    assert published(clone) == {"main"}


def test_what_cannot_be_pushed_is_recreated_by_the_next_proposal(clone: Path) -> None:
    branches = ProposalBranches(clone)
    run_git(clone, "branch", "adopt-dev-new")
    (clone.parent / "origin").rename(clone.parent / "away")

    with pytest.raises(GitError):
        branches.push_since({})
    assert branches.commits() == {}
