"""Rows 3 to 12: replicas with and without an autoscaler, and environment variables."""

from tests.e2e.taxonomy.case import Case, Write, added, changed, patched, put, removed, take
from tests.e2e.taxonomy.objects import AGENT, CONTAINER, autoscaler, deployment

_D = "Deployment"


def _scaled(replicas: int, manager: str = "kubectl", user: str = "alice") -> Write:
    body = {"spec": {"replicas": replicas}}
    return Write("merge", _D, body, manager=manager, user=user, subresource="scale")


def _by_autoscaler(replicas: int) -> Write:
    return _scaled(replicas, "kube-controller-manager", "admin")


REPLICAS = (
    Case(
        3,
        "human scales",
        (deployment({"replicas": 1}),),
        (_scaled(3),),
        (changed(_D, "spec.replicas"),),
    ),
    Case(
        4,
        "autoscaler scales",
        (deployment({"replicas": 2}), autoscaler(minReplicas=1)),
        (_by_autoscaler(3),),
        proof=(_D, ("spec", "replicas"), 3),
    ),
    Case(
        5,
        "outside the range",
        (deployment({"replicas": 1}), autoscaler()),
        (_scaled(0),),
        (changed(_D, "spec.replicas"),),
    ),
    Case(
        6,
        "human scales in range",
        (deployment({"replicas": 2}), autoscaler(minReplicas=1)),
        (_scaled(4),),
        remarks=(changed(_D, "spec.replicas"),),
        proof=(_D, ("spec", "replicas"), 4),
    ),
    Case(7, "replicas undeclared", (deployment({"replicas": None}),)),
)

VARIABLES = (
    Case(
        8,
        "variable appended",
        (deployment(),),
        (
            patched(
                _D, put(f"{CONTAINER}/env/-", {"name": "C", "value": "3"}), manager="kubectl-set"
            ),
        ),
        (added(_D, f"{AGENT}.env[name=C]"),),
    ),
    Case(
        9,
        "variable first",
        (deployment(),),
        (patched(_D, put(f"{CONTAINER}/env/0", {"name": "C", "value": "3"})),),
        (added(_D, f"{AGENT}.env[name=C]"),),
    ),
    Case(
        10,
        "variables permuted",
        (deployment(),),
        (
            patched(
                _D,
                put(f"{CONTAINER}/env", [{"name": "B", "value": "2"}, {"name": "A", "value": "1"}]),
            ),
        ),
        proof=(_D, ("spec", "template", "spec", "containers", 0, "env", 0, "name"), "B"),
    ),
    Case(
        10,
        "reference permuted",
        (deployment(env=[{"name": "A", "value": "1"}, {"name": "B", "value": "$(A)"}]),),
        (
            patched(
                _D,
                put(
                    f"{CONTAINER}/env",
                    [{"name": "B", "value": "$(A)"}, {"name": "A", "value": "1"}],
                ),
            ),
        ),
        (changed(_D, f"{AGENT}.env"),),
    ),
    Case(
        11,
        "variable changed",
        (deployment(),),
        (patched(_D, put(f"{CONTAINER}/env/0/value", "9"), manager="kubectl-set"),),
        (changed(_D, f"{AGENT}.env[name=A].value"),),
    ),
    Case(
        11,
        "reference made literal",
        (
            deployment(
                env=[
                    {
                        "name": "API_TOKEN",
                        "valueFrom": {"secretKeyRef": {"name": "keys", "key": "token"}},
                    }
                ]
            ),
        ),
        (patched(_D, put(f"{CONTAINER}/env/0", {"name": "API_TOKEN", "value": "swordfish"})),),
        (changed(_D, f"{AGENT}.env[name=API_TOKEN]"),),
    ),
    Case(
        12,
        "variable removed",
        (deployment(),),
        (patched(_D, take(f"{CONTAINER}/env/1"), manager="kubectl-set"),),
        (removed(_D, f"{AGENT}.env[name=B]"),),
    ),
)

REPLICAS_AND_VARIABLES = (*REPLICAS, *VARIABLES)
