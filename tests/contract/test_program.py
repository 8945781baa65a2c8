"""The program of every stack is the library's, and nothing but the command line knows its verbs."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "infra" / "__main__.py"
OUTSIDE = [
    PROGRAM,
    *sorted((ROOT / "bench").rglob("*.py")),
    *sorted((ROOT / "examples").rglob("*.py")),
]


def imports_of(file: Path) -> Iterator[str]:
    """Every module that a file names in an import, inside functions and for type checkers too."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{each.name}" for each in node.names)


def test_the_program_is_two_lines_over_the_library() -> None:
    _, *statements = ast.parse(PROGRAM.read_text()).body
    assert [ast.unparse(each) for each in statements] == [
        "from holdfast.program import deploy",
        "deploy()",
    ]


@pytest.mark.parametrize("file", OUTSIDE, ids=lambda file: str(file.relative_to(ROOT)))
def test_users_of_the_library_do_not_import_the_command_line(file: Path) -> None:
    used = {each for each in imports_of(file) if f"{each}.".startswith("holdfast.cli.")}
    assert used == set()
