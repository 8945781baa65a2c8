"""What is imported inside a function, and why: everything else stands at the top of its module."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "infra" / "holdfast"
LATE = {
    "adapters/cluster/kubeconfig.py": "an extra, and slow to import; few clusters need it",
    "adapters/engine/project.py": "most commands start without a project: YAML is not read",
    "adapters/engine/state/baseline.py": "a stack in a local backend starts no engine",
    "adapters/mcp/mcp_server.py": "the SDK is an extra, and slow to import",
    "adapters/tracing/opentelemetry.py": "an extra: most installations trace nothing",
    "cli/completion_answer.py": "a pressed TAB alone needs the table: no other command reads it",
    "cli/drift/detect.py": "a scan in sync of what is kept loads no models",
    "cli/help_pages.py": "the command shows these pages, and is made of what they are about",
    "cli/terminal.py": "most runs print nothing that a stranger wrote, and the tables are large",
    "drift/masking.py": "most scans show no value",
    "manifest/text/kube_files.py": "what programs write is JSON, and needs no YAML",
    "operations/stack/declared_stack.py": "models, renderer and pack load when something is found",
}
"""File to the reason; a new one needs a reason that is measured."""


def late_imports(file: Path) -> bool:
    functions = (
        node
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return any(
        isinstance(node, ast.Import | ast.ImportFrom)
        for function in functions
        for node in ast.walk(function)
    )


def test_only_these_modules_import_inside_functions() -> None:
    found = {str(file.relative_to(PACKAGE)) for file in PACKAGE.rglob("*.py") if late_imports(file)}
    assert found == LATE.keys()
