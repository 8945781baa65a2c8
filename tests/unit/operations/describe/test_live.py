"""What runs of an agent is what was read: what may not be read is not known, and never guessed."""

from pathlib import Path

import pytest
from holdfast.operations.describe.agent import explain_agent
from holdfast.report.text.explanation import explanation_text

from tests.unit.adapters.cluster.fake_api import Answer, failure, fake_api
from tests.unit.operations.declared_project import write_kubeconfig
from tests.unit.operations.describe.running_project import PLURALS, running, serve, write_project

DEPLOYMENT = f"{PLURALS['Deployment']}/first"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        pytest.param(
            failure(403, "forbidden"),
            "Deployment loop/first: not known, it cannot be read",
            id="may be listed, and not read",
        ),
        pytest.param(failure(404), "Deployment loop/first: does not exist", id="is gone"),
        pytest.param(None, "version 0.9.0; declared is 1.0.0", id="runs another version"),
    ],
)
def test_the_declaration_is_never_shown_as_what_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Answer | None, says: str
) -> None:
    project = write_project(tmp_path / "project")
    monkeypatch.chdir(project.root)
    monkeypatch.setenv("HOLDFAST_STATE", str(tmp_path / "state"))
    objects = running(project)
    live = objects[("Deployment", "first")]
    live["metadata"]["labels"]["app.kubernetes.io/version"] = "0.9.0"
    with fake_api() as api:
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path / "config", api.url)))
        serve(api, objects.values())
        api.on(DEPLOYMENT, answer or Answer(live))
        found = explain_agent(project.context(), "first", asks_cluster=True, must_answer=True)
    text = explanation_text(found)
    assert says in text
    assert "version 1.0.0, as declared" not in text
    assert found.live is not None
    assert len(found.live.workloads) == (answer is None)
