"""The pipelines in the repository: least rights, pinned actions, and commands that exist."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from holdfast import __version__
from holdfast.cli.main import command as holdfast

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SCRIPTS = [ROOT / ".ci" / name for name in ("preview", "drift", "policy")]
TEMPLATE = ROOT / "templates" / "fleet"
WRITTEN = sorted((TEMPLATE / ".github" / "workflows").glob("*.yml"))
"""Workflows that `holdfast init` writes into other repositories."""
EVERY_FILE = [
    *WORKFLOWS,
    ROOT / ".github/actions/setup/action.yml",
    ROOT / ".gitlab-ci.yml",
    *WRITTEN,
    TEMPLATE / ".github/actions/setup/action.yml",
]
ALLOWED = {
    "pull-request.yml": {
        "comment": {"contents": "read", "pull-requests": "write"},
        "code-scanning": {"actions": "read", "contents": "read", "security-events": "write"},
    },
    "release.yml": {
        "release": {"attestations": "write", "contents": "write", "id-token": "write"},
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


@pytest.mark.parametrize("file", named([*WORKFLOWS, *WRITTEN]))
def test_jobs_may_read_the_code_and_no_more_unless_it_is_said_here(file: Path) -> None:
    workflow = loaded(file)
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert job.get("permissions") == ALLOWED.get(file.name, {}).get(name), name
    if file in WRITTEN:
        assert "pull_request_target" not in file.read_text()
        assert job["timeout-minutes"] <= 60


@pytest.mark.parametrize("file", named([*WORKFLOWS, *WRITTEN]))
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
        for file in [*WORKFLOWS, *WRITTEN]
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
    assert len(WORKFLOWS) == 5
    assert len(WRITTEN) == 3


def test_the_base_judges_a_change_as_data() -> None:
    workflow = loaded(ROOT / ".github/workflows/policy.yml")
    (job,) = workflow["jobs"].values()
    base, *_, change, run = job["steps"]
    assert base["with"]["ref"] == "${{ github.event.pull_request.base.sha }}"
    assert change["with"]["path"] == ".change"
    assert run["run"] == ".ci/policy .change"
    # Nothing of the change is used or run, and no secret is there to be read.
    assert all(not each.get("uses", "").startswith("./.change") for each in job["steps"])
    assert "secrets." not in (ROOT / ".github/workflows/policy.yml").read_text()
    job = loaded(ROOT / ".gitlab-ci.yml")["policy-of-the-base"]
    assert job["script"] == ['.base/.ci/policy "$CI_PROJECT_DIR"']


def test_what_decides_how_changes_are_judged_has_owners() -> None:
    owned = {
        line.split()[0] for line in (ROOT / "CODEOWNERS").read_text().splitlines() if "@" in line
    }
    wanted = {
        "/policy-pack/",
        "/stacks/",
        "/.github/",
        "/.gitlab-ci.yml",
        "/.ci/",
        "/agents/waivers/",
    }
    assert wanted <= owned


def test_a_release_is_built_twice_tested_as_installed_and_approved() -> None:
    jobs = loaded(ROOT / ".github/workflows/release.yml")["jobs"]
    assert jobs["build"]["if"] == "github.ref == 'refs/heads/main'"
    assert "diff --recursive first dist" in "".join(
        each.get("run", "") for each in jobs["build"]["steps"]
    )
    assert set(jobs["release"]["needs"]) == {"build", "test", "end-to-end"}
    assert jobs["release"]["environment"] == "release"
    # What is attested and published is what was tested: nothing is checked out or built again.
    for name in ("test", "release"):
        used = [each.get("uses", "") for each in jobs[name]["steps"]]
        assert not [each for each in used if "checkout" in each]


@pytest.fixture
def releasing(tmp_path: Path) -> Path:
    """A clone with its changelog alone."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "release-version", tmp_path / ".ci")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    return tmp_path


def asked_version(clone: Path) -> "subprocess.CompletedProcess[str]":
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [clone / ".ci" / "release-version"],
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("heading", "code"),
    [
        (f"## {__version__} - 2026-11-23", 0),
        (f"## [{__version__}] - 2026-11-23", 0),
        ("## Unreleased", 2),
        (f"## {__version__}", 2),
        (f"## {__version__}.1 - 2026-11-23", 2),
    ],
)
def test_a_version_is_released_with_its_section_of_the_changelog(
    releasing: Path, heading: str, code: int
) -> None:
    (releasing / "CHANGELOG.md").write_text(f"# Changelog\n\n{heading}\n\n- All.\n")
    done = asked_version(releasing)
    assert done.returncode == code, done.stderr
    assert done.stdout == ("" if code else f"version={__version__}\n")


def test_a_version_is_released_once(releasing: Path) -> None:
    (releasing / "CHANGELOG.md").write_text(f"## {__version__} - 2026-11-23\n")
    author = ("-c", "user.name=Ann", "-c", "user.email=ann@example.test")
    for words in (["commit", "-q", "--allow-empty", "-m", "first"], ["tag", f"v{__version__}"]):
        subprocess.run(["git", *author, *words], cwd=releasing, check=True)
    done = asked_version(releasing)
    assert done.returncode == 2
    assert "is tagged already" in done.stderr


def test_updates_are_proposed_for_folders_that_exist() -> None:
    updates = loaded(ROOT / ".github" / "dependabot.yml")["updates"]
    assert {each["package-ecosystem"] for each in updates} == {
        "pip",
        "github-actions",
        "gomod",
        "npm",
    }
    for each in updates:
        for folder in each.get("directories", [each.get("directory")]):
            assert list(ROOT.glob(folder.strip("/") or "*")), folder


def test_the_readme_is_short_and_begins_without_a_project() -> None:
    readme = (ROOT / "README.md").read_text()
    assert len(readme.splitlines()) < 200
    commands = re.findall(r"^(?:pip install|holdfast) .*", readme, flags=re.MULTILINE)
    assert [each.split("  ")[0] for each in commands[:3]] == [
        "pip install holdfast",
        "holdfast drift --desired manifests/ --context prod",
        "holdfast policy check --cluster -A --context prod",
    ]
