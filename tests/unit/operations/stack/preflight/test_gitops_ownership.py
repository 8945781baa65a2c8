"""An update of what another engine delivers: refused by name, and only where that is known."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from holdfast.adapters.engine.results import RunResult
from holdfast.adapters.engine.run.events import ResourceStep
from holdfast.errors import ClusterError, ExitCode
from holdfast.kube.objects import ObjectRef
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.preflight import gitops_ownership as delivered
from holdfast.operations.stack.preflight.gitops_ownership import (
    ManagedElsewhereError,
    ensure_not_managed_elsewhere,
)

from tests.unit.operations.noted_progress import NotedProgress

APP = ObjectRef("cx", "Deployment", "app", "apps/v1")


def planned(operation: str = "create", *refs: ObjectRef) -> RunResult:
    steps = tuple(ResourceStep(f"urn:{ref}", "x", operation, ref) for ref in refs or (APP,))
    return RunResult("preview", {}, steps, (), (), (), (), 1.0)


def live(*managers: str, name: str = "app") -> dict[str, Any]:
    entries = [{"manager": each, "operation": "Apply", "fieldsV1": {}} for each in managers]
    metadata = {"name": name, "namespace": "cx", "managedFields": entries}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata}


def refuse(
    monkeypatch: pytest.MonkeyPatch, plan: RunResult, *objects: dict[str, Any] | ClusterError
) -> list[str]:
    progress = NotedProgress()

    def there(*_: object) -> Iterator[dict[str, Any]]:
        for each in objects:
            if isinstance(each, ClusterError):
                raise each
            yield each

    monkeypatch.setattr(delivered, "_live_objects", there)
    ensure_not_managed_elsewhere(StackContext(Path(), "prod"), plan, progress)
    return progress.lines


def test_what_flux_delivers_is_refused_with_both_ways_on(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ManagedElsewhereError) as caught:
        refuse(monkeypatch, planned(), live("kustomize-controller"))
    assert caught.value.exit_code is ExitCode.BAD_INPUT
    assert caught.value.message == (
        "these objects are already managed by Flux (kustomize-controller): Deployment cx/app; two "
        "managers would overwrite each other"
    )
    assert caught.value.remedy == (
        "change what Flux deploys; or suspend it and run `holdfast up -s prod --take-over` once"
    )


@pytest.mark.parametrize(
    ("plan", "found"),
    [
        pytest.param(planned("update"), live("argocd-controller"), id="in our record already"),
        pytest.param(planned(), live("argocd-controller", name="b"), id="another object"),
        pytest.param(planned(), live("kubectl"), id="a person's"),
        pytest.param(planned(), live("holdfast", "argocd-controller"), id="ours as well"),
    ],
)
def test_anything_else_goes_on(
    monkeypatch: pytest.MonkeyPatch, plan: RunResult, found: dict[str, Any]
) -> None:
    assert refuse(monkeypatch, plan, found) == []


def test_what_cannot_be_known_is_reported_and_no_reason_to_refuse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (told,) = refuse(monkeypatch, planned(), ClusterError("may not list deployments"))
    assert told == (
        "not known whether a GitOps engine manages this stack: may not list deployments"
    )
