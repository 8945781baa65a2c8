"""What a project's folder holds, on real repositories."""

from pathlib import Path

import pytest
from holdfast.adapters.git.repository import GitError, checked_out, run_git
from holdfast.adapters.git.source import commit_named, commits_between, source_of
from holdfast.errors import InputError

from tests.unit.adapters.git.repository import PERSON, commit_all


def test_a_clean_checkout_is_its_commit(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a")
    name = commit_all(tmp_path, "First agent")
    source = source_of(tmp_path)
    assert source is not None
    assert (source.commit.name, source.is_dirty) == (name, False)
    assert source.commit.author == "Ann <ann@example.test>"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        pytest.param("project/a.yaml", "b", id="a changed file"),
        pytest.param("project/new.yaml", "b", id="a new file"),
        pytest.param("project/with space.yaml", "b", id="a name with a space"),
    ],
)
def test_what_is_not_committed_is_named(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.yaml").write_text("a")
    commit_all(tmp_path, "First agent")
    (tmp_path / file).write_text(text)
    source = source_of(tmp_path / "project")
    assert source is not None
    assert source.changed == (file,)


def digest_of(folder: Path) -> str:
    source = source_of(folder)
    assert source is not None
    return source.changed_digest


@pytest.mark.parametrize(
    "file",
    [
        pytest.param("a.yaml", id="a changed file"),
        pytest.param("new.yaml", id="a new file"),
        pytest.param("new/folder/b.yaml", id="a file in a new folder"),
    ],
)
def test_a_file_that_is_changed_again_has_another_digest(tmp_path: Path, file: str) -> None:
    (tmp_path / "a.yaml").write_text("a")
    commit_all(tmp_path, "First agent")
    assert digest_of(tmp_path) == ""
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text("b")
    first = digest_of(tmp_path)
    assert digest_of(tmp_path) == first
    (tmp_path / file).write_text("c")
    second = digest_of(tmp_path)
    (tmp_path / file).unlink()
    assert len({"", first, second, digest_of(tmp_path)}) >= (4 if file == "a.yaml" else 3)


STACK_FILE = "project/stacks/Pulumi.dev.yaml"


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        pytest.param("config:\n  a: 1\nencryptionsalt: v1:x\n", (), id="the salt of a new stack"),
        pytest.param("config: {a: 1}  # one\nencryptionsalt: v1:x\n", (), id="in another layout"),
        pytest.param("encryptionsalt: v1:x\nconfig:\n  a: 1", (), id="wherever it stands"),
        pytest.param(
            "config:\n  a: 2\nencryptionsalt: v1:x\n", (STACK_FILE,), id="and something else"
        ),
    ],
)
def test_a_salt_that_the_engine_adds_to_a_stacks_file_is_no_change(
    tmp_path: Path, text: str, changed: tuple[str, ...]
) -> None:
    file = tmp_path / STACK_FILE
    file.parent.mkdir(parents=True)
    file.write_text("config:\n  a: 1\n")
    commit_all(tmp_path, "First stack")
    file.write_text(text)
    source = source_of(tmp_path / "project")
    assert source is not None
    assert source.changed == changed


def test_a_salt_that_is_replaced_is_a_change(tmp_path: Path) -> None:
    file = tmp_path / STACK_FILE
    file.parent.mkdir(parents=True)
    file.write_text("encryptionsalt: v1:x\n")
    commit_all(tmp_path, "First stack")
    file.write_text("encryptionsalt: v1:y\n")
    source = source_of(tmp_path / "project")
    assert source is not None
    assert source.changed == (STACK_FILE,)


def test_files_outside_the_project_and_ignored_ones_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".gitignore").write_text("*.log\n")
    commit_all(tmp_path, "First agent")
    (tmp_path / "beside.txt").write_text("x")
    (tmp_path / "project" / "run.log").write_text("x")
    source = source_of(tmp_path / "project")
    assert source is not None
    assert not source.is_dirty


def test_no_repository_and_an_empty_one_have_no_source(tmp_path: Path) -> None:
    assert source_of(tmp_path) is None
    run_git(tmp_path, "init", "--quiet")
    assert source_of(tmp_path) is None


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("Raise the limits (#12)", "12", id="squashed on GitHub"),
        pytest.param("Merge pull request #7 from a/b", "7", id="merged on GitHub"),
        pytest.param(
            "x\n\nPull-Request: https://git.example/4\n", "https://git.example/4", id="trailer"
        ),
        pytest.param("Fix issue #3 at last", "", id="an issue is none"),
    ],
)
def test_the_pull_request_is_read_from_the_message(
    tmp_path: Path, message: str, expected: str
) -> None:
    (tmp_path / "a").write_text("a")
    name = commit_all(tmp_path, message)
    assert commit_named(tmp_path, name[:8]).pull_request == expected


def test_an_unknown_commit_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    commit_all(tmp_path, "First agent")
    with pytest.raises(InputError, match="there is no commit 'nowhere' in the repository of"):
        commit_named(tmp_path, "nowhere")


def test_an_earlier_commit_is_checked_out_beside_the_working_tree(tmp_path: Path) -> None:
    project = tmp_path / "repo" / "project"
    project.mkdir(parents=True)
    (project / "a").write_text("old")
    first = commit_all(tmp_path / "repo", "First")
    (project / "a").write_text("new")
    commit_all(tmp_path / "repo", "Second")
    (project / "a").write_text("not committed")
    with checked_out(project, first) as root:
        assert (root / "a").read_text() == "old"
        source = source_of(root)
        assert source is not None
        assert source.commit.name == first
    assert not root.exists()
    assert (project / "a").read_text() == "not committed"
    assert run_git(project, "worktree", "list").count("\n") == 0


def test_git_never_asks_and_says_why_it_failed(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="git rev-parse failed: not a git repository"):
        run_git(tmp_path, "rev-parse", "HEAD")


def test_every_commit_between_two_is_counted(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    old = commit_all(tmp_path, "First")
    tree = run_git(tmp_path, "rev-parse", "HEAD^{tree}")
    new = old
    for number in range(103):
        new = run_git(
            tmp_path, "commit-tree", tree, "-p", new, "-m", f"Number {number}", variables=PERSON
        )

    found = commits_between(tmp_path, old, new)

    assert len(found) == 103
    assert found[0] == commit_named(tmp_path, new)
    assert [each.subject for each in found[-2:]] == ["Number 1", "Number 0"]
    assert commits_between(tmp_path, new, old) == []
