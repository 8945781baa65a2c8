"""One rule for the files of a stack; what earlier versions named otherwise is still found."""

import itertools
import os
import shutil
from pathlib import Path

import pytest
from holdfast.adapters.journal.journal import JournalKind, journal_file
from holdfast.adapters.journal.scan_journal import read_history
from holdfast.adapters.journal.updates import UpdateJournal

WRITTEN_BEFORE = Path(__file__).parent / "written_before"
STACKS = ("prod", "prod.updates", "prod.gates", "prod.controls", "prod.updates.jsonl")


def scans_of(state: Path, stack: str) -> int:
    return len(read_history(journal_file(state, "shop", stack, JournalKind.SCANS)).observations)


def updates_of(state: Path, stack: str) -> int:
    return len(UpdateJournal.of(state, "shop", stack).records())


def old(state: Path, kind: str, *names: str) -> Path:
    file = state.joinpath("history", "shop", *names)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab") as out:
        out.write((WRITTEN_BEFORE / f"{kind}.jsonl").read_bytes())
    return file


def test_no_two_journals_share_a_file(tmp_path: Path) -> None:
    files = [
        journal_file(tmp_path, "shop", stack, kind)
        for stack, kind in itertools.product(STACKS, JournalKind)
    ]
    assert len(set(files)) == len(files)


@pytest.mark.parametrize("kind", JournalKind)
def test_a_stack_is_one_however_it_is_named(tmp_path: Path, kind: JournalKind) -> None:
    names = ("dev", "organization/shop/dev")
    assert len({journal_file(tmp_path, "shop", name, kind) for name in names}) == 1


@pytest.mark.parametrize("asked", ["dev", "organization/shop/dev"])
@pytest.mark.parametrize("named", [("dev.jsonl",), ("organization", "shop", "dev.jsonl")])
def test_scans_under_their_old_name_are_found(
    tmp_path: Path, asked: str, named: tuple[str, ...]
) -> None:
    old(tmp_path, "scans", *named)
    assert scans_of(tmp_path, asked) == 5
    assert scans_of(tmp_path, asked) == 5


def test_of_two_old_files_of_one_stack_the_one_in_use_is_found(tmp_path: Path) -> None:
    left = old(tmp_path, "scans", "dev.jsonl")
    os.utime(left, (1, 1))
    old(tmp_path, "scans", "organization", "shop", "dev.jsonl")
    old(tmp_path, "scans", "organization", "shop", "dev.jsonl")
    assert scans_of(tmp_path, "dev") == 10
    assert left.exists()


def test_updates_under_their_old_name_are_found_and_are_no_scans(tmp_path: Path) -> None:
    old(tmp_path, "updates", "prod.updates.jsonl")
    assert scans_of(tmp_path, "prod.updates") == 0
    assert updates_of(tmp_path, "prod") == 2


def test_an_old_file_that_two_stacks_shared_serves_both(tmp_path: Path) -> None:
    old(tmp_path, "updates", "prod.updates.jsonl")
    old(tmp_path, "scans", "prod.updates.jsonl")
    assert scans_of(tmp_path, "prod.updates") == 5
    assert updates_of(tmp_path, "prod") == 2


def test_what_cannot_be_moved_is_read_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    file = old(tmp_path, "scans", "dev.jsonl")
    monkeypatch.setattr(Path, "rename", refuse)
    assert journal_file(tmp_path, "shop", "dev", JournalKind.SCANS) == file


def test_the_new_file_is_the_journal_once_it_is_there(tmp_path: Path) -> None:
    new = journal_file(tmp_path, "shop", "dev", JournalKind.SCANS)
    new.parent.mkdir(parents=True)
    shutil.copy(WRITTEN_BEFORE / "scans.jsonl", new)
    old(tmp_path, "scans", "dev.jsonl")
    assert scans_of(tmp_path, "dev") == 5
