"""The health of a stack's agents, read again and again from files that are loaded once."""

from pathlib import Path

import pytest
from holdfast.kube.workload_status import Health
from holdfast.operations.scan.health import HealthReader

from tests.unit.adapters.cluster.fake_api import fake_api, page
from tests.unit.operations.declared_project import (
    DeclaredProject,
    deployment,
    manifest,
    write_kubeconfig,
)

DEPLOYMENTS = "/apis/apps/v1/namespaces/loop/deployments"


def test_health_is_read_again_without_loading_the_fleet_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = DeclaredProject.write(tmp_path / "project", manifest("first"), manifest("second"))
    with fake_api() as api:
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path / "config", api.url)))
        api.on(
            DEPLOYMENTS,
            page(deployment("first", is_ready=True)),
            page(deployment("first", is_ready=False), deployment("second", is_ready=True)),
        )
        reader = HealthReader(project.context())
        before = reader.health()
        project.forget_files()
        after = reader.health()

    assert {name: each.health for name, each in before.items()} == {
        "first": Health.HEALTHY,
        "second": Health.DEGRADED,
    }
    assert {name: each.health for name, each in after.items()} == {
        "first": Health.DEGRADED,
        "second": Health.HEALTHY,
    }
    assert api.paths() == [DEPLOYMENTS, DEPLOYMENTS], "one LIST a look, and no discovery"
