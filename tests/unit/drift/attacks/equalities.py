"""Values that are equal to the API, and values that only look equal."""

import copy
from typing import Any

from holdfast.kube.objects import KubeObject
from holdfast.kube.paths import ABSENT
from holdfast.kube.semantics import builtin_types
from holdfast.kube.structure import TypeTable

from tests.unit.drift.attacks.claims_of_identity import SERVICE, one
from tests.unit.drift.attacks.pair import Pair
from tests.unit.drift.objects import CONTAINER, DEPLOYMENT, edit

POD = "spec.template.spec"
WATCHER = TypeTable(
    {
        **builtin_types().types,
        "watcher": {"metadata": "meta.v1.ObjectMeta", "spec": "spec"},
        "spec": {
            "selector": "sel",
            "rules": "[rule]",
            "limits": "{quantity}",
            "enabled": "boolean",
            "count": "integer",
            "note": "*string",
            "every": "duration",
        },
        "sel": {"matchLabels": "{string}"},
        "rule": {"host": "string", "allow": "boolean"},
    },
    {"spec": {"enabled": True}},
    {("v1.example.test/v1", "Watcher"): "watcher"},
)


def watcher(**spec: Any) -> KubeObject:
    return one("v1.example.test/v1", "Watcher", spec={"name": "w", **spec})


def both(
    name: str, want: dict[str, Any], have: dict[str, Any], *, is_drift: bool
) -> tuple[Pair, ...]:
    """A custom resource whose schema is known, and one whose is not."""
    declared, edits = watcher(**want), {f"spec.{key}": value for key, value in have.items()}
    edits |= {f"spec.{key}": ABSENT for key in want.keys() - have.keys()}
    owner = "kubectl-edit" if is_drift else ""
    return tuple(
        Pair(f"{name}, {how}", is_drift, declared, edits, owner, types=types)
        for how, types in (("schema known", (WATCHER,)), ("schema unknown", ()))
    )


def turned(name: str, is_drift: bool, declared: KubeObject, path: str) -> Pair:
    """The list at a path in another order."""
    value: Any = copy.deepcopy(declared)
    for key in path.split("."):
        value = value[int(key)] if key.isdecimal() else value[key]
    dotted = ".".join(f"[{key}]" if key.isdecimal() else key for key in path.split(".")).replace(
        ".[", "["
    )
    return Pair(name, is_drift, declared, {dotted: list(reversed(value))})


CUSTOM = (
    *both("an empty selector is removed", {"selector": {}}, {}, is_drift=True),
    *both("an empty selector is added", {}, {"selector": {}}, is_drift=True),
    *both("an empty list is removed", {"rules": []}, {}, is_drift=True),
    *both("an empty list is added", {}, {"rules": []}, is_drift=True),
    *both("a map is emptied", {"selector": {"matchLabels": {"a": "b"}}},
          {"selector": {"matchLabels": {}}}, is_drift=True),
    *both("a list becomes a map", {"rules": []}, {"rules": {}}, is_drift=True),
    *both("true becomes one", {"enabled": True}, {"enabled": 1}, is_drift=True),
    *both("false becomes zero", {"enabled": False}, {"enabled": 0}, is_drift=True),
    *both("one becomes true", {"count": 1}, {"count": True}, is_drift=True),
    *both("a number becomes a text", {"count": 1}, {"count": "1"}, is_drift=True),
    *both("a whole number as a fraction", {"count": 1}, {"count": 1.0}, is_drift=False),
    *both("zero is removed", {"count": 0}, {}, is_drift=True),
    *both("false is removed", {"allow": False}, {}, is_drift=True),
    *both("an empty text is removed", {"note": ""}, {}, is_drift=True),
    *both("rules in another order", {"rules": [{"host": "a"}, {"host": "b"}]},
          {"rules": [{"host": "b"}, {"host": "a"}]}, is_drift=True),
    *both("true becomes one in a list", {"rules": [{"allow": True}]},
          {"rules": [{"allow": 1}]}, is_drift=True),
    *both("the same", {"rules": [{"allow": True}]}, {"rules": [{"allow": True}]}, is_drift=False),
    Pair("a quantity in another notation", False, watcher(limits={"cpu": "1000m"}),
         {"spec.limits.cpu": "1"}, types=(WATCHER,)),
    Pair("a quantity of another size", True, watcher(limits={"cpu": "1000m"}),
         {"spec.limits.cpu": "1001m"}, types=(WATCHER,)),
    Pair("a duration in another notation", False, watcher(every="90m"),
         {"spec.every": "1h30m"}, types=(TypeTable(
             {**WATCHER.types}, {}, {("v1.example.test/v1", "Watcher"): "watcher"}),)),
    Pair("a default of the schema", False, watcher(), {"spec.enabled": True}, types=(WATCHER,)),
    Pair("another value than the default", True, watcher(), {"spec.enabled": False}, "kubectl-edit",
         types=(WATCHER,)),
    Pair("the default, emptied by one", True, watcher(), {"spec.enabled": 1}, "kubectl-edit",
         types=(WATCHER,)),
)  # fmt: skip

INIT = edit(DEPLOYMENT, {f"{POD}.initContainers": [{"name": "firewall", "image": "f:1"},
                                                   {"name": "fetch", "image": "g:1"}]})  # fmt: skip
ENV_FROM = edit(
    DEPLOYMENT,
    {f"{CONTAINER}.envFrom": [{"configMapRef": {"name": "a"}}, {"configMapRef": {"name": "b"}}]},
)
PLAIN = edit(DEPLOYMENT, {f"{CONTAINER}.env": [{"name": "A", "value": "1"},
                                               {"name": "B", "value": "2"}]})  # fmt: skip
MUTATING = one(
    "admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration",
    webhooks=[{"name": "a.x.test", "clientConfig": {"url": "https://a.test"}},
              {"name": "b.x.test", "clientConfig": {"url": "https://b.test"}}],
)  # fmt: skip
VALIDATING = {**MUTATING, "kind": "ValidatingWebhookConfiguration"}
RULES = {
    "podSelector": {},
    "policyTypes": ["Egress", "Ingress"],
    "egress": [
        {
            "to": [{"podSelector": {"matchLabels": {"a": "1"}}}, {"podSelector": {}}],
            "ports": [{"port": 1}, {"port": 2}],
        },
        {"ports": [{"port": 53, "protocol": "UDP"}]},
    ],
    "ingress": [],
}
POLICY = one("networking.k8s.io/v1", "NetworkPolicy", spec=RULES)
ROLE = one("rbac.authorization.k8s.io/v1", "Role", rules=[
    {"apiGroups": [""], "resources": ["pods", "secrets"], "verbs": ["get", "list"]},
    {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get"]}])  # fmt: skip
BINDING = one(
    "rbac.authorization.k8s.io/v1", "RoleBinding",
    roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
    subjects=[{"kind": "User", "name": "a"}, {"kind": "User", "name": "b"}],
)  # fmt: skip
SCALER = one(
    "autoscaling/v2",
    "HorizontalPodAutoscaler",
    spec={
        "maxReplicas": 3,
        "scaleTargetRef": {"kind": "Deployment", "name": "x"},
        "metrics": [
            {
                "type": "Resource",
                "resource": {
                    "name": name,
                    "target": {"type": "Utilization", "averageUtilization": 50},
                },
            }
            for name in ("cpu", "memory")
        ],
    },
)
ROUTE = one("gateway.networking.k8s.io/v1", "HTTPRoute", spec={
    "rules": [{"matches": [{"path": {"type": "PathPrefix", "value": "/a"}}]},
              {"matches": [{"path": {"type": "PathPrefix", "value": "/b"}}]}]})  # fmt: skip
TOLERATING = edit(
    DEPLOYMENT,
    {
        f"{POD}.tolerations": [
            {"key": "a", "operator": "Exists"},
            {"key": "b", "operator": "Exists"},
        ]
    },
)
SPREAD = edit(DEPLOYMENT, {f"{POD}.topologySpreadConstraints": [
    {"topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule",
     "labelSelector": {"matchLabels": {"a": "b"}}} for key in ("zone", "host")]})  # fmt: skip
ALIASES = edit(DEPLOYMENT, {f"{POD}.hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a", "b"]}]})
DNS = edit(DEPLOYMENT, {f"{POD}.dnsConfig": {"nameservers": ["1.1.1.1", "2.2.2.2"],
                                             "searches": ["a.test", "b.test"]}})  # fmt: skip
INGRESS = one("networking.k8s.io/v1", "Ingress", spec={"tls": [
    {"hosts": ["a.test", "b.test"], "secretName": "s"}]})  # fmt: skip
GROUPS = edit(DEPLOYMENT, {f"{POD}.securityContext": {"supplementalGroups": [1, 2]}})
GATES = edit(
    DEPLOYMENT, {f"{POD}.readinessGates": [{"conditionType": "a"}, {"conditionType": "b"}]}
)
PULL = one("v1", "ServiceAccount", imagePullSecrets=[{"name": "a"}, {"name": "b"}])
QUOTA = one(
    "v1", "ResourceQuota", spec={"hard": {"cpu": "1"}, "scopes": ["BestEffort", "NotBestEffort"]}
)
ORDER = (
    turned("init containers", True, INIT, f"{POD}.initContainers"),
    turned("sources of variables", True, ENV_FROM, f"{POD}.containers.0.envFrom"),
    turned("arguments", True, DEPLOYMENT, f"{POD}.containers.0.args"),
    turned("variables without references", False, PLAIN, f"{POD}.containers.0.env"),
    turned("variables with references", True, DEPLOYMENT, f"{POD}.containers.0.env"),
    turned("mutating webhooks", True, MUTATING, "webhooks"),
    turned("validating webhooks", False, VALIDATING, "webhooks"),
    turned("rules of a policy", False, POLICY, "spec.egress"),
    turned("peers of a policy", False, POLICY, "spec.egress.0.to"),
    turned("ports of a policy", False, POLICY, "spec.egress.0.ports"),
    turned("types of a policy", False, POLICY, "spec.policyTypes"),
    turned("rules of a role", False, ROLE, "rules"),
    turned("verbs of a role", False, ROLE, "rules.0.verbs"),
    turned("subjects", False, BINDING, "subjects"),
    turned("metrics", False, SCALER, "spec.metrics"),
    turned("rules of a route", True, ROUTE, "spec.rules"),
    turned("tolerations", False, TOLERATING, f"{POD}.tolerations"),
    turned("spread", False, SPREAD, f"{POD}.topologySpreadConstraints"),
    turned("names of an alias", True, ALIASES, f"{POD}.hostAliases.0.hostnames"),
    turned("name servers", True, DNS, f"{POD}.dnsConfig.nameservers"),
    turned("search domains", True, DNS, f"{POD}.dnsConfig.searches"),
    turned("hosts of a certificate", False, INGRESS, "spec.tls.0.hosts"),
    turned("supplemental groups", False, GROUPS, f"{POD}.securityContext.supplementalGroups"),
    turned("readiness gates", False, GATES, f"{POD}.readinessGates"),
    turned("pull secrets", False, PULL, "imagePullSecrets"),
    turned("scopes of a quota", False, QUOTA, "spec.scopes"),
)  # fmt: skip

SECRET = one("v1", "Secret", data={"key": "aGVsbG9="})
WRAPPED = {**SECRET, "data": {"key": "aGVs\nbG9=\n"}}
BINARY = one("v1", "ConfigMap", binaryData={"key": "aGVsbG9="})
BUNDLE = one(
    "admissionregistration.k8s.io/v1",
    "ValidatingWebhookConfiguration",
    webhooks=[
        {"name": "a.x.test", "clientConfig": {"url": "https://a.test", "caBundle": "aGVsbG9="}}
    ],
)
CPU = f"{CONTAINER}.resources.limits.cpu"
MEMORY = f"{CONTAINER}.resources.limits.memory"
CLAIM = one(
    "v1",
    "PersistentVolumeClaim",
    spec={
        "accessModes": ["ReadWriteOnce"],
        "dataSource": {"kind": "PersistentVolumeClaim", "name": "a"},
    },
)
MIRROR = {"kind": "PersistentVolumeClaim", "name": "a"}
BUDGET = one("policy/v1", "PodDisruptionBudget", spec={"minAvailable": 1})
VALUES = (
    Pair("wrapped base64", False, WRAPPED, {"data.key": "aGVsbG8="}),
    Pair("loose last bits of base64", False, SECRET, {"data.key": "aGVsbG8="}),
    Pair("other bytes", True, SECRET, {"data.key": "aGVsbG4="}, "kubectl"),
    Pair("loose last bits of a file", False, BINARY, {"binaryData.key": "aGVsbG8="}),
    Pair("loose last bits of a bundle", False, BUNDLE,
         {"webhooks[name=a.x.test].clientConfig.caBundle": "aGVsbG8="}),
    Pair("a bundle of other bytes", True, BUNDLE,
         {"webhooks[name=a.x.test].clientConfig.caBundle": "aGVsbG4="}, "kubectl"),
    Pair("thousandths", False, DEPLOYMENT, {CPU: "1000m"}),
    Pair("one more thousandth", True, DEPLOYMENT, {CPU: "1001m"}, "kubectl"),
    Pair("bytes", False, DEPLOYMENT, {MEMORY: "1073741824"}),
    Pair("other bytes of memory", True, DEPLOYMENT, {MEMORY: "1073741825"}, "kubectl"),
    Pair("a count as a percentage", True, BUDGET, {"spec.minAvailable": "1%"}, "kubectl"),
    Pair("a count as a text", True, BUDGET, {"spec.minAvailable": "1"}, "kubectl"),
    Pair("a mirrored source", False, CLAIM, {"spec.dataSourceRef": MIRROR}),
    Pair("another source", True, CLAIM, {"spec.dataSourceRef": {**MIRROR, "name": "b"}}, "kubectl"),
    Pair("a mirrored account", False, DEPLOYMENT, {f"{POD}.serviceAccount": "support"}),
    Pair("another account", True, DEPLOYMENT, {f"{POD}.serviceAccountName": "admin"}, "kubectl"),
    Pair("text that looks like a number", True, one("v1", "ConfigMap", data={"a": "1"}),
         {"data.a": "1.0"}, "kubectl"),
    Pair("network of the node", True, DEPLOYMENT, {f"{POD}.hostNetwork": True}, "kubectl"),
    Pair("a false that means nothing", False, DEPLOYMENT, {f"{POD}.hostNetwork": False}),
    Pair("a session without affinity", False, SERVICE, {"spec.sessionAffinity": "None"}),
    Pair("a policy that opens", True, POLICY, {"spec.egress[0].to": ABSENT}),
    Pair("a rule that allows everything", True, POLICY, {"spec.egress[1]": {}}),
    Pair("a policy without a direction", True, POLICY, {"spec.policyTypes": ["Ingress"]}),
)  # fmt: skip

PAIRS = (*CUSTOM, *ORDER, *VALUES)
