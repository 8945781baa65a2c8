"""The build script as it stands, with two small modules and a `go` that only pretends."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TOOLCHAIN = Path(__file__).parents[3] / "toolchain"

TWO_MODULES = """
MODULES = (
    GoModule("alpha", (("alpha", "example/alpha"),), stamps=(("example.Version", "v1"),)),
    GoModule(
        "beta",
        (("beta-server", "example/beta/server"), ("beta-client", "example/beta/client")),
        companions=(ModuleFile("example/sdk", "cmd/helper", "helper", executable=True),),
    ),
)
"""

GO = """#!/bin/sh
echo "$*" >> "$WORLD/calls"
case "$1 $2" in
"env GOVERSION") cat "$WORLD/version"; exit;;
"env GOCACHE") echo "$WORLD/go-cache"; exit;;
"list -m") echo "$WORLD/module"; exit;;
"mod download") exit;;
esac
while [ "$1" != -o ]; do shift; done
[ -e "$WORLD/slow-$(basename "$2")" ] && echo half > "$2" && sleep 20
[ -e "$WORLD/failure" ] && cat "$WORLD/failure" >&2 && exit 1
sleep 0.05
printf 'built %s' "$3" > "$2"; chmod +x "$2"
"""


class World:
    """A clone of the toolchain folder, a cache and a `go` of the test's own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.cache = root / "cache"
        self.clone = self.clone_to("clone")
        (root / "bin").mkdir()
        (root / "bin" / "go").write_text(GO)
        (root / "bin" / "go").chmod(0o755)
        (root / "version").write_text("go1.26.8\n")
        (root / "module" / "cmd").mkdir(parents=True)
        (root / "module" / "cmd" / "helper").write_text("helper")

    def clone_to(self, name: str) -> Path:
        clone = self.root / name
        for module in ("alpha", "beta"):
            (clone / module).mkdir(parents=True)
            (clone / module / "go.mod").write_text(f"module {module}\n")
            (clone / module / "go.sum").write_text("example v1 h1:abc\n")
        for script in ("build.py", "go_command.py", "programs.py"):
            shutil.copy(TOOLCHAIN / script, clone)
        with (clone / "programs.py").open("a") as programs:
            programs.write(TWO_MODULES)
        return clone

    @property
    def variables(self) -> dict[str, str]:
        return {
            "WORLD": str(self.root),
            "HOLDFAST_CACHE": str(self.cache),
            "PATH": f"{self.root / 'bin'}:/usr/bin:/bin",
        }

    def start(self, *arguments: str, clone: Path | None = None) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-B", (clone or self.clone) / "build.py", *arguments],
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, clone: Path | None = None) -> tuple[int, str, str]:
        process = self.start(*arguments, clone=clone)
        out, err = process.communicate(timeout=60)
        return process.returncode, out.strip(), err

    def built(self) -> list[str]:
        """The packages that have been built, in the order of the calls."""
        calls = (self.root / "calls").read_text().splitlines()
        return [call.rpartition("/")[2] for call in calls if call.startswith("build")]

    def leftovers(self) -> list[str]:
        folders = (self.cache / "toolchain" / "modules").glob(".*")
        return [path.name for path in folders]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_builds_every_program_and_prints_their_folder(world: World) -> None:
    code, folder, said = world.run()

    programs = {path.name: path.read_text() for path in Path(folder).iterdir()}
    assert code == 0, said
    assert programs == {
        "alpha": "built example/alpha",
        "beta-server": "built example/beta/server",
        "beta-client": "built example/beta/client",
        "helper": "helper",
        "complete": "",
    }
    assert all(os.access(Path(folder) / name, os.X_OK) for name in programs if name != "complete")
    assert world.leftovers() == []


def test_tells_one_line_a_program_with_its_time(world: World) -> None:
    said = world.run()[2].splitlines()

    assert said == [
        "toolchain [1/2] alpha: building alpha ... 0 s",
        "toolchain [2/2] beta: building beta-server ... 0 s",
        "toolchain [2/2] beta: building beta-client ... 0 s",
    ]


def test_stamps_versions_into_the_programs(world: World) -> None:
    world.run()

    assert "-s -w -X example.Version=v1 -o" in (world.root / "calls").read_text()


def test_the_programs_of_a_node_are_a_set_of_their_own_with_build_tags(world: World) -> None:
    with (world.clone / "programs.py").open("a") as programs:
        programs.write(
            'NODE_MODULES = (GoModule("alpha", (("kubelet", "x/k"),), tags="no_zfs"),)\n'
        )

    code, folder, said = world.run("--node")

    assert code == 0, said
    assert {path.name for path in Path(folder).iterdir()} == {"kubelet", "complete"}
    assert world.run("--node", "--print")[1] == folder
    assert world.run("--print")[1] != folder
    assert "-tags=no_zfs" in (world.root / "calls").read_text()


def test_a_second_run_and_a_second_clone_start_at_once(world: World) -> None:
    first = world.run()[1]
    (world.root / "calls").unlink()

    again = world.run()
    other = world.run(clone=world.clone_to("second-clone"))

    assert again == other == (0, first, "")
    assert not (world.root / "calls").exists()


@pytest.mark.parametrize("file", ["alpha/go.sum", "beta/go.mod", "alpha/main.go"])
def test_a_changed_pin_names_another_folder(world: World, file: str) -> None:
    before = world.run("--print")[1]

    with (world.clone / file).open("a") as pins:
        pins.write("changed\n")

    assert world.run("--print")[1] != before


def test_what_is_no_pin_keeps_the_folder(world: World) -> None:
    before = world.run("--print")[1]

    (world.clone / "README.md").write_text("no pin")

    assert world.run("--print")[1] == before
    assert not world.cache.exists()


def test_a_changed_pin_builds_only_its_own_module_again(world: World) -> None:
    world.run()
    (world.root / "calls").unlink()
    (world.clone / "alpha" / "go.sum").write_text("example v2 h1:def\n")

    code, folder, said = world.run()

    assert code == 0
    assert world.built() == ["alpha"]
    assert "beta: already built" in said
    assert (Path(folder) / "beta-server").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_build_leaves_nothing_half_made_and_goes_on(
    world: World, number: int
) -> None:
    (world.root / "slow-beta-client").touch()
    process = world.start()
    wait_for(world.cache / "toolchain" / "modules" / ".beta" / "beta-client")

    os.killpg(process.pid, number)
    process.communicate(timeout=30)
    folder = Path(world.run("--print")[1])
    (world.root / "slow-beta-client").unlink()
    (world.root / "calls").unlink()

    assert process.returncode == (-number if number == signal.SIGKILL else 8)
    assert not (folder / "complete").exists()
    assert not list(world.cache.rglob("modules/beta-*/beta-client"))
    assert world.run()[0] == 0
    assert world.built() == ["client"]
    assert world.leftovers() == []


def test_two_builds_at_once_wait_for_each_other(world: World) -> None:
    both = [world.start(), world.start(clone=world.clone_to("second-clone"))]
    ends = [process.communicate(timeout=60) for process in both]

    assert [process.returncode for process in both] == [0, 0]
    assert ends[0][0] == ends[1][0]
    assert sorted(world.built()) == ["alpha", "client", "server"]


def test_says_when_go_is_missing(world: World) -> None:
    (world.root / "bin" / "go").unlink()

    code, folder, said = world.run()

    assert (code, folder) == (1, "")
    assert said == (
        "toolchain error: Go was not found; install Go 1.26 or newer and put it on PATH, or set "
        "HOLDFAST_PULUMI to your own pulumi\n"
    )


@pytest.mark.parametrize(
    ("version", "found"),
    [("go1.22.3", "go1.22.3"), ("", "no version"), ("devel +abc", "devel +abc")],
)
def test_says_when_go_is_too_old(world: World, version: str, found: str) -> None:
    (world.root / "version").write_text(f"{version}\n")

    code, _, said = world.run()

    assert code == 1
    assert f"error: Go 1.26 or newer is needed, found {found} at {world.root}/bin/go; inst" in said


@pytest.mark.parametrize(
    ("failure", "says"),
    [
        pytest.param(
            "go: downloading x\ngo: example@v1: Get https://proxy/x: dial tcp: lookup proxy",
            "a pinned Go module could not be fetched; check the network and GOPROXY, then run the "
            "same target of make again (it goes on where it stopped)",
            id="unreachable",
        ),
        pytest.param(
            "go: example@v1: reading https://proxy/x: 410 Gone",
            "a pinned Go module could not be fetched",
            id="gone",
        ),
        pytest.param(
            "compile: writing output: no space left on device",
            "the disk is full; free some space or point HOLDFAST_CACHE and GOCACHE elsewhere",
            id="disk-full",
        ),
        pytest.param(
            "x.go:3: undefined: y", "'go build' failed; what is built so far is kept", id="other"
        ),
    ],
)
def test_explains_a_failing_build_in_one_message(world: World, failure: str, says: str) -> None:
    (world.root / "failure").write_text(f"{failure}\n")

    code, folder, said = world.run()

    assert (code, folder) == (1, "")
    assert f"toolchain error: {says}" in said
    assert failure.splitlines()[-1] in said
    assert "Traceback" not in said
    assert "go: downloading" not in said
    assert world.leftovers() == []


def test_refuses_to_begin_what_would_fill_the_disk(world: World) -> None:
    script = world.clone / "build.py"
    script.write_text(script.read_text().replace("= 8 * 1024**3", "= 1024**6"))

    code, _, said = world.run()

    assert code == 1
    assert "what is missing needs up to" in said
    assert "point HOLDFAST_CACHE and GOCACHE elsewhere" in said


def test_needs_no_space_for_what_is_built(world: World) -> None:
    folder = Path(world.run()[1])
    (folder / "complete").unlink()
    script = world.clone / "build.py"
    script.write_text(script.read_text().replace("= 8 * 1024**3", "= 1024**6"))

    assert world.run()[0] == 0


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.02)
