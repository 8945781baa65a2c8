"""An update that is watched: for which agents it is blamed."""

from pathlib import Path

import pytest
from holdfast.operations.deploy.guarded import GuardedUpdate, UpdateDegradedError
from holdfast.operations.deploy.request import UpdateRequest
from holdfast.operations.deploy.update import StackUpdate

from tests.unit.adapters.cluster.fake_api import Answer, fake_api, page
from tests.unit.operations.declared_project import deployment, manifest, write_kubeconfig
from tests.unit.operations.deploy.scripted_engine import ScriptedEngine, step_event
from tests.unit.operations.noted_progress import NotedProgress

WATCHED = {"holdfast:updates": {"watchSeconds": 1, "rollback": True}}
DEPLOYMENTS = "/apis/apps/v1/namespaces/loop/deployments"


def state(**is_ready: bool) -> Answer:
    """How the Deployments are."""
    return page(*(deployment(name, is_ready=ready) for name, ready in is_ready.items()))


@pytest.mark.parametrize(
    ("updated", "before", "after", "blamed"),
    [
        pytest.param("fixed", {"a": False}, {"a": False}, "", id="another agent was broken before"),
        pytest.param(
            "fixed", {"a": True}, {"a": False}, "a: ", id="another agent was healthy before"
        ),
        pytest.param("a", {"a": False}, {"a": False}, "a: ", id="the broken one is updated"),
        pytest.param("a", {"a": False}, {"a": True}, "", id="the broken one is repaired"),
    ],
)
def test_an_update_is_blamed_only_for_what_it_may_have_broken(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    updated: str,
    before: dict[str, bool],
    after: dict[str, bool],
    blamed: str,
) -> None:
    engine = ScriptedEngine.write(
        tmp_path, monkeypatch, manifest("a"), manifest("fixed"), settings=WATCHED
    )
    for command in ("preview", "up"):
        engine.events(command, step_event("update", updated))
    progress = NotedProgress()
    update = StackUpdate(engine.project.context(), UpdateRequest(), progress)
    with fake_api() as api:
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path / "config", api.url)))
        api.on(DEPLOYMENTS, state(fixed=True, **before), state(fixed=True, **after))
        try:
            GuardedUpdate(update, engine.project.context()).run()
            said = ""
        except UpdateDegradedError as error:
            said = error.message

    assert said.startswith(f"the update made things worse: {blamed}") if blamed else not said
