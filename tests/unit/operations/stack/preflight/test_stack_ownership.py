"""What another stack of the cluster has deployed is refused, by both names."""

from collections.abc import Iterator

import pytest
from holdfast.errors import ExitCode
from holdfast.kube.objects import KubeObject
from holdfast.operations.stack.preflight.stack_ownership import (
    OwnedByAnotherStackError,
    ensure_not_of_another_stack,
)
from holdfast.render.plan.metadata import RenderedObject

from tests.unit.adapters.cluster.fake_api import Answer, FakeApi, failure, fake_api, page

DEPLOYMENTS = "/apis/apps/v1/namespaces/cx/deployments"
NAMESPACES = "/api/v1/namespaces"


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with fake_api() as fake:
        fake.on(NAMESPACES, page())
        yield fake


def rendered(*names: str) -> list[RenderedObject]:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "cx"}}
    agents = [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "namespace": "cx"},
        }
        for name in names
    ]
    return [RenderedObject("", "", one) for one in (namespace, *agents)]


def live(name: str, stack: str) -> KubeObject:
    labels = {"app.kubernetes.io/managed-by": "holdfast", "app.kubernetes.io/instance": stack}
    return {"metadata": {"name": name, "namespace": "cx", "labels": labels}}


def test_objects_of_another_stack_are_refused_with_both_names(api: FakeApi) -> None:
    api.on(DEPLOYMENTS, page(live("one", "blue"), live("two", "blue"), live("three", "blue")))
    with pytest.raises(OwnedByAnotherStackError) as caught:
        ensure_not_of_another_stack(
            "acme/fleet/green", rendered("one", "two", "three"), api.client()
        )
    assert caught.value.exit_code is ExitCode.BAD_INPUT
    assert caught.value.message == (
        "stack blue has deployed these objects, and stack green declares them, too: "
        "Deployment cx/one, Deployment cx/three and 1 more"
    )
    assert "stack green" in str(caught.value.remedy)


def test_only_objects_of_other_stacks_are_asked_for(api: FakeApi) -> None:
    api.on(DEPLOYMENTS, page())
    ensure_not_of_another_stack("green", rendered("one"), api.client())
    selectors = {query["labelSelector"] for _, _, query, _ in api.requests}
    assert selectors == {
        "app.kubernetes.io/managed-by=holdfast,app.kubernetes.io/instance,"
        "app.kubernetes.io/instance!=green"
    }


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(page(live("another", "blue")), id="another agent in the same namespace"),
        pytest.param(failure(403), id="may not be listed"),
        pytest.param(failure(404), id="not served"),
    ],
)
def test_nothing_else_is_refused(api: FakeApi, answer: Answer) -> None:
    api.on(DEPLOYMENTS, answer)
    ensure_not_of_another_stack("green", rendered("one"), api.client())
