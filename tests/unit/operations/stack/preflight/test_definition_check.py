"""A cluster that lacks a kind is named with what to do; one that cannot be asked is no refusal."""

from pathlib import Path

import pytest
from holdfast.manifest.stack.controllers import ControllerName
from holdfast.operations.stack.preflight.crds import (
    MissingCrd,
    remedy_for,
    require_crds,
)
from holdfast.render.plan.metadata import RenderedObject

ROUTE = RenderedObject(
    "triage", "route", {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute"}
)
SERVICE = RenderedObject("triage", "service", {"apiVersion": "v1", "kind": "Service"})


def test_a_missing_kind_says_whose_it_is_and_who_needs_it() -> None:
    missing = MissingCrd("keda.sh/v1alpha1", "ScaledObject", ("a", "b"), "keda")
    assert str(missing) == "keda.sh/v1alpha1 ScaledObject of KEDA, needed by agents a, b"


@pytest.mark.parametrize(
    ("controllers", "context", "remedy"),
    [
        pytest.param(
            ["keda", "cilium", "keda"],
            "holdfast-default",
            "run 'holdfast sandbox up --with cilium,keda'",
            id="the default sandbox",
        ),
        pytest.param(
            ["keda"],
            "holdfast-team-a",
            "run 'holdfast sandbox up --name team-a --with keda'",
            id="another sandbox",
        ),
        pytest.param(["keda"], "prod", "install KEDA (https://keda.sh)", id="a cluster"),
        pytest.param([None], None, "install what defines them", id="a kind of nobody's"),
    ],
)
def test_the_remedy_fits_the_cluster(
    controllers: list[ControllerName | None], context: str | None, remedy: str
) -> None:
    assert remedy_for(controllers, context) == remedy


def test_nobody_is_asked_about_kinds_of_kubernetes(tmp_path: Path) -> None:
    assert require_crds([SERVICE], tmp_path / "absent", None) == ""


def test_a_cluster_that_cannot_be_asked_is_a_note(tmp_path: Path) -> None:
    note = require_crds([ROUTE], tmp_path / "absent", "prod")
    assert note.startswith("not checked whether the cluster knows every kind: no kubeconfig at")


def test_nobody_is_asked_about_kinds_that_the_stack_brings(tmp_path: Path) -> None:
    spec = {
        "group": "policy.example",
        "names": {"kind": "Parameters"},
        "versions": [{"name": "v1"}],
    }
    definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    own = {"apiVersion": "policy.example/v1", "kind": "Parameters"}
    rendered = [
        RenderedObject("", "definition", definition | {"spec": spec}),
        RenderedObject("", "parameters", own),
    ]
    assert require_crds(rendered, tmp_path / "absent", None) == ""
