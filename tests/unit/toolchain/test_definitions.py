"""The script that fetches definitions, with one small module and a `go` that only pretends."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

TOOLCHAIN = Path(__file__).parents[3] / "toolchain"
SCRIPTS = ("build.py", "definitions.py", "definition_modules.py", "go_command.py", "programs.py")

ONE_MODULE = """
DEFINITION_MODULES = (
    DefinitionModule("alpha", "example/alpha", "v1.0.0", "h1:abc=", "crds", ("things.yaml",)),
)
"""

GO = """#!/bin/sh
echo "$*" >> "$WORLD/calls"
[ "$1 $2" = "env GOVERSION" ] && echo go1.26.8 && exit
cat "$WORLD/answer"
"""

DEFINITION = """---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  annotations:
    name: not-this-one
  name: things.alpha.example
spec: {}
"""


class World:
    """A clone of the scripts, a cache, and a `go` that has one module."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.clone = root / "clone"
        self.clone.mkdir()
        for script in SCRIPTS:
            shutil.copy(TOOLCHAIN / script, self.clone)
        with (self.clone / "definition_modules.py").open("a") as table:
            table.write(ONE_MODULE)
        (root / "bin").mkdir()
        (root / "bin" / "go").write_text(GO)
        (root / "bin" / "go").chmod(0o755)
        self.has_module(DEFINITION)

    def has_module(self, definition: str, content_sum: str = "h1:abc=") -> None:
        archive = self.root / "alpha.zip"
        with zipfile.ZipFile(archive, "w") as files:
            files.writestr("example/alpha@v1.0.0/crds/things.yaml", definition)
        answer = {"Sum": content_sum, "Zip": str(archive)}
        (self.root / "answer").write_text(json.dumps(answer))

    def run(self, *arguments: str) -> tuple[int, str, str]:
        variables = {
            "WORLD": str(self.root),
            "HOLDFAST_CACHE": str(self.root / "cache"),
            "PATH": f"{self.root / 'bin'}:/usr/bin:/bin",
        }
        done = subprocess.run(
            [sys.executable, "-B", self.clone / "definitions.py", *arguments],
            capture_output=True,
            text=True,
            check=False,
            env=variables,
            timeout=60,
        )
        return done.returncode, done.stdout.strip(), done.stderr


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_definition_lies_under_its_own_name(world: World) -> None:
    code, folder, said = world.run()

    assert code == 0, said
    found = [path.relative_to(folder) for path in Path(folder).rglob("*.yaml")]
    assert found == [Path("alpha/things.alpha.example.yaml")]
    assert (Path(folder) / found[0]).read_text() == DEFINITION
    assert said == "toolchain [1/1] alpha: definitions of v1.0.0 ... 0 s\n"


def test_a_second_run_asks_nobody(world: World) -> None:
    first = world.run()
    (world.root / "calls").unlink()

    assert world.run() == (0, first[1], "")
    assert not (world.root / "calls").exists()


def test_print_names_the_folder_and_fetches_nothing(world: World) -> None:
    folder = world.run("--print")[1]

    assert not (world.root / "cache").exists()
    assert world.run()[1] == folder


@pytest.mark.parametrize(
    ("definition", "content_sum", "words"),
    [
        pytest.param(
            DEFINITION, "h1:xyz=", "not what was pinned: expected h1:abc=, got h1:xyz=", id="sum"
        ),
        pytest.param("kind: Other\n", "h1:abc=", "does not hold exactly one", id="another kind"),
        pytest.param(
            DEFINITION + DEFINITION, "h1:abc=", "does not hold exactly one", id="two of them"
        ),
    ],
)
def test_what_is_not_as_pinned_is_refused_and_leaves_nothing(
    world: World, definition: str, content_sum: str, words: str
) -> None:
    world.has_module(definition, content_sum)
    code, out, said = world.run()

    assert (code, out) == (1, "")
    assert words in said
    assert not list((world.root / "cache").rglob("*.yaml"))


def test_the_table_names_controllers_of_the_manifest() -> None:
    from holdfast.manifest.stack.controllers import CONTROLLERS  # noqa: PLC0415 - only this test

    listed = json.loads(
        subprocess.run(
            [
                sys.executable,
                "-c",
                "import json, definition_modules as d;"
                "print(json.dumps([m.controller for m in d.DEFINITION_MODULES]))",
            ],
            cwd=TOOLCHAIN,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    )
    assert listed == sorted(name for name in CONTROLLERS if CONTROLLERS[name].groups)
