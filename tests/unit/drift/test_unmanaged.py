""""""

from typing import Any

import pytest
from holdfast.drift.unmanaged import referenced

from tests.unit.drift.objects import CONTAINER, DEPLOYMENT, edit

POD = "spec.template.spec"


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        pytest.param(f"{CONTAINER}.env[name=A]",
                     {"name": "A", "valueFrom": {"secretKeyRef": {"name": "x", "key": "k"}}},
                     ("Secret", "cx", "x"), id="key of a secret"),
        pytest.param(f"{CONTAINER}.envFrom", [{"configMapRef": {"name": "x"}}],
                     ("ConfigMap", "cx", "x"), id="all keys of a map"),
        pytest.param(f"{POD}.volumes", [{"name": "v", "secret": {"secretName": "x"}}],
                     ("Secret", "cx", "x"), id="volume of a secret"),
        pytest.param(f"{POD}.volumes", [{"name": "v", "configMap": {"name": "x"}}],
                     ("ConfigMap", "cx", "x"), id="volume of a map"),
        pytest.param(f"{POD}.volumes", [{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}],
                     ("PersistentVolumeClaim", "cx", "x"), id="claim"),
        pytest.param(f"{POD}.imagePullSecrets", [{"name": "x"}],
                     ("Secret", "cx", "x"), id="pull secret"),
    ],
)  # fmt: skip
def test_a_pod_names_what_it_uses(path: str, value: Any, named: tuple[str, str, str]) -> None:
    found = referenced([edit(DEPLOYMENT, {path: value})])
    assert found == {named, ("ServiceAccount", "cx", "support")}


@pytest.mark.parametrize("odd", [None, "text", 5, [None], {"name": 5}, {"secretKeyRef": []}])
def test_odd_values_name_nothing(odd: Any) -> None:
    assert len(referenced([edit(DEPLOYMENT, {f"{POD}.volumes": odd})])) == 1
