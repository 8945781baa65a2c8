"""From the text of a rule file to its rule: read, checked, then run.

A file that is wrong in any way refuses the whole run: a rule that is left out would be a pass.
"""

import ast
import linecache
import re
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import ModuleType
from typing import Any

from holdfast_policies.api import API_VERSION
from holdfast_policies.evaluation.rule_set import RuleSet, with_own_rules
from holdfast_policies.model.rule import Rule
from holdfast_policies.own.checks import faults_of_rule
from holdfast_policies.own.source import OwnRuleError, RuleFault, RuleFile
from holdfast_policies.table import RULES_BY_ID

VERSION_NAME = "RULE_API"
OWN_RULES = "holdfast_own_rules"
"""Package of the modules of own rules; nobody can import it."""
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")
LONGEST_NAME = 60
_PUBLIC = ("holdfast_policies.api", "holdfast_policies.facts")
_IMPURE = frozenset(
    [
        "asyncio",
        "builtins",
        "ctypes",
        "datetime",
        "ftplib",
        "glob",
        "http",
        "importlib",
        "io",
        "multiprocessing",
        "os",
        "pathlib",
        "pty",
        "random",
        "requests",
        "runpy",
        "secrets",
        "shutil",
        "signal",
        "site",
        "smtplib",
        "socket",
        "sqlite3",
        "ssl",
        "subprocess",
        "sys",
        "tempfile",
        "threading",
        "time",
        "urllib",
        "urllib3",
        "uuid",
        "webbrowser",
    ]
)
_IMPURE_CALLS = frozenset({"open", "exec", "eval", "compile", "__import__", "input", "breakpoint"})


def name_fault(name: str) -> str:
    """Why a rule cannot have this name; empty when it can."""
    if _NAME.fullmatch(name) is None or len(name) > LONGEST_NAME:
        return (
            f"expected two or more words, a-z and 0-9, with hyphens, such as "
            f"team-label, in at most {LONGEST_NAME} characters, got {name!r}"
        )
    return f"{name} is a rule of the pack" if name in RULES_BY_ID else ""


@lru_cache(maxsize=8)
def rules_with(files: tuple[RuleFile, ...]) -> RuleSet:
    """The rules of the pack and those of the files.

    Raises:
        OwnRuleError: with every fault of every file.
    """
    faults: list[RuleFault] = []
    own: list[tuple[Rule, str]] = []
    for file in files:
        try:
            own.append((rule_of(file), file.name))
        except OwnRuleError as error:
            faults += error.faults
    if faults:
        raise OwnRuleError(faults)
    return with_own_rules(own)


def rule_of(file: RuleFile) -> Rule:
    """The rule that a file defines.

    Raises:
        OwnRuleError: it defines none that can be evaluated.
    """
    try:
        tree = ast.parse(file.text, file.name)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        reason = getattr(error, "msg", None) or str(error)
        raise OwnRuleError([RuleFault(file.name, line, f"expected Python, {reason}")]) from error
    if faults := [*_faults_of_text(file, tree)]:
        raise OwnRuleError(faults)
    module = _run(file, tree)
    lines = _lines_of(tree)
    rule = getattr(module, "RULE", None)
    wanted = file.stem.replace("_", "-")
    found = faults_of_rule(rule, wanted)
    if found:
        raise OwnRuleError(
            RuleFault(file.name, lines.get(field) or lines.get("RULE", 1), expected)
            for field, expected in found
        )
    assert isinstance(rule, Rule)  # noqa: S101  # anything else has a fault
    return rule


def _faults_of_text(file: RuleFile, tree: ast.Module) -> Iterator[RuleFault]:
    if fault := name_fault(file.stem.replace("_", "-")):
        yield RuleFault(file.name, 1, fault, "rename the file: its name is the rule's with _ for -")
    version = _constant(tree, VERSION_NAME)
    if version != API_VERSION:
        yield RuleFault(
            file.name,
            _lines_of(tree).get(VERSION_NAME, 1),
            f"expected {VERSION_NAME} = {API_VERSION}, got {version or 'nothing'}",
            "see docs/write-a-rule.md for what each version has",
        )
    for node in ast.walk(tree):
        for name in _imported(node):
            if name.split(".")[0] == "holdfast_policies" and not name.startswith(_PUBLIC):
                yield RuleFault(
                    file.name,
                    node.lineno,  # type: ignore[attr-defined]  # every statement has one
                    f"{name} is not public",
                    "import from holdfast_policies.api or holdfast_policies.facts",
                )
            elif name.split(".")[0] in _IMPURE:
                yield RuleFault(
                    file.name,
                    node.lineno,  # type: ignore[attr-defined]  # as above
                    f"a rule is a pure function and may not import {name}",
                    "pass what it needs as a parameter of the rule",
                )
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in _IMPURE_CALLS
        ):
            called = node.func.id
            yield RuleFault(
                file.name, node.lineno, f"a rule is a pure function and may not call {called}()"
            )


def _imported(node: ast.AST) -> Iterable[str]:
    if isinstance(node, ast.Import):
        return [each.name for each in node.names]
    if isinstance(node, ast.ImportFrom):
        if node.level:
            return ["holdfast_policies (relative)"]
        base = node.module or ""
        if base == "holdfast_policies":
            return [f"{base}.{each.name}" for each in node.names]
        return [base]
    return []


def _constant(tree: ast.Module, name: str) -> Any:  # noqa: ANN401  # any literal
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            targets = [each.id for each in node.targets if isinstance(each, ast.Name)]
            if name in targets:
                return node.value.value
    return None


def _lines_of(tree: ast.Module) -> dict[str, int]:
    """Line of each top-level name, and of each argument of `RULE = Rule(...)`."""
    found: dict[str, int] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    found[target.id] = node.lineno
            names = {each.id for each in targets if isinstance(each, ast.Name)}
            if "RULE" in names and isinstance(node.value, ast.Call):
                found |= {each.arg: each.value.lineno for each in node.value.keywords if each.arg}
    return found


def _run(file: RuleFile, tree: ast.Module) -> ModuleType:
    name = f"{OWN_RULES}.{file.stem}"
    module = ModuleType(name)
    module.__file__ = file.name
    sys.modules[name] = module  # dataclasses look their module up
    linecache.cache[file.name] = (
        len(file.text),
        None,
        file.text.splitlines(keepends=True),
        file.name,
    )
    try:
        exec(compile(tree, file.name, "exec"), module.__dict__)  # noqa: S102  # the repository's own code
    except Exception as error:  # whatever a file raises, its rule cannot be evaluated
        line = 1
        frame = error.__traceback__
        while frame is not None:
            if frame.tb_frame.f_code.co_filename == file.name:
                line = frame.tb_lineno
            frame = frame.tb_next
        reason = f"expected a module that loads, {type(error).__name__}: {error}"
        raise OwnRuleError([RuleFault(file.name, line, reason)]) from error
    return module
