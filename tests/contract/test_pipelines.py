"""The pipelines in the repository: least rights, pinned actions, and commands that exist."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from holdfast.cli.main import command as holdfast

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SCRIPTS = [ROOT / ".ci" / name for name in ("preview", "drift")]
EVERY_FILE = [*WORKFLOWS, ROOT / ".github/actions/setup/action.yml", ROOT / ".gitlab-ci.yml"]
ALLOWED = {
    "pull-request.yml": {
        "comment": {"contents": "read", "pull-requests": "write"},
        "code-scanning": {"actions": "read", "contents": "read", "security-events": "write"},
    },
    "drift.yml": {"drift": {"contents": "read", "issues": "write"}},
}
"""Every right beyond reading the code that a job may have; another one is a decision of its own."""


def loaded(file: Path) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(file.read_text())
    return document


def named(files: list[Path]) -> list[Any]:
    return [pytest.param(file, id=file.relative_to(ROOT).as_posix()) for file in files]


@pytest.mark.parametrize("file", named(EVERY_FILE))
def test_actions_are_pinned_by_their_whole_commit_and_say_the_version(file: Path) -> None:
    for used in re.findall(r"uses: (.*)", file.read_text()):
        assert re.fullmatch(r"\./[\w./-]+|[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", used), used


@pytest.mark.parametrize("file", named(WORKFLOWS))
def test_jobs_may_read_the_code_and_no_more_unless_it_is_said_here(file: Path) -> None:
    workflow = loaded(file)
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert job.get("permissions") == ALLOWED.get(file.name, {}).get(name), name
        assert job["timeout-minutes"] <= 60


@pytest.mark.parametrize("file", named(WORKFLOWS))
def test_no_expression_is_written_into_a_script(file: Path) -> None:
    for job in loaded(file)["jobs"].values():
        for step in job["steps"]:
            assert "${{" not in step.get("run", ""), step["run"]


def test_who_may_write_never_runs_what_a_pull_request_brings() -> None:
    comment = loaded(ROOT / ".github/workflows/pull-request.yml")["jobs"]["comment"]
    checkout = comment["steps"][0]
    assert checkout["with"]["ref"] == "${{ github.event.pull_request.base.sha }}"
    assert all(
        step["with"]["persist-credentials"] is False
        for file in WORKFLOWS
        for job in loaded(file)["jobs"].values()
        for step in job["steps"]
        if "actions/checkout" in step.get("uses", "")
    )


def commands() -> Iterator[Any]:
    """Every `holdfast ...` of pipelines, scripts and the page about them."""
    for file in [*EVERY_FILE, *SCRIPTS, ROOT / "docs" / "ci.md"]:
        text = re.sub(r"\\\n\s*", " ", file.read_text())
        text = re.sub(r" --\n\s+", " -- ", text)
        for line in text.splitlines():
            if line.lstrip().startswith(("#", "|")) or "`" in line:
                continue
            for part in line.partition(" #")[0].split(" -- "):
                for found in re.findall(r"(?:^|[\s(])holdfast ([^)>|;]*)", part):
                    words = shlex.split(found)
                    yield pytest.param(words, id=f"{file.name}: {' '.join(words)[:60]}")


def _is_verb_itself(group: click.Group, rest: list[str]) -> bool:
    """`holdfast drift` scans, `holdfast drift plan` is a verb below it."""
    return group.invoke_without_command and rest[:1] != [] and rest[0].startswith("-")


@pytest.mark.parametrize("words", list(commands()))
def test_every_command_exists_with_its_options(words: list[str]) -> None:
    group: click.Command = holdfast
    rest = list(words)
    while isinstance(group, click.Group) and not _is_verb_itself(group, rest):
        name = rest.pop(0)
        found = group.get_command(click.Context(group), name)
        assert found is not None, name
        group = found
    known = {option for each in group.params for option in each.opts}
    asked = {word.partition("=")[0] for word in rest if word.startswith("-")}
    assert asked <= known, asked - known


def test_what_a_job_writes_does_not_make_its_commit_dirty() -> None:
    """`holdfast up` refuses files that are not committed."""
    for written in ("reports/gate.json", ".cache/holdfast/x", ".venv/bin/holdfast"):
        git = ["git", "check-ignore", "--quiet", written]
        assert subprocess.run(git, cwd=ROOT, check=False).returncode == 0, written


def test_there_is_something_to_check() -> None:
    assert len(list(commands())) > 15
    assert len(WORKFLOWS) == 3
