"""What pyproject.toml declares is what the code imports, and the other way round."""

import ast
import itertools
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import pytest
from holdfast.cli.extras import EXTRAS

ROOT = Path(__file__).resolve().parents[2]
OWN = {"holdfast", "holdfast_policies"}
NEVER_IMPORTED = {
    "tzdata": "zoneinfo reads it where the system has no time zones, as slim images have none",
}
"""Declared packages that no code imports, and why they are needed."""

BROUGHT_ALONG = {
    "annotated_types": "pydantic's constraints are of its types",
    "pydantic_core": "pydantic's other half, of exactly one version each",
    "grpc": "pulumi's SDK and policy SDK speak it",
    "google.protobuf": "as grpc",
    "opentelemetry.trace": "the API, which the SDK pins",
    "opentelemetry.exporter.otlp.proto.grpc": "pulumi's SDK exports by it",
    "httpx": "mcp's clients are its clients",
}
"""Imported packages that a declared one brings along, and why that is safe."""


def declared() -> list[str]:
    """Names of the packages that an installation gets, extras for users included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {name: listed for name, listed in project["optional-dependencies"].items()
              if name not in ("all", "dev")}  # fmt: skip
    listed = [*project["dependencies"], *itertools.chain.from_iterable(extras.values())]
    return [re.split(r"[<>=!~;\[ ]", each, maxsplit=1)[0] for each in listed]


@cache
def imported() -> frozenset[str]:
    """Every module outside the standard library that the product's code names in an import."""
    found: set[str] = set()
    for folder in ("infra", "policy-pack"):
        for file in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_bytes())):
                if isinstance(node, ast.Import):
                    found |= {each.name for each in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
    known = OWN | sys.stdlib_module_names
    return frozenset(each for each in found if each.partition(".")[0] not in known)


@cache
def modules_of(package: str) -> frozenset[str]:
    """Modules that an installed package consists of; a folder stands for its `__init__`."""
    files = distribution(package).files or []
    parts = [each.with_suffix("").parts for each in files if each.suffix in (".py", ".so")]
    names = {".".join(part.partition(".")[0] for part in each) for each in parts}
    return frozenset(name.removesuffix(".__init__") for name in names)


@pytest.mark.parametrize("package", declared())
def test_every_declared_package_is_imported(package: str) -> None:
    assert (package in NEVER_IMPORTED) != bool(modules_of(package) & imported()), (
        f"nothing imports {package}: remove it from pyproject.toml, or say in NEVER_IMPORTED why"
    )


def test_every_import_is_of_a_declared_package() -> None:
    provided = frozenset().union(*(modules_of(each) for each in declared()))
    tops = {each.partition(".")[0] for each in provided} - {"google", "opentelemetry"}
    missing = {
        each
        for each in imported()
        if each.partition(".")[0] not in tops
        and not any(f"{each}.".startswith(f"{known}.") for known in BROUGHT_ALONG)
        and each not in provided
        and each.rpartition(".")[0] not in provided
    }
    assert missing == set(), "declare these packages in pyproject.toml"


def test_every_extra_is_named_where_its_packages_are_missing() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = set(project["optional-dependencies"]) - {"all", "dev"}
    assert set(EXTRAS.values()) == extras
    assert project["optional-dependencies"]["all"] == [f"holdfast[{','.join(sorted(extras))}]"]
