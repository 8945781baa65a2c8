"""What differs and what only looks different, one table a kind of place."""

from typing import Any

import pytest
from holdfast.drift.compare.comparison import compare
from holdfast.kube.normalisation import normalise_object
from holdfast.kube.objects import KubeObject
from holdfast.kube.paths import format_path
from holdfast.kube.semantics import builtin_types
from holdfast.kube.structure import TypeTable

from tests.unit.drift.objects import CONTAINER, DEPLOYMENT, GONE, edit


def differences(desired: KubeObject, live: KubeObject) -> list[tuple[str, str]]:
    structure = builtin_types().structure_of(desired["apiVersion"], desired["kind"])
    assert structure is not None
    found = compare(normalise_object(desired), normalise_object(live), structure)
    return [(each.drift_class.value, format_path(each.path)) for each in found]


def one(api_version: str, kind: str, **body: Any) -> KubeObject:
    metadata = {"name": "one", "namespace": "cx"}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param({f"{CONTAINER}.resources.limits.cpu": "1000m"}, id="quantity in millis"),
        pytest.param({f"{CONTAINER}.resources.limits.memory": 1073741824}, id="bytes as a number"),
        pytest.param({"spec.template.spec.hostNetwork": False}, id="zero of a plain field"),
        pytest.param({"spec.template.spec.tolerations": []}, id="empty list"),
        pytest.param({"spec.template.metadata.creationTimestamp": None}, id="null"),
        pytest.param({"spec.template.spec.serviceAccount": "support"}, id="mirror field"),
        pytest.param({"spec.revisionHistoryLimit": 10}, id="default"),
        pytest.param({f"{CONTAINER}.imagePullPolicy": "IfNotPresent"}, id="default by tag"),
        pytest.param({f"{CONTAINER}.ports": [{"containerPort": 80, "protocol": "TCP"}]}, id="key"),
        pytest.param(
            {"spec.strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%"}}},
            id="part of a default",
        ),
        pytest.param({"status": {"replicas": 7}}, id="status"),
        pytest.param(
            {'metadata.annotations["deployment.kubernetes.io/revision"]': "3"}, id="revision"
        ),
    ],
)
def test_the_same_thing_said_otherwise_does_not_differ(edits: dict[str, Any]) -> None:
    assert differences(DEPLOYMENT, edit(DEPLOYMENT, edits)) == []
    assert differences(edit(DEPLOYMENT, edits), DEPLOYMENT) == []


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        pytest.param(
            {f"{CONTAINER}.image": "evil:1"}, [("changed", f"{CONTAINER}.image")], id="image"
        ),
        pytest.param(
            {f"{CONTAINER}.env[name=DEBUG]": {"name": "DEBUG"}},
            [("added", f"{CONTAINER}.env[name=DEBUG]")],
            id="item of a keyed list",
        ),
        pytest.param(
            {f"{CONTAINER}.env[name=HOST]": GONE},
            [("removed", f"{CONTAINER}.env[name=HOST]")],
            id="item gone",
        ),
        pytest.param(
            {f"{CONTAINER}.env": [{"name": "URL", "value": "http://$(HOST)"},
                                  {"name": "HOST", "value": "support"}]},
            [("changed", f"{CONTAINER}.env")],
            id="order that a reference depends on",
        ),
        pytest.param(
            {f"{CONTAINER}.args": ["serve", "80", "--port"]},
            [("changed", f"{CONTAINER}.args")],
            id="arguments in another order",
        ),
        pytest.param(
            {"spec.template.spec.serviceAccountName": "default",
             "spec.template.spec.serviceAccount": "default"},
            [("changed", "spec.template.spec.serviceAccountName")],
            id="service account counts once",
        ),
        pytest.param({"spec.replicas": GONE}, [("removed", "spec.replicas")], id="pointer gone"),
        pytest.param(
            {"metadata.labels.tier": GONE}, [("removed", "metadata.labels.tier")], id="label gone"
        ),
        pytest.param(
            {"spec.strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 3}}},
            [("changed", "spec.strategy.rollingUpdate.maxSurge")],
            id="undeclared default overwritten",
        ),
        pytest.param({"spec.paused": True}, [("added", "spec.paused")], id="no default"),
        pytest.param(
            {f"{CONTAINER}.securityContext": {"privileged": True}},
            [("added", f"{CONTAINER}.securityContext")],
            id="struct as a whole",
        ),
        pytest.param(
            {"spec.template.spec.securityContext": {"runAsUser": 0}},
            [("added", "spec.template.spec.securityContext.runAsUser")],
            id="zero of a pointer is a value",
        ),
        pytest.param(
            {"spec.selector.matchLabels.more": "1"},
            [("added", "spec.selector.matchLabels.more")],
            id="key of an atomic selector",
        ),
    ],
)  # fmt: skip
def test_a_difference_is_named_by_its_path(
    edits: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert differences(DEPLOYMENT, edit(DEPLOYMENT, edits)) == expected


def rule(*verbs: str, resource: str = "configmaps") -> dict[str, Any]:
    return {"apiGroups": [""], "resources": [resource], "verbs": list(verbs)}


@pytest.mark.parametrize(
    ("declared", "live", "expected"),
    [
        pytest.param([rule("get", "list")], [rule("list", "get")], [], id="verbs reordered"),
        pytest.param(
            [rule("get"), rule("get", resource="pods")],
            [rule("get", resource="pods"), rule("get")],
            [],
            id="rules reordered",
        ),
        pytest.param(
            [rule("get")], [rule("get", "list")], [("added", "rules[0].verbs[1]")], id="verb added"
        ),
        pytest.param([rule("get")], [rule("*")], [("changed", "rules[0].verbs")], id="star"),
        pytest.param(
            [rule("get")],
            [rule("get", resource="secrets"), rule("get")],
            [("added", "rules[0]")],
            id="rule inserted",
        ),
        pytest.param([rule("get")], [], [("removed", "rules[0]")], id="all rules gone"),
        pytest.param([], None, [], id="no rules said in two ways"),
    ],
)
def test_rights_are_sets(declared: Any, live: Any, expected: list[tuple[str, str]]) -> None:
    api_version = "rbac.authorization.k8s.io/v1"
    assert (
        differences(one(api_version, "Role", rules=declared), one(api_version, "Role", rules=live))
        == expected
    )


@pytest.mark.parametrize(
    ("declared", "live", "expected"),
    [
        pytest.param(["a"], ["a", "b"], [("added", "spec.egress[1]")], id="appended"),
        pytest.param(["a", "b"], ["a"], [("removed", "spec.egress[1]")], id="removed"),
        pytest.param(["a"], ["b", "a"], [("added", "spec.egress[0]")], id="inserted"),
        pytest.param(["a", "b"], ["b", "a"], [], id="reordered: a union"),
        pytest.param(
            ["a"], ["b"], [("changed", "spec.egress[0].to[0].ipBlock.cidr")], id="one changed"
        ),
    ],
)
def test_rules_of_a_network_policy_are_a_union(
    declared: list[str], live: list[str], expected: list[tuple[str, str]]
) -> None:
    def policy(blocks: list[str]) -> KubeObject:
        egress = [{"to": [{"ipBlock": {"cidr": block}}]} for block in blocks]
        return one("networking.k8s.io/v1", "NetworkPolicy",
                   spec={"policyTypes": ["Egress"], "egress": egress})  # fmt: skip

    assert differences(policy(declared), policy(live)) == expected


@pytest.mark.parametrize(
    ("declared", "live", "expected"),
    [
        pytest.param({"a": "x\n"}, {"a": "x"}, [("changed", "data.a")], id="newline at the end"),
        pytest.param({"a": "x\n"}, {"a": "x\r\n"}, [("changed", "data.a")], id="line ends"),
        pytest.param({}, {"a": ""}, [("added", "data.a")], id="empty value added"),
        pytest.param(None, {}, [], id="nothing in two ways"),
        pytest.param({"a.b": "1"}, {}, [("removed", 'data["a.b"]')], id="key with a dot"),
    ],
)
def test_bytes_of_a_config_map_count(
    declared: Any, live: Any, expected: list[tuple[str, str]]
) -> None:
    assert (
        differences(one("v1", "ConfigMap", data=declared), one("v1", "ConfigMap", data=live))
        == expected
    )


def test_plain_and_encoded_secret_data_are_one() -> None:
    declared = one("v1", "Secret", type="Opaque", stringData={"a": "b"}, data={"a": "overridden"})
    assert differences(declared, one("v1", "Secret", type="Opaque", data={"a": "Yg=="})) == []


def test_a_number_is_no_percentage() -> None:
    def budget(value: Any) -> KubeObject:
        return one("policy/v1", "PodDisruptionBudget", spec={"minAvailable": value})

    assert differences(budget(1), budget("1%")) == [("changed", "spec.minAvailable")]


@pytest.mark.parametrize(
    "strange",
    [
        pytest.param({"spec": None}, id="null spec"),
        pytest.param({"spec": {"template": {"spec": {"containers": None}}}}, id="null list"),
        pytest.param({"spec": {"template": {"spec": {"containers": [None]}}}}, id="null item"),
        pytest.param({"spec": {"template": {"spec": {"containers": [{}]}}}}, id="item without key"),
        pytest.param({"spec": {"template": {"spec": {"containers": "x"}}}}, id="text for a list"),
        pytest.param({"spec": []}, id="list for a struct"),
        pytest.param({"metadata": {"name": "support", "labels": None}}, id="null labels"),
    ],
)
def test_odd_objects_are_compared_and_not_stumbled_over(strange: dict[str, Any]) -> None:
    assert differences(DEPLOYMENT, {**DEPLOYMENT, **strange})
    differences({**DEPLOYMENT, **strange}, DEPLOYMENT)


def test_a_key_given_twice_is_compared_as_a_group() -> None:
    twice = [{"name": "HOST", "value": "a"}, {"name": "HOST", "value": "b"}]
    live = edit(
        DEPLOYMENT, {f"{CONTAINER}.env": [*twice, {"name": "URL", "value": "http://$(HOST)"}]}
    )
    assert differences(DEPLOYMENT, live) == [("changed", f"{CONTAINER}.env[name=HOST]")]


def custom(body: dict[str, Any]) -> KubeObject:
    return {
        "apiVersion": "monitoring.example.test/v1",
        "kind": "Watcher",
        "metadata": {"name": "w", "namespace": "cx"},
        "spec": body,
    }


@pytest.mark.parametrize(
    ("want", "have", "expected"),
    [
        pytest.param({}, {"selector": {}}, "added", id="everything instead of nothing"),
        pytest.param({"selector": {}}, {}, "removed", id="nothing instead of everything"),
        pytest.param({"rules": []}, {}, "removed", id="an empty list is a value"),
        pytest.param({}, {"rules": []}, "added", id="an empty list that nobody declared"),
        pytest.param({"peers": [{}]}, {"peers": [None]}, "changed", id="in a list"),
        pytest.param({"tls": {"verify": True}}, {"tls": {"verify": 1}}, "changed", id="true to 1"),
        pytest.param({"tls": {"verify": False}}, {"tls": {"verify": 0}}, "changed", id="false"),
        pytest.param({"steps": [True]}, {"steps": [1]}, "changed", id="true to 1 in a list"),
        pytest.param({"a": {"b": [{"c": True}]}}, {"a": {"b": [{"c": 1}]}}, "changed", id="deep"),
    ],
)
@pytest.mark.parametrize("is_typed", [True, False], ids=["schema known", "schema unknown"])
def test_custom_resources_store_empty_values_and_tell_true_from_one(
    want: dict[str, Any], have: dict[str, Any], expected: str, is_typed: bool
) -> None:
    types = {
        "watcher": {"metadata": "meta.v1.ObjectMeta", "spec": "spec"},
        "spec": {"selector": "{string}", "rules": "[string]", "peers": "[any]", "tls": "tls"},
        "tls": {"verify": "boolean"},
    }
    table = TypeTable({**builtin_types().types, **types}, {}, {("v1", "Watcher"): "watcher"})
    structure = table.structure_of("v1", "Watcher") if is_typed else None
    structure = structure or builtin_types().of_unknown_kind
    found = compare(custom(want), custom(have), structure)
    assert [each.drift_class.value for each in found] == [expected]
    assert compare(custom(want), custom(want), structure) == []


@pytest.mark.parametrize("field", ["labels", "annotations", "finalizers", "ownerReferences"])
def test_empty_metadata_is_none_in_objects_of_every_kind(field: str) -> None:
    empty: Any = [] if field in {"finalizers", "ownerReferences"} else {}
    one_custom = custom({})
    other = {**one_custom, "metadata": {**one_custom["metadata"], field: empty}}
    structure = builtin_types().of_unknown_kind
    assert compare(one_custom, other, structure) == compare(other, one_custom, structure) == []


@pytest.mark.parametrize(
    ("kind", "field"), [("Secret", "data"), ("ConfigMap", "binaryData")], ids=["secret", "config"]
)
def test_line_breaks_in_base64_mean_nothing(kind: str, field: str) -> None:
    wrapped = one("v1", kind, **{field: {"key": "aGVsbG8g\nd29ybGQ=\r\n"}})
    assert differences(wrapped, one("v1", kind, **{field: {"key": "aGVsbG8gd29ybGQ="}})) == []
    other = one("v1", kind, **{field: {"key": "aGVsbG8gd29ybGE="}})
    assert differences(wrapped, other) == [("changed", f"{field}.key")]


@pytest.mark.parametrize(
    ("want", "have", "is_same"),
    [
        pytest.param("0.0001", "1m", True, id="rounded up to a thousandth"),
        pytest.param("1500u", "2m", True, id="micro"),
        pytest.param("1500u", "3m", False, id="not the next thousandth"),
        pytest.param("1m", "500u", False, id="the server stores no finer one"),
    ],
)
def test_quantities_are_rounded_as_the_server_rounds(want: str, have: str, is_same: bool) -> None:
    path = f"{CONTAINER}.resources.limits.cpu"
    found = differences(edit(DEPLOYMENT, {path: want}), edit(DEPLOYMENT, {path: have}))
    assert (found == []) is is_same


@pytest.mark.parametrize(
    ("field", "items"),
    [
        pytest.param(
            "tolerations", [{"key": "a", "operator": "Exists"}, {"key": "b"}], id="tolerations"
        ),
        pytest.param(
            "affinity",
            {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "z", "operator": "In", "values": ["b"]}]},
                            {"matchExpressions": [{"key": "a", "operator": "Exists"}]},
                        ]
                    }
                }
            },
            id="alternatives of a node selector",
        ),
    ],
)
def test_unions_and_alternatives_have_no_order(field: str, items: Any) -> None:
    path = f"spec.template.spec.{field}"
    desired = edit(DEPLOYMENT, {path: items})
    assert differences(desired, edit(DEPLOYMENT, {path: _turned(items)})) == []


def _turned(value: Any) -> Any:
    if isinstance(value, list):
        return [_turned(each) for each in reversed(value)]
    if isinstance(value, dict):
        return {key: _turned(each) for key, each in value.items()}
    return value
