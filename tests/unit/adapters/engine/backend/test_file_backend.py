import gzip
import json
import os
import pwd
from pathlib import Path

import pytest
from holdfast.adapters.engine.backend.file_backend import FileHistory, backend_folder
from holdfast.adapters.engine.project import Project
from holdfast.errors import EngineError, ExitCode

SECOND = 1_000_000_000


class Backend:
    """Writes the files that the engine writes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.history = FileHistory.at(f"file://{root}", Project(root, "p"), "dev-1")
        self.records = root / ".pulumi/history/p/dev-1"
        self.stacks = root / ".pulumi/stacks/p"
        self.records.mkdir(parents=True)
        self.stacks.mkdir(parents=True)

    def save(self, seconds: int, kind: str = "update", suffix: str = "") -> None:
        self._write(
            self.records / f"dev-1-{seconds * SECOND}.history.json{suffix}",
            {"kind": kind, "result": "succeeded", "startTime": seconds - 5, "environment": {}},
        )
        self.checkpoint(
            self.records / f"dev-1-{seconds * SECOND}.checkpoint.json{suffix}", f"{seconds}"
        )

    def checkpoint(self, path: Path, urn: str) -> None:
        resources = [{"urn": urn, "type": "t"}]
        stack = {"stack": "organization/p/dev-1", "latest": {"resources": resources}}
        self._write(path, {"version": 3, "checkpoint": stack})

    def _write(self, path: Path, document: object) -> None:
        text = json.dumps(document).encode()
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
        path.with_name(f"{path.name}.attrs").write_text("{}")


@pytest.fixture
def backend(tmp_path: Path) -> Backend:
    return Backend(tmp_path / "state")


def test_lists_changes_by_time_whatever_their_compression(backend: Backend) -> None:
    backend.save(1000)
    backend.save(200, "refresh", ".gz")

    history = backend.history

    assert history.saved_seconds == (200.0, 1000.0)
    assert [history.change(p).kind for p in range(2)] == ["refresh", "update"]
    assert history.change(0).start_time == 195


def test_reads_the_checkpoint_of_each_change(backend: Backend) -> None:
    backend.save(10, suffix=".gz")
    backend.save(20)

    found = [backend.history.checkpoint(position) for position in range(2)]

    assert [each.resources[0].urn for each in found if each] == ["10", "20"]


def test_a_deleted_checkpoint_is_none(backend: Backend) -> None:
    backend.save(10)
    next(backend.records.glob("*.checkpoint.json")).unlink()

    assert backend.history.checkpoint(0) is None


def test_a_stack_that_was_never_changed_has_no_changes(tmp_path: Path) -> None:
    assert FileHistory.at(f"file://{tmp_path}", Project(tmp_path, "p"), "dev").saved_seconds == ()


def test_the_newest_of_several_current_checkpoints_counts(backend: Backend) -> None:
    backend.checkpoint(backend.stacks / "dev-1.json.gz", "old")
    backend.checkpoint(backend.stacks / "dev-1.json", "new")
    os.utime(backend.stacks / "dev-1.json.gz", (1, 1))

    assert backend.history.current_path() == backend.stacks / "dev-1.json"
    assert backend.history.pending() == ()


def test_a_stack_that_is_not_there_is_said(backend: Backend) -> None:
    with pytest.raises(EngineError, match="no stack named 'dev-1' found") as raised:
        backend.history.pending()

    assert raised.value.exit_code == ExitCode.NO_STACK


def old_state(urns: str) -> str:
    """A state as Pulumi before 3.61 wrote it: the stack's name alone, and no `meta.yaml`."""
    resources = [{"urn": urns, "type": "pulumi:pulumi:Stack"}] if urns else []
    latest = {"manifest": {"version": "v3.50.0"}, "resources": resources}
    return json.dumps({"version": 3, "checkpoint": {"stack": "dev-1", "latest": latest}})


STACK_OF = "urn:pulumi:dev-1::{0}::pulumi:pulumi:Stack::{0}-dev-1"


@pytest.mark.parametrize(
    ("project", "is_upgraded", "suffix"),
    [
        pytest.param("p", False, "", id="this-project"),
        pytest.param("p", False, ".gz", id="compressed"),
        pytest.param("p", True, "", id="left-behind-by-an-upgrade"),
        pytest.param("other", False, "", id="another-project-in-a-folder-that-knows-none"),
        pytest.param("", False, "", id="empty"),
    ],
)
def test_a_state_of_before_projects_is_refused_with_the_command_that_upgrades_it(
    backend: Backend, project: str, suffix: str, *, is_upgraded: bool
) -> None:
    text = old_state(STACK_OF.format(project) if project else "").encode()
    old = backend.root / f".pulumi/stacks/dev-1.json{suffix}"
    old.write_bytes(gzip.compress(text) if suffix else text)
    if is_upgraded:
        (backend.root / ".pulumi/meta.yaml").write_text("version: 1\n")

    for read in (backend.history.current_path, backend.history.pending):
        with pytest.raises(EngineError) as raised:
            read()
        assert raised.value.exit_code is ExitCode.ERROR, "not: no such stack"
        assert f"{old} is the state of stack dev-1 as Pulumi before 3.61" in str(raised.value)
        assert "pulumi state upgrade" in raised.value.remedy
        assert "stack init" not in str(raised.value)


def test_a_state_of_before_projects_of_another_project_is_no_stack_of_this_one(
    backend: Backend,
) -> None:
    (backend.root / ".pulumi/stacks/dev-1.json").write_text(old_state(STACK_OF.format("other")))
    (backend.root / ".pulumi/meta.yaml").write_text("version: 1\n")

    assert backend.history.current_path() is None


def test_a_broken_record_is_named(backend: Backend) -> None:
    (backend.records / "dev-1-7.history.json").write_text("{")

    with pytest.raises(EngineError, match=r"dev-1-7\.history\.json cannot be read"):
        backend.history.change(0)


def test_takes_a_full_stack_name(tmp_path: Path) -> None:
    history = FileHistory.at(f"file://{tmp_path}", Project(tmp_path, "p"), "organization/p/dev")

    assert (history.stack, history.full_name) == ("dev", "organization/p/dev")


@pytest.mark.parametrize("which", ["history", "checkpoint"])
def test_warns_of_state_that_everybody_may_write(backend: Backend, which: str) -> None:
    backend.checkpoint(backend.stacks / "dev-1.json", "x")
    assert backend.history.warnings() == ()

    suspect = backend.records if which == "history" else backend.stacks / "dev-1.json"
    suspect.chmod(0o777)

    (warning,) = backend.history.warnings()
    assert warning == f"{suspect} may be written by everybody; run 'chmod o-w {suspect}'"


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        pytest.param("file:///srv/state", "/srv/state", id="absolute"),
        pytest.param("file:///srv/state?metadata=skip", "/srv/state", id="with-options"),
        pytest.param("file://~", "/home/me", id="home"),
        pytest.param("file://~/state", "/home/me/state", id="below-home"),
        pytest.param("file://./state", "/project/state", id="relative"),
        pytest.param("file://../state", "/state", id="relative-and-above"),
        pytest.param("file://state", "/project/state", id="relative-without-dot"),
    ],
)
def test_finds_the_folder_of_a_backend_as_the_engine_does(
    monkeypatch: pytest.MonkeyPatch, url: str, folder: str
) -> None:
    me = pwd.struct_passwd(("me", "x", 1, 1, "", "/home/me", "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwuid", lambda _: me)
    monkeypatch.setenv("HOME", "/elsewhere")

    assert backend_folder(url, Path("/project")) == Path(folder)


def test_the_home_of_a_user_without_an_account_is_the_environments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: int) -> None:
        raise KeyError("uid not found")

    monkeypatch.setattr(pwd, "getpwuid", refuse)
    monkeypatch.setenv("HOME", "/home/any")

    assert backend_folder("file://~", Path("/project")) == Path("/home/any")


def test_says_who_holds_the_lock_of_the_stack(backend: Backend) -> None:
    assert backend.history.holders() == ()
    locks = backend.root / ".pulumi/locks/organization/p/dev-1"
    locks.mkdir(parents=True)
    lock = {"pid": 12, "username": "ann", "hostname": "laptop", "timestamp": "2026-11-21"}
    (locks / "one.json").write_text(json.dumps(lock))
    (locks / "one.json.attrs").write_text("{}")
    (locks / "two.json").write_text("{")
    assert [str(holder) for holder in backend.history.holders()] == [
        "ann@laptop (process 12) since 2026-11-21",
        f"an unknown process: {locks / 'two.json'} does not say who",
    ]


def test_copies_are_the_readable_ones_the_newest_first(backend: Backend) -> None:
    backend.save(10, suffix=".gz")
    backend.save(20)
    beside = backend.stacks / "dev-1.json.gz.bak"
    backend.checkpoint(beside.with_name("dev-1.json.gz"), "now")
    (backend.stacks / "dev-1.json.gz").rename(beside)
    broken = backend.records / f"dev-1-{20 * SECOND}.checkpoint.json"
    broken.write_text("{")
    recorded = backend.records / f"dev-1-{10 * SECOND}.checkpoint.json.gz"
    for seconds, path in enumerate((recorded, beside, broken)):
        os.utime(path, (seconds, seconds))

    assert list(backend.history.copies()) == [beside, recorded]


def test_warns_of_a_second_state_file_that_is_not_used(backend: Backend) -> None:
    used, other = backend.stacks / "dev-1.json.gz", backend.stacks / "dev-1.json"
    backend.checkpoint(used, "used")
    backend.checkpoint(other, "other")
    os.utime(other, (1, 1))

    assert backend.history.warnings() == (f"{other} is older than {used} and not used; delete it",)


@pytest.mark.parametrize(
    ("begun", "is_told"),
    [
        pytest.param(20, False, id="one-after-the-other"),
        pytest.param(19, False, id="within-what-whole-seconds-hide"),
        pytest.param(12, True, id="side-by-side"),
    ],
)
def test_warns_of_changes_that_were_made_side_by_side(
    backend: Backend, begun: int, *, is_told: bool
) -> None:
    for start, end in ((5, 20), (begun, 30)):
        record = {"kind": "update", "result": "succeeded", "startTime": start, "endTime": end}
        (backend.records / f"dev-1-{end * SECOND}.history.json").write_text(json.dumps(record))

    said = backend.history.warnings()

    assert bool(said) is is_told
    assert all("holdfast recover -s dev-1 --replace" in each for each in said)


def test_a_state_that_is_gone_is_reported_from_a_stack_that_never_was(backend: Backend) -> None:
    backend.save(10)

    with pytest.raises(EngineError, match=r"state of stack dev-1 is gone .* 'holdfast recover -s"):
        backend.history.pending()
