"""What a stack asks of the engine, by a program that only writes down how it was called."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from holdfast.adapters.engine.project import Project
from holdfast.adapters.engine.run.environment import EngineEnvironment
from holdfast.adapters.engine.run.events import Event, Summary
from holdfast.adapters.engine.run.executable import PulumiExecutable
from holdfast.adapters.engine.run.runner import EngineRunner
from holdfast.adapters.engine.stack import Stack
from holdfast.errors import EngineError, ExitCode, InputError, ToolchainError

PULUMI = r"""#!/bin/sh
echo "$*" >> "$WORLD/calls"
env > "$WORLD/variables"
pwd > "$WORLD/folder"
key() { echo "$1" | sed 's/ *$//' | tr ' /' '-_'; }
for words in "$1 $2 $3" "$1 $2"; do
  if [ -e "$WORLD/fails-at-$(key "$words")" ]; then
    cat "$WORLD/fails-at-$(key "$words")" >&2
    exit 255
  fi
  if [ -e "$WORLD/says-to-$(key "$words")" ]; then
    cat "$WORLD/says-to-$(key "$words")"
    exit 0
  fi
done
cat "$WORLD/said" 2>/dev/null
cat "$WORLD/complaint" >&2 2>/dev/null
exit "$(cat "$WORLD/code" 2>/dev/null || echo 0)"
"""
EVENTS = '{"summaryEvent":{"resourceChanges":{"same":2}}}\nnot an event\n{"cancelEvent":{}}\n'


class World:
    """A project with a `pulumi` that only pretends, and a backend in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "pulumi").write_text(PULUMI)
        (root / "pulumi").chmod(0o755)

    def stack(
        self, *, backend: str | None = None, virtual_environment: Path | None = None
    ) -> Stack:
        environment = EngineEnvironment(
            PulumiExecutable(self.root / "pulumi", "3.259.0"),
            {"WORLD": str(self.root), "PULUMI_HOME": "/home"},
            backend_url=f"file://{self.root / 'state'}" if backend is None else backend,
        )
        project = Project(self.root, "p", virtual_environment)
        return Stack(EngineRunner(project, environment), "dev")

    def says(self, text: str) -> None:
        (self.root / "said").write_text(text)

    def fails(self, code: int, complaint: str) -> None:
        (self.root / "code").write_text(str(code))
        (self.root / "complaint").write_text(complaint)

    def fails_at(self, command: str, complaint: str) -> None:
        """A command of two or three words fails, others do not."""
        (self.root / f"fails-at-{command.replace(' ', '-')}").write_text(complaint)

    def says_to(self, command: str, text: str) -> None:
        """A command of two or three words is answered like this."""
        (self.root / f"says-to-{command.replace(' ', '-')}").write_text(text)

    def calls(self) -> list[str]:
        path = self.root / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def variables(self) -> dict[str, str]:
        lines = (self.root / "variables").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_preview_is_judged_and_refreshed_when_asked(world: World, tmp_path: Path) -> None:
    world.stack().preview()
    world.stack().preview(
        policy_pack=tmp_path / "pack", policy_config=tmp_path / "c.json", refresh=True
    )

    always = "--stack dev --non-interactive --color=never"
    assert world.calls() == [
        f"preview --json {always}",
        f"preview --json --policy-pack={tmp_path}/pack --policy-pack-config={tmp_path}/c.json "
        f"--refresh {always}",
    ]


def test_a_refresh_never_writes(world: World) -> None:
    world.stack().refresh_preview()

    assert world.calls()[0].startswith("refresh --json --preview-only --stack dev ")


def test_an_update_and_a_destroy_ask_no_questions(world: World) -> None:
    world.stack().up(options=["--refresh"])
    world.stack().destroy(options=["--target=x"])

    assert [call.split(" --stack")[0] for call in world.calls()] == [
        "up --json --yes --skip-preview --refresh",
        "destroy --json --yes --skip-preview --target=x",
    ]


def test_runs_in_the_project_under_its_variables(world: World) -> None:
    world.stack().preview()

    assert (world.root / "folder").read_text().strip() == str(world.root)
    assert world.variables()["PULUMI_HOME"] == "/home"
    assert world.variables()["PULUMI_ENABLE_STREAMING_JSON_PREVIEW"] == "true"


@pytest.mark.parametrize(
    "name",
    [
        "PULUMI_SKIP_CONFIRMATIONS",
        "PULUMI_OPTION_REFRESH",
        "PULUMI_OPTION_EXPECT_NO_CHANGES",
        "PULUMI_K8S_DELETE_UNREACHABLE",
        "PULUMI_K8S_SKIP_UPDATE_UNREACHABLE",
    ],
)
def test_keeps_back_what_would_change_the_meaning_of_a_run(
    world: World, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "true")

    world.stack().refresh_preview()

    assert name not in world.variables()


def test_hands_each_event_over_and_gathers_the_outcome(world: World) -> None:
    world.says(EVENTS)
    events: list[Event] = []

    result = world.stack().preview(on_event=events.append)

    assert events == [Summary({"same": 2})]
    assert result.counts == {"same": 2}
    assert not result.steps


def test_creates_a_stack_that_is_not_there(world: World) -> None:
    assert world.stack().init_if_absent()
    assert world.calls()[0].startswith("stack init dev --no-select")


def test_leaves_a_stack_alone_whose_file_is_there(world: World) -> None:
    checkpoint = world.root / "state/.pulumi/stacks/p/dev.json.gz"
    checkpoint.parent.mkdir(parents=True)
    checkpoint.touch()

    assert not world.stack().init_if_absent()
    assert world.calls() == []


def test_leaves_a_stack_alone_that_a_backend_elsewhere_has(world: World) -> None:
    world.says(json.dumps({"version": 3, "deployment": {}}))

    assert not world.stack(backend="s3://state").init_if_absent()
    assert [call.split(" --")[0] for call in world.calls()] == ["stack export"]


def test_creates_no_stack_where_nobody_knows_whether_there_is_one(world: World) -> None:
    world.fails(1, "error: no answer")

    with pytest.raises(EngineError, match="no answer"):
        world.stack(backend="s3://state").init_if_absent()
    assert "stack init" not in " ".join(world.calls())


def test_says_when_a_stack_cannot_be_created(world: World) -> None:
    world.fails(1, "error: read only file system")

    with pytest.raises(EngineError, match="'pulumi stack init' failed: read only file system"):
        world.stack().init_if_absent()


def test_reads_outputs_and_the_state(world: World) -> None:
    world.says(json.dumps({"a": 1}))
    assert world.stack().outputs() == {"a": 1}

    world.says(json.dumps({"version": 3, "deployment": {"resources": []}}))
    assert world.stack().export(version=4).resources == ()
    assert world.calls()[1].startswith("stack export --version=4 --stack dev")


def test_refuses_to_let_the_engine_make_a_virtual_environment(world: World) -> None:
    stack = world.stack(virtual_environment=world.root / ".venv")

    with pytest.raises(EngineError, match=r"\.venv does not exist; run 'make setup'"):
        stack.preview()

    assert world.calls() == []


def test_refuses_an_update_that_could_lose_the_whole_state(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULUMI_SKIP_CHECKPOINTS", "true")

    with pytest.raises(InputError, match="PULUMI_SKIP_CHECKPOINTS is set"):
        world.stack().up()
    world.stack().preview()  # writes no state
    monkeypatch.setenv("HOLDFAST_FORCE_SKIP_CHECKPOINTS", "1")
    world.stack().up()

    assert [call.split()[0] for call in world.calls()] == ["preview", "up"]


def test_only_a_run_that_may_leave_a_lock_is_remembered(
    world: World, state_of_the_test: Path
) -> None:
    world.stack().preview()
    world.stack().up()
    assert list(state_of_the_test.glob("engines/*")) == [], "each of them ended in order"

    world.fails(255, "killed")
    for run in (world.stack().preview, world.stack().up):
        with pytest.raises(EngineError):
            run()
    assert len(list(state_of_the_test.glob("engines/*"))) == 1


def test_says_when_the_program_has_gone(world: World) -> None:
    (world.root / "pulumi").unlink()

    with pytest.raises(ToolchainError, match=r"pulumi cannot be started \(No such file"):
        world.stack().preview()


def test_each_run_of_the_engine_ends_at_the_timeout_of_the_stack(tmp_path: Path) -> None:
    world = World(tmp_path)
    (tmp_path / "pulumi").write_text("#!/bin/sh\ntrap 'exit 1' INT\nwhile :; do sleep 0.02; done\n")
    stack = replace(world.stack(), timeout_seconds=0.3)
    for run in (stack.up, stack.preview, stack.refresh, stack.refresh_preview, stack.destroy):
        with pytest.raises(EngineError, match="timed out after 0 s") as raised:
            run()
        assert raised.value.exit_code is ExitCode.TIMEOUT
