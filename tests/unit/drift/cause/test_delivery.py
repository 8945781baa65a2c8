"""Who delivers an object, by whose name stands in its managed fields."""

from typing import Any

import pytest
from holdfast.drift.cause.owners import engine_of, left_to

from tests.unit.drift.objects import DEPLOYMENT, findings, live_of, owned_by


def live(*entries: tuple[str, str, str]) -> dict[str, Any]:
    listed = [
        {
            "manager": manager,
            "operation": operation,
            "subresource": part,
            "fieldsV1": {"f:spec": {}},
        }
        for manager, operation, part in entries
    ]
    return {"metadata": {"name": "one", "managedFields": listed}}


FLUX = ("kustomize-controller", "Apply", "")
OURS = ("holdfast", "Apply", "")
EDIT = ("kubectl-set", "Update", "")


@pytest.mark.parametrize(
    ("entries", "engine"),
    [
        pytest.param((), "", id="nobody"),
        pytest.param((OURS, EDIT), "", id="holdfast"),
        pytest.param((EDIT, FLUX), "kustomize-controller", id="flux"),
        pytest.param((("argocd-controller", "Apply", ""),), "argocd-controller", id="argo-cd"),
        pytest.param((("argocd-controller", "Update", ""),), "argocd-controller", id="client-side"),
        pytest.param((("helm-controller", "Update", ""),), "helm-controller", id="flux-helm"),
        pytest.param((FLUX, OURS), "", id="both-apply"),
        pytest.param((FLUX, ("holdfast", "Update", "")), "kustomize-controller", id="we-patched"),
        pytest.param((FLUX, ("pulumi-kubernetes-0a1b2c3d", "Apply", "")), "", id="pulumi"),
        pytest.param((("kustomize-controller", "Update", "status"),), "", id="status-only"),
        pytest.param((("console", "Apply", ""),), "", id="unknown-applier"),
    ],
)
def test_an_object_is_an_engines_when_only_the_engine_applies_it(
    entries: tuple[tuple[str, str, str], ...], engine: str
) -> None:
    assert engine_of(live(*entries)) == engine


def test_what_is_left_says_to_whom_and_what_to_do() -> None:
    assert left_to("argocd-controller") == (
        "Argo CD manages it (argocd-controller) and reverts it: change what it deploys, or "
        "suspend it"
    )


@pytest.mark.parametrize(
    ("manager", "controllers", "is_drift"),
    [
        pytest.param("kustomize-controller", {"flux"}, False, id="flux, which the stack lists"),
        pytest.param("kustomize-controller", {}, True, id="a name that the stack does not list"),
        pytest.param("kubectl-label", {"flux"}, True, id="another client"),
    ],
)
def test_the_labels_by_which_flux_finds_its_objects_are_drift_unless_flux_is_listed(
    manager: str, controllers: set[str], is_drift: bool
) -> None:
    path = 'metadata.labels["kustomize.toolkit.fluxcd.io/name"]'
    live = owned_by(manager, path, live_of(DEPLOYMENT, {path: "holdfast-prod"}))
    found = findings(DEPLOYMENT, live, controllers=frozenset(controllers))
    assert bool(found) is is_drift
