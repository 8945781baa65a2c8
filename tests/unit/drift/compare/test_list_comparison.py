"""Order that means something in lists whose items are told apart by a key."""

from typing import Any

import pytest
from holdfast.drift.compare.comparison import compare
from holdfast.kube.semantics import builtin_types

VARIABLES = [{"name": "HOST", "value": "h"}, {"name": "URL", "value": "http://$(HOST)"}]


STARTS = {"name": "a", "lifecycle": {"postStart": {"exec": {"command": ["sleep", "5"]}}}}
FIRST, SECOND = {"name": "firewall"}, {"name": "fetch"}


def pod(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [], **spec},
    }


def paths(desired: dict[str, Any], live: dict[str, Any]) -> list[tuple[object, ...]]:
    structure = builtin_types().structure_of(desired["apiVersion"], desired["kind"])
    assert structure is not None
    return [each.path for each in compare(desired, live, structure)]


@pytest.mark.parametrize(
    ("want", "have", "expected"),
    [
        pytest.param(
            pod(initContainers=[FIRST, SECOND]),
            pod(initContainers=[SECOND, FIRST]),
            [("spec", "initContainers")],
            id="init containers run in list order",
        ),
        pytest.param(
            pod(containers=[FIRST, SECOND]), pod(containers=[SECOND, FIRST]), [], id="containers"
        ),
        pytest.param(
            pod(containers=[STARTS, SECOND]),
            pod(containers=[SECOND, STARTS]),
            [("spec", "containers")],
            id="a container that holds back the next one",
        ),
        pytest.param(pod(volumes=[FIRST, SECOND]), pod(volumes=[SECOND, FIRST]), [], id="volumes"),
    ],
)
def test_the_order_counts_where_things_run_one_after_another(
    want: dict[str, Any], have: dict[str, Any], expected: list[tuple[object, ...]]
) -> None:
    assert paths(want, have) == expected


def test_mutating_webhooks_are_called_in_list_order() -> None:
    def webhooks(*names: str) -> dict[str, Any]:
        return {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": "m"},
            "webhooks": [{"name": name} for name in names],
        }

    assert paths(webhooks("a", "b"), webhooks("b", "a")) == [("webhooks",)]


def test_an_init_container_put_in_front_is_reported_once() -> None:
    want, have = pod(initContainers=[FIRST]), pod(initContainers=[SECOND, FIRST])
    assert len(paths(want, have)) == 1


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        pytest.param(VARIABLES, False, id="same order"),
        pytest.param(VARIABLES[::-1], True, id="reference before its variable"),
        pytest.param([{"name": "NEW"}, *VARIABLES], False, id="insertion changes nothing"),
        pytest.param(VARIABLES[1:], False, id="a removed variable is reported elsewhere"),
    ],
)
def test_the_order_of_variables_counts_where_one_uses_another(
    second: list[dict[str, str]],
    expected: bool,
) -> None:
    first_pod = pod(containers=[{"name": "a", "env": VARIABLES}])
    second_pod = pod(containers=[{"name": "a", "env": second}])
    found = [path for path in paths(first_pod, second_pod) if path[-1] == "env"]
    assert bool(found) is expected
