"""`holdfast drift rbac`: one reader is named, or none."""

from pathlib import Path

import pytest
import yaml
from holdfast.cli.main import run


def test_a_user_and_a_service_account_exclude_each_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["drift", "rbac", "-s", "dev", "--user", "ann", "--service-account", "ops/drift"]
    assert run(arguments) == 2
    told = "error: --user and --service-account exclude each other; name the one that scans\n"
    assert capsys.readouterr().err == told


def test_the_rights_of_a_stack_are_known_before_there_is_a_cluster(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path))
    assert run(["drift", "rbac", "-s", "dev"]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    account, role, binding = yaml.safe_load_all(told.out)
    assert (account["kind"], binding["kind"]) == ("ServiceAccount", "ClusterRoleBinding")
    verbs = {tuple(rule["verbs"]) for rule in role["rules"]}
    assert verbs == {("get", "list", "watch")}
    readable = {name for rule in role["rules"] for name in rule["resources"]}
    assert {"deployments", "configmaps", "networkpolicies"} <= readable
    assert "secrets" not in readable
