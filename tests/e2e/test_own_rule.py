"""A company writes its own rule from an empty folder; the engine and every verb know it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from holdfast.adapters.engine.failures.failures import RunFailedError
from holdfast.errors import EngineError, ExitCode

from tests.e2e.live_sandbox import LiveSandbox
from tests.e2e.policy_project import OUTSIDE, PolicyProject

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("engine_of_the_toolchain")]

RULE = "policy-pack/rules/team_label.py"
TEAM_SETTINGS = {"rules": {**OUTSIDE, "team-label": {"labels": ["app.kubernetes.io/name"]}}}


@pytest.fixture
def company(sandbox: LiveSandbox, namespace: str, tmp_path: Path) -> PolicyProject:
    project = PolicyProject(tmp_path / "acme", sandbox.kubeconfig(), namespace)
    project.create()
    (project.root / ".venv").symlink_to(sys.prefix)
    (project.root / "agents").mkdir()
    return project


def holdfast(project: PolicyProject, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "holdfast.cli.main", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=project.root,
        env=os.environ | {"COLUMNS": "200"},
        timeout=120,
    )


def test_a_company_writes_its_own_rule(company: PolicyProject) -> None:
    # One command writes a pack that stands alone, with a rule, its cases and its page.
    written = holdfast(company, "policy", "new", "team-label")
    assert written.returncode == 0, written.stderr
    for name in ("PulumiPolicy.yaml", "__main__.py", "rules/team_label.cases.yaml"):
        assert (company.root / "policy-pack" / name).is_file(), name
    assert holdfast(company, "policy", "new", "team-label").returncode == ExitCode.BAD_INPUT
    assert holdfast(company, "validate").returncode == 0
    assert "team-label" in holdfast(company, "policy", "list").stdout
    assert RULE.replace(".py", ".md") in holdfast(company, "explain", "team-label").stdout

    # The real engine refuses by it, beside the rules of the pack.
    pack = company.root / "policy-pack"
    stack = company.stack("prod")
    with pytest.raises(RunFailedError) as refused:
        stack.preview(policy_pack=pack)
    assert refused.value.exit_code == ExitCode.POLICY
    own = [each for each in refused.value.result.violations if each.policy == "team-label"]
    assert [each.level for each in own] == ["mandatory"]
    assert 'metadata.labels["example.com/team"]' in own[0].message

    # Settings of the stack change it as any other rule: the agent has this label.
    found = company.stack("prod", TEAM_SETTINGS).preview(policy_pack=pack).violations
    assert "team-label" not in {each.policy for each in found}

    # `policy check`, and the policies of the cluster, know it too.
    files = company.root / "wanted.yaml"
    wanted = json.loads((company.root / "wanted.json").read_text())["objects"][0]
    files.write_text(json.dumps({"apiVersion": "apps/v1", **wanted}))
    checked = holdfast(company, "policy", "check", "--files", str(files), "-o", "sarif")
    run = json.loads(checked.stdout)["runs"][0]
    assert "team-label" in {each["id"] for each in run["tool"]["driver"]["rules"]}
    assert "team-label" in {each["ruleId"] for each in run["results"]}
    exported = holdfast(company, "policy", "export", "-o", "json").stdout
    assert "team-label: " in exported


def test_a_broken_own_rule_refuses_the_run_with_file_and_line(company: PolicyProject) -> None:
    assert holdfast(company, "policy", "new", "team-label").returncode == 0
    file = company.root / RULE
    lines = file.read_text().splitlines()
    line = lines.index("RULE_API = 1")
    file.write_text("\n".join([*lines[:line], "RULE_API = 99", *lines[line + 1 :]]))
    place = f"{RULE}:{line + 1}"
    for arguments in (["validate"], ["policy", "list"], ["policy", "check", "--files", "agents"]):
        refused = holdfast(company, *arguments)
        assert refused.returncode == ExitCode.BAD_INPUT, arguments
        assert place in refused.stdout + refused.stderr
    with pytest.raises(EngineError) as failed:
        company.stack("prod").preview(policy_pack=company.root / "policy-pack")
    assert not isinstance(failed.value, RunFailedError) or not failed.value.result.violations
    assert place in str(failed.value)
