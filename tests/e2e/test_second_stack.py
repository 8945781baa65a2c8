"""A second stack on the same cluster takes nothing over, on the real engine and API server."""

import pytest
from holdfast.adapters.engine.failures.failures import RunFailedError

from tests.e2e.git_project import GitProject, agent
from tests.e2e.live_sandbox import Kubectl, LiveSandbox

pytestmark = pytest.mark.e2e

DEV = {"policy": {"profile": "dev"}}


@pytest.fixture
def project(
    sandbox: LiveSandbox, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> GitProject:
    """Stack `dev` is deployed; stack `twin` declares the same agents for the same cluster."""
    written = GitProject.write(tmp_path_factory.mktemp("stacks"), sandbox, agent("ant"), DEV)
    written.project.stack().up()
    settings = (written.root / "stacks" / "Pulumi.dev.yaml").read_text()
    (written.root / "stacks" / "Pulumi.twin.yaml").write_text(settings)
    written.project.stack("twin").init_if_absent()
    written.commit("A second stack")
    return written


def test_it_is_refused_with_both_names_and_changes_nothing(
    project: GitProject, kubectl: Kubectl
) -> None:
    before = kubectl.get("deployment,service,networkpolicy", "-n", "loop")["items"]

    for verb in (("preview",), ("up",), ("up", "--continue-on-error")):
        done = project.project.holdfast(*verb, "-s", "twin")
        assert done.returncode == 2, done.stderr
        assert "stack dev has deployed these objects, and stack twin declares them, too" in (
            done.stderr
        )
    with pytest.raises(RunFailedError, match="stack dev has deployed these objects"):
        project.project.stack("twin").up()

    assert kubectl.get("deployment,service,networkpolicy", "-n", "loop")["items"] == before
    assert project.project.drift()[0] == 0


def test_other_namespaces_of_the_same_cluster_are_free(
    project: GitProject, kubectl: Kubectl
) -> None:
    project.commit("Elsewhere", agent("bee").replace("namespace: loop", "namespace: hive"))
    done = project.project.holdfast("up", "-s", "twin")
    assert done.returncode == 0, done.stderr
    labels = kubectl.get("deployment/bee", "-n", "hive")["metadata"]["labels"]
    assert labels["app.kubernetes.io/instance"] == "twin"
    project.commit("As before", agent("ant"))
    assert project.project.drift()[0] == 0
