"""All JSON that Holdfast prints is made in one place, where it becomes safe for a terminal."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from holdfast.operations.scan.tool_review import CheckedServer
from holdfast.report.documents.json_text import json_line, json_text
from holdfast.report.text.tool_report import tool_json

ROOT = Path(__file__).resolve().parents[2] / "infra" / "holdfast"
HOSTILE = "\x1b]0;title\x07 \x9b31m \u202e \u200b \u2028 é 漢"
ROOMS_THAT_PRINT = ("cli", "controllers", "operations", "report")
NO_OUTPUT = {
    "report/published.py": "the text of published files, made of our own types alone",
    "report/text/tool_report.py": "lines to compare; each passes safe_text",
}
"""Modules that indent JSON which is no output, and what it is."""


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def writes_json(tree: ast.AST) -> bool:
    """Whether a module makes a JSON document by itself: indented, in more than ASCII."""
    for name, call in calls(tree):
        if name == "msgspec.json.format":
            return True
        options = {each.arg for each in call.keywords}
        if name == "json.dumps" and {"indent", "ensure_ascii"} <= options:
            return True
    return False


def echoes_json(tree: ast.AST) -> bool:
    """Whether a module prints what an encoder gives it."""
    encoders = ("json.dumps", "msgspec.json.encode", "msgspec.json.format")
    return any(
        name == "click.echo" and any(inner in encoders for inner, _ in calls(call))
        for name, call in calls(tree)
    )


def test_one_module_writes_json_documents() -> None:
    found = set()
    for file in (file for room in ROOMS_THAT_PRINT for file in (ROOT / room).rglob("*.py")):
        tree = ast.parse(file.read_text())
        if writes_json(tree) or echoes_json(tree):
            found.add(file.relative_to(ROOT).as_posix())
    assert found - NO_OUTPUT.keys() == {"report/documents/json_text.py"}
    assert found >= NO_OUTPUT.keys(), "an exception that is needed no more"


@pytest.mark.parametrize("write", [json_text, json_line])
def test_what_is_written_commands_no_terminal_and_says_the_same(write: object) -> None:
    assert callable(write)
    text = write({HOSTILE: [HOSTILE]})
    assert json.loads(text) == {HOSTILE: [HOSTILE]}
    printed = text.replace("\n", "")
    assert all(character.isprintable() for character in printed)
    assert "é 漢" in text


def test_what_a_tool_server_answers_commands_no_terminal() -> None:
    text = tool_json([CheckedServer(HOSTILE, "http://tools", error=HOSTILE)])
    assert json.loads(text)["servers"][0]["error"] == HOSTILE
    assert all(character.isprintable() for character in text.replace("\n", ""))
