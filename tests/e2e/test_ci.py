"""Pipelines on the real engine and API server: a change told, gates that hold, drift's issue."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest
from holdfast.adapters.engine.run.toolchain import find_program

from tests.code_host_server import TOKEN, CodeHostServer, code_host_server
from tests.e2e.fleet_project import CLONE, FleetProject
from tests.e2e.go_material import OSCAL_SCHEMA, SARIF_SCHEMA, go_material
from tests.e2e.live_sandbox import LiveSandbox

pytestmark = pytest.mark.e2e

TIMEOUT_SECONDS = 600
NEW_IMAGE = f"registry.example/agents/support-rag@sha256:{'5' * 64}"


@pytest.fixture(scope="module")
def project(sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> FleetProject:
    """The five agents, deployed on `dev`."""
    copy = FleetProject.copy(tmp_path_factory.mktemp("project"), sandbox)
    stack = copy.stack()
    stack.init_if_absent()
    stack.up()
    return copy


def change_image(root: Path) -> str:
    """Change the image of one agent; what it was."""
    file = root / "agents" / "support-rag.yaml"
    text = file.read_text()
    (old,) = re.findall(r"\n  image: (\S+)", text)
    file.write_text(text.replace(old, NEW_IMAGE))
    return str(old)


@pytest.fixture
def changed(project: FleetProject) -> Iterator[str]:
    """One agent's image is changed in its manifest; the old one."""
    file = project.root / "agents" / "support-rag.yaml"
    text = file.read_text()
    yield change_image(project.root)
    file.write_text(text)


def writes(sandbox: LiveSandbox, since: int) -> list[Any]:
    """Requests of people and tools that wrote, since the log had so many entries."""
    return [
        event
        for event in sandbox.audit_events()[since:]
        if not event["user"]["username"].startswith("system:")
        and "dryRun=" not in event["requestURI"]
    ]


def test_one_changed_image_is_one_change_in_every_format(
    project: FleetProject, sandbox: LiveSandbox, changed: str, tmp_path: Path
) -> None:
    before = len(sandbox.audit_events())
    files = [f"{name}={tmp_path / name}" for name in ("json", "sarif", "oscal", "html", "junit")]
    options = [word for each in files for word in ("--report", each)]
    done = project.holdfast("preview", "-s", "dev", "-o", "markdown", *options)
    assert done.returncode == 0, done.stderr
    assert writes(sandbox, before) == []
    document = json.loads((tmp_path / "json").read_text())
    (change,) = document["changes"]
    (field,) = change["fields"]
    assert (change["agent"], change["operation"]) == ("support-rag", "update")
    assert (field["before"], field["after"]) == (changed, NEW_IMAGE)
    assert field["declaredAt"]["file"] == "agents/support-rag.yaml"
    line = field["declaredAt"]["line"]
    text = (project.root / "agents/support-rag.yaml").read_text().splitlines()
    assert NEW_IMAGE in text[line - 1]
    assert document["complete"] is True
    assert document["summary"]["passed"] > 300
    assert "changes · agent <code>support-rag</code> · 1 updated" in done.stdout
    assert done.stdout.count("<summary>changes") == 1
    schema = json.loads(go_material(*SARIF_SCHEMA).read_text())
    jsonschema.Draft7Validator(schema).validate(json.loads((tmp_path / "sarif").read_text()))
    validate_oscal(json.loads((tmp_path / "oscal").read_text()))


def validate_oscal(document: Any) -> None:
    """By NIST's own schema, but for its classes of letters, which Python's patterns do not know."""
    text = go_material(*OSCAL_SCHEMA).read_text()
    text = text.replace("\\\\p{L}", "[A-Za-z]").replace("\\\\p{N}", "[0-9]")
    validator = jsonschema.Draft7Validator(json.loads(text))
    validator.validate(document)
    document["assessment-results"]["results"][0]["findings"][0]["target"].pop("status")
    assert not validator.is_valid(document)


def test_saved_events_give_a_report_and_half_of_them_an_incomplete_one(
    project: FleetProject, tmp_path: Path
) -> None:
    lines: list[bytes] = []
    stack = project.stack()
    pack = f"--policy-pack={CLONE / 'policy-pack'}"
    stack.runner.run(["preview", "--json", pack, "--stack", "dev"], lines.append, TIMEOUT_SECONDS)
    saved = tmp_path / "events.jsonl"
    saved.write_bytes(b"\n".join(lines))
    read = project.holdfast("preview", "-s", "dev", "--events", str(saved))
    assert read.returncode == 0, read.stderr
    assert "changes: none\n" in read.stdout
    assert re.search(r"\b[1-9]\d\d passed \([1-9]\d objects, profile dev\)\n$", read.stdout)
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(b"\n".join(lines[: len(lines) // 2]))
    read = project.holdfast("preview", "-s", "dev", "--events", str(cut))
    assert read.returncode == 1
    assert "NOT CHECKED" in read.stdout


def test_a_refused_change_is_reported_with_its_line_and_exit_code_5(
    project: FleetProject, tmp_path: Path
) -> None:
    config = tmp_path / "strict.json"
    config.write_text('{"token-budget-declared": "mandatory"}')
    options = ("--policy-pack-config", str(config), "-o", "json")
    done = project.holdfast("preview", "-s", "dev", *options)
    assert done.returncode == 5, done.stderr
    document = json.loads(done.stdout)
    refused = [each for each in document["findings"] if each["level"] == "mandatory"]
    assert {each["rule"] for each in refused} == {"token-budget-declared"}
    assert {each["declaredAt"]["file"] for each in refused} >= {"agents/support-rag.yaml"}
    assert document["complete"] is True


def gates_kept(project: FleetProject) -> list[Any]:
    file = project.sandbox.state / "history" / "holdfast" / "dev" / "gates.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()]


class Broken(NamedTuple):
    """A gate that does not hold: what is asked or declared, in production, and how it ends."""

    name: str
    code: int
    options: tuple[str, ...] = ()
    image: str = ""


@pytest.mark.parametrize(
    "broken",
    [
        Broken("unit", 1, options=("--unit", "false")),
        Broken("scan", 9, options=("--scan", "sh -c 'exit 9'")),
        Broken("policy", 5, image=f"\n  image: {NEW_IMAGE}"),
        Broken("validate", 2, image="\n  imag: x"),
    ],
    ids=lambda broken: broken.name,
)
def test_a_gate_that_fails_keeps_the_update_from_running(
    project: FleetProject, sandbox: LiveSandbox, tmp_path: Path, broken: Broken
) -> None:
    manifest = project.root / "agents" / "support-rag.yaml"
    text = manifest.read_text()
    settings = project.root / "stacks" / "Pulumi.dev.yaml"
    strict = settings.read_text()
    if broken.image:
        manifest.write_text(re.sub(r"\n  image: \S+", broken.image, text))
        settings.write_text(strict.replace("profile: dev", "profile: prod"))
    before = len(sandbox.audit_events())
    result = tmp_path / "gate.json"
    up = ("--", "pulumi", "up", "-s", "dev", "--yes", "--skip-preview")
    try:
        gate = ("ci", "gate", "-s", "dev", *broken.options, "--result", str(result))
        done = project.holdfast(*gate, *up)
    finally:
        manifest.write_text(text)
        settings.write_text(strict)
    assert done.returncode == broken.code, done.stderr
    assert writes(sandbox, before) == []
    kept = json.loads(result.read_text())
    assert [each["name"] for each in kept["steps"] if each["result"] == "failed"] == [broken.name]
    assert kept["steps"][-1] | {"seconds": 0} == {
        "name": "command",
        "result": "not run",
        "exitCode": 0,
        "seconds": 0,
        "detail": "",
    }
    assert gates_kept(project)[-1] == kept


def test_gates_that_hold_let_the_command_run(project: FleetProject, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    gate = ("ci", "gate", "-s", "dev", "--unit", "true", "--", "touch", str(mark))
    done = project.holdfast(*gate)
    assert done.returncode == 0, done.stderr
    assert mark.exists()
    assert str(mark) not in json.dumps(gates_kept(project)[-1])
    assert "every gate holds" in project.holdfast("history", "dev", "--gates").stdout


@pytest.fixture
def code_host() -> Iterator[CodeHostServer]:
    with code_host_server() as server:
        yield server


def script(
    name: str, root: Path, *arguments: str, variables: Mapping[str, str]
) -> "subprocess.CompletedProcess[str]":
    """Run a script of the pipelines in a project."""
    ambient = {key: value for key, value in os.environ.items() if not key.startswith("PULUMI_")}
    return subprocess.run(
        [root / ".ci" / name, *arguments],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        env=ambient | dict(variables),
        timeout=TIMEOUT_SECONDS,
    )


def test_drift_opens_an_issue_that_a_clean_scan_closes(
    project: FleetProject, sandbox: LiveSandbox, code_host: CodeHostServer, tmp_path: Path
) -> None:
    shutil.copytree(CLONE / ".ci", project.root / ".ci")
    (project.root / ".venv").symlink_to(sys.prefix)
    variables = code_host.github() | {"HOLDFAST_STATE": str(sandbox.state)}

    def drift() -> int:
        folder = str(tmp_path / "reports")
        done = script("drift", project.root, "dev", folder, variables=variables)
        assert TOKEN not in done.stdout + done.stderr
        return done.returncode

    assert drift() == 0
    assert code_host.issues == []
    kubeconfig = ("--kubeconfig", str(sandbox.kubeconfig("alice")), "-n", "cx")
    subprocess.run(
        [find_program("kubectl"), *kubeconfig, "set", "env", "deployment/support-rag", "DEBUG=1"],
        check=True,
        capture_output=True,
    )
    assert drift() == 7
    (issue,) = code_host.issues
    assert issue["title"] == "Drift of stack dev"
    assert "DEBUG" in issue["body"]
    assert "alice" in issue["body"]
    assert drift() == 7
    assert len(code_host.issues) == 1
    assert project.holdfast("drift", "revert", "-s", "dev", "--yes").returncode == 0
    assert drift() == 0
    assert code_host.issues[0]["state"] == "closed"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A clone of the project as it stands, one commit, with everything that is built."""
    root = tmp_path / "repository"
    ignored = shutil.ignore_patterns(".venv", ".git", "*_cache", "__pycache__", "tests", "bench")
    shutil.copytree(CLONE, root, ignore=ignored, symlinks=True)
    (root / ".venv").symlink_to(sys.prefix)
    for command in (
        ("init", "-q", "-b", "main"),
        ("add", "-A"),
        ("-c", "user.name=t", "-c", "user.email=t@example.test", "commit", "-qm", "base"),
    ):
        subprocess.run(["git", *command], cwd=root, check=True, capture_output=True)
    return root


def test_a_pull_request_gets_one_comment_about_what_it_would_change(
    repository: Path, code_host: CodeHostServer, tmp_path: Path
) -> None:
    """As the workflow does it: a sandbox of its own, the base deployed, the change previewed."""
    git = ["git", "rev-parse", "HEAD"]
    base = subprocess.run(git, cwd=repository, capture_output=True, text=True, check=True).stdout
    old = change_image(repository)
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 9}}))
    variables = code_host.github() | {
        "HOLDFAST_STATE": str(tmp_path / "state"),
        "GITHUB_EVENT_PATH": str(event),
    }
    done = script("preview", repository, base.strip(), "dev", "reports", variables=variables)
    assert done.returncode == 0, done.stderr
    comment = (repository / "reports" / "comment.md").read_text()
    assert "Changes: 1 updated." in comment
    for name in ("policy.sarif", "policy.xml", "codequality.json", "policy.json", "policy.html"):
        assert (repository / "reports" / name).stat().st_size > 0
    for _ in range(2):
        verb = ("ci", "comment", "reports/comment.md", "--marker", "policy/dev")
        subprocess.run(
            [sys.executable, "-m", "holdfast.cli.main", *verb],
            cwd=repository,
            check=True,
            env=os.environ | variables,
        )
    (posted,) = code_host.comments
    for part in ("support-rag", old.rpartition(":")[2], NEW_IMAGE.rpartition(":")[2]):
        assert part in posted["body"]
    # The sandbox and the working tree of the base are gone again.
    listed = subprocess.run(
        ["git", "worktree", "list"], cwd=repository, capture_output=True, text=True, check=True
    )
    assert len(listed.stdout.splitlines()) == 1
    assert not (tmp_path / "state" / "sandboxes" / "default").exists()


@pytest.mark.parametrize("project", [".", "templates/fleet"])
def test_workflows_pass_actionlint(project: str, tmp_path: Path) -> None:
    # In a repository of its own: there `./.github/actions/setup` is the project's.
    shutil.copytree(CLONE / project / ".github", tmp_path / ".github")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    tools = subprocess.run(
        [sys.executable, CLONE / "toolchain" / "test_tools.py"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    files = sorted((tmp_path / ".github" / "workflows").glob("*.yml"))
    assert files
    command = [f"{tools}/actionlint", "-no-color", *map(str, files)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
