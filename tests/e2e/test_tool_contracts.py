"""Tool servers of both eras in processes of their own: reviewed, compared, and judged."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.mcp_eras import Eras, mcp_server_of
from tests.unit.manifest.projects import MANIFEST, agent, write

pytestmark = pytest.mark.e2e

HOLDFAST: Final = Path(sys.executable).with_name("holdfast")
TOOLS: Final = (
    "tools: [{{mcp: {{url: 'http://tools.ops.svc:8000/mcp', toolNames: [get_pods, tidy_up]{}}}}}]"
)
ADDRESS: Final = "http://tools.ops.svc:8000/mcp"
RULE: Final = "autonomy-and-oversight-declared"


def holdfast(project: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [HOLDFAST, *arguments],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write(tmp_path, "Pulumi.yaml", "name: holdfast\n")
    write(tmp_path, "stacks/Pulumi.dev.yaml", "config: {}\n")
    write(tmp_path, MANIFEST, agent(spec=TOOLS.format("")))
    return tmp_path


def test_a_server_that_moves_to_the_next_protocol_is_as_reviewed(project: Path) -> None:
    locks = {}
    for reviewed in ("old", "new", "both"):
        with mcp_server_of(reviewed) as url:
            locked = holdfast(project, "mcp", "lock", "--address", f"{ADDRESS}={url}")
            assert locked.returncode == 0, locked.stderr
        locks[reviewed] = (project / "agents" / "tools.lock").read_text()
    assert locks["old"] == locks["new"] == locks["both"]
    assert '"instructions": "Ask before you delete."' in locks["new"]
    assert '"destructiveHint": true' in locks["new"]
    for now in ("new", "both", "old"):
        with mcp_server_of(now) as url:
            checked = holdfast(project, "mcp", "check", "--address", f"{ADDRESS}={url}")
        assert (checked.returncode, checked.stdout) == (0, ""), checked.stderr


@pytest.mark.parametrize("eras", ["new", "old"])
def test_a_tool_that_says_it_destroys_needs_a_person_whatever_its_name(
    eras: Eras, project: Path
) -> None:
    with mcp_server_of(eras) as url:
        locked = holdfast(project, "mcp", "lock", "--address", f"{ADDRESS}={url}")
    assert "  destructive by their annotations: tidy_up\n" in locked.stderr
    assert "  not destructive by their annotations: get_pods\n" in locked.stderr
    assert "tidy_up" in alone(project)
    write(project, MANIFEST, agent(spec=TOOLS.format(", requireApproval: [tidy_up]")))
    assert alone(project) == ""


def alone(project: Path) -> str:
    """What the rule says of tools that no person approves; empty when it says nothing."""
    written = project / "rendered.yaml"
    rendered = holdfast(project, "render", "-s", "dev")
    assert rendered.returncode == 0, rendered.stderr
    written.write_text(rendered.stdout)
    checked = holdfast(
        project, "policy", "check", "--files", str(written), "--profile", "prod", "-o", "json"
    )
    found = json.loads(checked.stdout)
    return "".join(
        str(each) for each in found["findings"] if each["rule"] == RULE and "person" in str(each)
    )
