"""Edits of a client with rights on every object, who takes the names and marks of controllers.

Each stands beside what the real controller does, or what means the same to the API. The user in the
audit log is the client's own; controllers write as their identities.
"""

from dataclasses import replace
from typing import Any

from holdfast.kube.objects import KubeObject

from tests.e2e.taxonomy.any_object_rows import ANY_OBJECTS
from tests.e2e.taxonomy.case import ALICE, Case, Write, patched, put, take
from tests.e2e.taxonomy.objects import (
    CONTAINER,
    POD,
    autoscaler,
    claim,
    config_map,
    container,
    deployment,
    network_policy,
    role,
    role_binding,
    service,
    thing,
)

_ROW = 200
_ADMISSION_ROW = 76
_OF_SYSTEM = "system:serviceaccount:kube-system:"
_CONTROLLER = "kube-controller-manager"
_DRIFT = "drift"
_CLEAN = "clean"


def _edit(  # noqa: PLR0913, PLR0917  (one row of a table)
    verdict: str,
    title: str,
    one: KubeObject,
    pointer: str,
    value: Any,
    manager: str = "kubectl-edit",
    user: str = ALICE,
) -> Case:
    """One value at one place, which the server still has when the scan runs."""
    steps = tuple(
        int(part) if part.isdecimal() else part.replace("~1", "/")
        for part in pointer.split("/")[1:]
    )
    kind = str(one["kind"])
    write = patched(kind, put(pointer, value), manager=manager, user=user)
    # What the server completes, or what bears the case's name, is only looked for.
    is_completed = "$" in str(value) or (isinstance(value, dict) and "image" in value)
    proof = (kind, steps, None if is_completed else value)
    return Case(_ROW, f"{verdict} {title}", (one,), (write,), proof=proof)


def _annotated(
    title: str, key: str, value: str, manager: str, one: KubeObject | None = None
) -> Case:
    annotated = one or config_map()
    found = _edit(_DRIFT, title, annotated, "/metadata/annotations", {key: value}, manager)
    # Controllers may annotate the object as well.
    proof = (str(annotated["kind"]), ("metadata", "annotations", key), value)
    return replace(found, proof=proof)


def _held(verdict: str, title: str, finalizer: str, manager: str, user: str = ALICE) -> Case:
    return _edit(verdict, title, config_map(), "/metadata/finalizers", [finalizer], manager, user)


_ACCOUNT = thing("v1", "ServiceAccount")
_BALANCED = service(type="LoadBalancer")
_INIT = [container(name="firewall"), container(name="fetch")]
_ANNOTATIONS = (
    _annotated("argo leaves it", "argocd.argoproj.io/sync-options", "Prune=false,Delete=false",
               "argocd-controller"),
    _annotated("argo tracks it", "argocd.argoproj.io/tracking-id", "a:/ConfigMap:x/y",
               "argocd-controller"),
    _annotated("release of helm", "meta.helm.sh/release-name", "evil", "helm"),
    _annotated("kept by helm", "helm.sh/resource-policy", "keep", "helm"),
    _annotated("flux prunes not", "kustomize.toolkit.fluxcd.io/prune", "disabled",
               "kustomize-controller"),
    _annotated("flux suspended", "kustomize.toolkit.fluxcd.io/reconcile", "disabled",
               "kustomize-controller"),
    _annotated("mark of kopf", "kopf.zalando.org/last-handled-configuration", "{}", "kopf"),
    _annotated("commit forged", "holdfast.dev/commit", "0123", "holdfast"),
    _annotated("revision forged", "holdfast.dev/revision", "9", "holdfast"),
    _annotated("cloud by name", "cloud.google.com/neg", "{}", "cloud-controller-manager",
               service()),
    _annotated("exposed by name", "service.beta.kubernetes.io/aws-load-balancer-scheme",
               "internet-facing", "service-controller", service()),
    _annotated("resizer of a claim", "volume.kubernetes.io/storage-resizer", "x", _CONTROLLER,
               claim()),
    Case(_ROW, "clean annotation of the cloud", (_BALANCED,), (patched(
        "Service", put("/metadata/annotations", {"cloud.google.com/neg": "{}"}),
        manager="cloud-controller-manager", user="system:cloud-controller-manager"),),
        proof=("Service", ("metadata", "annotations", "cloud.google.com/neg"), "{}")),
)  # fmt: skip
_FINALIZERS = (
    _held(_DRIFT, "trap of a controller", "x.example/hold", "backup-controller"),
    _held(_DRIFT, "trap of an operator", "x.example/hold", "x-operator"),
    _held(_DRIFT, "trap of kubernetes", "x.example/hold", _CONTROLLER),
    _held(_DRIFT, "trap of kopf", "kopf.zalando.org/KopfFinalizerMarker", "kopf"),
    _held(_DRIFT, "protected like a claim", "kubernetes.io/pvc-protection", _CONTROLLER),
    _held(_DRIFT, "keda elsewhere", "keda.sh/finalizer", "keda-operator"),
    _held(_CLEAN, "foreground", "foregroundDeletion", _CONTROLLER,
          f"{_OF_SYSTEM}generic-garbage-collector"),
)  # fmt: skip
_ACCOUNTS = (
    _edit(_DRIFT, "token by name", _ACCOUNT, "/secrets",
          [{"name": "$name-token-ab1cd"}], _CONTROLLER),
    _edit(_DRIFT, "another secret", _ACCOUNT, "/secrets", [{"name": "stolen"}], _CONTROLLER,
          f"{_OF_SYSTEM}tokens-controller"),
    Case(_ROW, "clean token", (_ACCOUNT,), (patched(
        "ServiceAccount", put("/secrets", [{"name": "$name-token-ab1cd"}]), manager=_CONTROLLER,
        user=f"{_OF_SYSTEM}tokens-controller"),), proof=("ServiceAccount", ("secrets", 0), None)),
)  # fmt: skip


def _scaled(replicas: int, manager: str, user: str = ALICE) -> Write:
    body = {"spec": {"replicas": replicas}}
    return Write("merge", "Deployment", body, manager=manager, user=user, subresource="scale")


_REPLICAS = ("Deployment", ("spec", "replicas"), 3)
_SCALED = (
    Case(_ROW, "drift scaled by name", (deployment(),), (_scaled(3, _CONTROLLER),),
         proof=_REPLICAS),
    Case(_ROW, "drift scaled by an undeclared autoscaler", (deployment(),),
         (Write("create", "HorizontalPodAutoscaler", autoscaler(minReplicas=1),
                api_version="autoscaling/v2"),
          _scaled(3, _CONTROLLER, f"{_OF_SYSTEM}horizontal-pod-autoscaler")), proof=_REPLICAS),
    Case(_ROW, "clean scaled by the declared autoscaler",
         (deployment({"replicas": 2}), autoscaler(minReplicas=1)),
         (_scaled(3, _CONTROLLER, f"{_OF_SYSTEM}horizontal-pod-autoscaler"),), proof=_REPLICAS),
)  # fmt: skip
_TEMPLATES = (
    _edit(_DRIFT, "sidecar as holdfast", deployment(), f"{POD}/containers/1",
          {"name": "tap", "image": "x:1", "resources": {}, "imagePullPolicy": "IfNotPresent",
           "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"},
          "holdfast"),
    _edit(_DRIFT, "variable as pulumi", deployment(), f"{CONTAINER}/env/2",
          {"name": "C", "value": "3"}, "pulumi-kubernetes-0a1b2c3d"),
    _edit(_DRIFT, "network of the node", deployment(), f"{POD}/hostNetwork", True, _CONTROLLER),
    _edit(_DRIFT, "network as holdfast", deployment(), f"{POD}/hostPID", True, "holdfast"),
    _edit(_DRIFT, "mounted hash", deployment(), "/spec/template/metadata/annotations",
          {"holdfast.dev/mounted-hash": "0123"}, "holdfast"),
    _edit(_DRIFT, "kueue by name", deployment(), "/spec/template/metadata/annotations",
          {"kueue.x-k8s.io/queue": "x"}, "kueue"),
    _edit(_DRIFT, "fetch before the firewall", deployment(pod={"initContainers": _INIT}),
          f"{POD}/initContainers/0/name", "later"),
    _edit(_DRIFT, "arguments turned", deployment(), f"{CONTAINER}/args",
          ["--port=8080", "serve"]),
    _edit(_DRIFT, "one thousandth more", deployment(), f"{CONTAINER}/resources/limits/cpu",
          "1001m"),
    _edit(_DRIFT, "tolerates all", deployment(), f"{POD}/tolerations", [{"operator": "Exists"}],
          "kube-scheduler"),
    Case(_ROW, "clean memory in bytes", (deployment(),), (patched(
        "Deployment", put(f"{CONTAINER}/resources/limits/memory", "1073741824")),),
        proof=("Deployment", ("spec", "template", "spec", "containers", 0, "name"), "agent")),
    _edit(_CLEAN, "the default said aloud", deployment(), "/spec/progressDeadlineSeconds", 600),
    _edit(_CLEAN, "variables turned", deployment(), f"{CONTAINER}/env",
          [{"name": "B", "value": "2"}, {"name": "A", "value": "1"}]),
    Case(_ROW, "clean set and set back", (deployment(),), (
        patched("Deployment", put("/metadata/labels", {"tier": "x"})),
        patched("Deployment", take("/metadata/labels"))),
        proof=("Deployment", ("metadata", "name"), None)),
    Case(_ROW, "clean only the record of owners is gone", (deployment(),), (
        patched("Deployment", put("/metadata/managedFields", [{}])),),
        proof=("Deployment", ("metadata", "name"), None)),
    Case(_ROW, "drift label and no record of owners", (deployment(),), (
        patched("Deployment", put("/metadata/labels", {"tier": "x"})),
        patched("Deployment", put("/metadata/managedFields", [{}]))),
        proof=("Deployment", ("metadata", "labels", "tier"), "x")),
)  # fmt: skip
_LET_IN = [{"podSelector": {"matchLabels": {"app": "b"}}}, {"podSelector": {}}]
_READING = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "get"]}]
_LEADING = [{"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get"]}]
_REACH = (
    _edit(_DRIFT, "anybody in", network_policy(), "/spec/ingress", [{}]),
    _edit(_DRIFT, "out to the world", network_policy(), "/spec/egress", [{}], _CONTROLLER),
    _edit(_DRIFT, "one direction", network_policy(), "/spec/policyTypes", ["Ingress"]),
    _edit(_CLEAN, "peers turned", network_policy(ingress=[{"from": _LET_IN}]),
          "/spec/ingress/0/from", list(reversed(_LET_IN))),
    _edit(_DRIFT, "address of the attacker", service(), "/spec/externalIPs", ["198.51.100.7"],
          "cloud-controller-manager"),
    _edit(_DRIFT, "sticky", service(), "/spec/sessionAffinity", "ClientIP"),
    _edit(_DRIFT, "any verb", role(), "/rules/0/verbs", ["*"], "holdfast", "admin"),
    _edit(_CLEAN, "rules turned", role(), "/rules", _LEADING + _READING, user="admin"),
    _edit(_DRIFT, "one subject more", role_binding(), "/subjects/2",
          {"kind": "User", "name": "mallory", "apiGroup": "rbac.authorization.k8s.io"},
          "clusterrole-aggregation-controller", "admin"),
    _edit(_DRIFT, "cannot be changed back", config_map(), "/immutable", True, _CONTROLLER),
)  # fmt: skip
_TAPPED = deployment(pod={"containers": [container(), {"name": "tap", "image": "x:1"}]})
_RECREATED = (
    Case(_ROW, "drift recreated under our name", (config_map(),), (
        Write("delete", "ConfigMap"), Write("apply", "ConfigMap", config_map(), "holdfast")),
        proof=("ConfigMap", ("metadata", "uid"), None)),
    Case(_ROW, "drift recreated with a sidecar", (deployment(),), (
        Write("delete", "Deployment"), Write("create", "Deployment", _TAPPED),
        patched("Deployment", put("/metadata/managedFields", [{}]))),
        proof=("Deployment", ("spec", "template", "spec", "containers", 1, "name"), "tap")),
    Case(_ROW, "drift recreated headless", (service(),), (
        Write("delete", "Service"), Write("create", "Service", service(clusterIP="None"))),
        proof=("Service", ("spec", "clusterIP"), "None")),
)  # fmt: skip
_ADMISSION = tuple(case for case in ANY_OBJECTS if case.row == _ADMISSION_ROW)

ATTACKS = (
    *_ANNOTATIONS,
    *_FINALIZERS,
    *_ACCOUNTS,
    *_SCALED,
    *_TEMPLATES,
    *_REACH,
    *_RECREATED,
)
"""Titles begin with the verdict."""

CASES = (*ATTACKS, *_ADMISSION)
"""With the case by which the replay sees that admission is in force."""
