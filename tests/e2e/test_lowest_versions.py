"""The lower bounds in pyproject.toml are enough: the product runs with exactly these versions."""

import json

import pytest

from tests.e2e.lowest_versions import ROOT, lowest_requirements, run_lowest

EVERY_HELP = """
import contextlib, io, json, os
import click
os.environ["COLUMNS"] = "70"  # narrower than the kept pages: the commands make their help
from holdfast.cli.main import command, run

def verbs(found, path):
    yield path
    if isinstance(found, click.Group):
        context = click.Context(found, info_name="holdfast")
        for name in found.list_commands(context):
            yield from verbs(found.get_command(context, name), [*path, name])
    else:
        yield from ([*path, name] for name in getattr(found, "parts", ()))

asked, failed = list(verbs(command, [])), []
for path in asked:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = run([*path, "--help"])
    if code or "Usage: holdfast" not in out.getvalue():
        failed.append(path)
print(json.dumps({"asked": len(asked), "failed": failed}))
"""
SELECTION = (
    "tests/unit/kube",
    "tests/unit/cli/test_main.py",
    "tests/unit/cli/test_completion.py",
    "tests/unit/cli/test_bad_inputs.py",
    "tests/unit/manifest/publish",
    "tests/unit/manifest/kinds/test_versions.py",
    "tests/unit/adapters/cluster/test_client.py",
    "tests/unit/adapters/cluster/test_kubeconfig.py",
    "tests/unit/adapters/mcp",
    "tests/unit/components",
    "tests/unit/report/html",
    "tests/policies/test_rule_table.py",
)


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    """The first call installs; all others find it installed."""
    versions = "import json, importlib.metadata as m, sys; " + (
        "print(json.dumps([f'{n}=={m.version(n)}' for n in sys.argv[1:]]))"
    )
    wanted = lowest_requirements(ROOT / "pyproject.toml")
    done = run_lowest("-c", versions, *(each.partition("==")[0] for each in wanted))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [_trimmed(each) for each in found] == [_trimmed(each) for each in wanted]


def _trimmed(pin: str) -> str:
    """A pin without the zeros at its end: 8.2 and 8.2.0 are one version."""
    name, _, version = pin.partition("==")
    parts = version.split(".")
    while parts[-1] == "0":
        parts.pop()
    return f"{name}=={'.'.join(parts)}"


def test_every_verb_starts_and_has_its_help() -> None:
    done = run_lowest("-m", "holdfast.cli.main", "--version")
    assert (done.returncode, done.stderr) == (0, "")
    done = run_lowest("-c", EVERY_HELP)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["failed"] == []
    assert answer["asked"] > 40


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate",),
        ("render", "-s", "prod"),
        ("policy", "check", "-s", "prod", "-o", "json"),
        ("explain", "-o", "schema"),
        ("explain", "spec.image"),
    ],
    ids=" ".join,
)
def test_what_needs_no_engine_answers(arguments: tuple[str, ...]) -> None:
    done = run_lowest("-m", "holdfast.cli.main", *arguments)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_a_selection_of_unit_tests_passes() -> None:
    # Packages that nobody pins here may warn of each other: that is not ours to judge.
    options = ("-q", "-n", "2", "-p", "no:cacheprovider", "-W", "default", "-o", "xfail_strict=1")
    done = run_lowest("-m", "pytest", *options, *SELECTION)
    assert done.returncode == 0, done.stdout[-3000:]
