"""One name, one thing: no class of the package has the name of another one."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "infra" / "holdfast"
IMAGE = PACKAGE / "sandbox" / "image"
"""Programs that run in an image, without the package."""
COMPONENTS = {"Agent", "Fleet", "McpServer"}
"""Components for Pulumi programs, each named after the manifest that it takes."""


def test_no_two_classes_have_one_name() -> None:
    places: dict[str, list[str]] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        if file.is_relative_to(IMAGE):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                place = f"{file.relative_to(PACKAGE)}:{node.lineno}"
                places.setdefault(node.name, []).append(place)
    doubles = {name: found for name, found in places.items() if len(found) > 1}
    assert doubles.keys() == COMPONENTS, doubles
