"""The commit of a live object is looked for only where the cluster can be asked for the object."""

from pathlib import Path

import pytest
from holdfast.errors import ClusterError, InputError
from holdfast.operations.deploy.object_provenance import commit_of_object

from tests.unit.adapters.cluster.fake_api import fake_api
from tests.unit.operations.declared_project import DeclaredProject, manifest, write_kubeconfig

SETTINGS = {"holdfast:controllers": ["argo-rollouts"]}


@pytest.mark.parametrize(
    ("named", "error", "message"),
    [
        pytest.param(
            "Rollout/first", ClusterError, "the cluster does not serve Rollout", id="no such kind"
        ),
        pytest.param("Rollout/other", InputError, "names no object of stack dev", id="no object"),
    ],
)
def test_an_object_that_cannot_be_asked_for_is_one_clear_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    named: str,
    error: type[Exception],
    message: str,
) -> None:
    first = manifest("first", "  rollout: {strategy: BlueGreen}\n")
    project = DeclaredProject.write(tmp_path / "project", first, settings=SETTINGS)
    with fake_api() as api:
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path / "config", api.url)))
        with pytest.raises(error, match=message):
            commit_of_object(project.context(), named)
