"""Values that a client writes under the name or with the mark of a controller."""

from typing import Any

from holdfast.kube.objects import KubeObject

from tests.unit.drift.attacks.pair import UID, Pair
from tests.unit.drift.objects import DEPLOYMENT


def one(api_version: str, kind: str, **body: Any) -> KubeObject:
    """A declared object with a label and an annotation."""
    metadata = {
        "name": "one",
        "namespace": "cx",
        "labels": {"tier": "front"},
        "annotations": {"note": "x"},
    }
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}


def mark(key: str) -> str:
    return f'metadata.annotations["{key}"]'


CONFIG = one("v1", "ConfigMap", data={"a": "b"})
SERVICE = one("v1", "Service", spec={"ports": [{"port": 80}], "selector": {"app": "one"}})
CLAIM = one("v1", "PersistentVolumeClaim", spec={"accessModes": ["ReadWriteOnce"]})
VOLUME = one("v1", "PersistentVolume", spec={"capacity": {"storage": "1Gi"}})
ACCOUNT = one("v1", "ServiceAccount")
NAMESPACE = one("v1", "Namespace")
POD = one("v1", "Pod", spec={"containers": [{"name": "a", "image": "x:1"}]})
JOB = one("batch/v1", "Job", spec={"template": DEPLOYMENT["spec"]["template"]})
AGENT = one("holdfast.dev/v1alpha1", "Agent", spec={"model": "m"})
SCALED = one("keda.sh/v1alpha1", "ScaledObject", spec={"scaleTargetRef": {"name": "one"}})
SCALER_V1 = one(
    "autoscaling/v1",
    "HorizontalPodAutoscaler",
    spec={"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "x"}},
)
TOKEN = one("v1", "Secret", type="kubernetes.io/service-account-token")
TRACKED = "app:/ConfigMap:cx/one"
FLUX = frozenset({"flux"})
ARGO = frozenset({"argo-cd"})
CONTROLLER = "kube-controller-manager"
LB = {"metadata.finalizers": ["service.kubernetes.io/load-balancer-cleanup"]}
TOLERATION = {
    "key": "node.kubernetes.io/not-ready",
    "operator": "Exists",
    "effect": "NoExecute",
    "tolerationSeconds": 300,
}
EVERYTHING = {"operator": "Exists"}

DELIVERY = tuple(
    pair
    for key, value, owner in (
        ("argocd.argoproj.io/sync-options", "Prune=false,Delete=false", "argocd-controller"),
        ("argocd.argoproj.io/tracking-id", TRACKED, "argocd-controller"),
        ("meta.helm.sh/release-name", "evil", "helm"),
        ("helm.sh/resource-policy", "keep", "helm"),
        ("kustomize.toolkit.fluxcd.io/prune", "disabled", "kustomize-controller"),
        ("kustomize.toolkit.fluxcd.io/reconcile", "disabled", "kustomize-controller"),
        ("kopf.zalando.org/last-handled-configuration", "{}", "kopf"),
        ("cloud.google.com/neg", "{}", "gke-controller"),
        ("holdfast.dev/commit", "0123", "holdfast"),
        ("holdfast.dev/revision", "9", "holdfast"),
        ("holdfast.dev/mounted-hash", "0123", "holdfast"),
    )
    for pair in (
        Pair(f"{key} by its name, unlisted", True, CONFIG, {mark(key): value}, owner),
        Pair(f"{key} by a person", True, CONFIG, {mark(key): value}, "kubectl-annotate"),
        Pair(
            f"{key} as recorded",
            False,
            CONFIG,
            {mark(key): value},
            "holdfast",
            baseline={mark(key): value},
            baseline_owner="holdfast",
        ),
    )
)

NAMED = (
    Pair("Argo CD tracks", False, CONFIG, {mark("argocd.argoproj.io/tracking-id"): TRACKED},
         "argocd-controller", controllers=ARGO),
    Pair("tracking of another object", True, CONFIG,
         {mark("argocd.argoproj.io/tracking-id"): "app:/ConfigMap:cx/other"},
         "argocd-controller", controllers=ARGO),
    Pair("another sync option", True, CONFIG,
         {mark("argocd.argoproj.io/sync-options"): "Replace=true"},
         "argocd-controller", controllers=ARGO),
    Pair("no owner of an engine's mark", True, CONFIG,
         {mark("argocd.argoproj.io/sync-options"): "Prune=false,Delete=false"}, controllers=ARGO,
         baseline={}),
    Pair("Flux prunes not", False, CONFIG, {mark("kustomize.toolkit.fluxcd.io/prune"): "disabled"},
         "kustomize-controller", controllers=FLUX),
    Pair("Flux never suspends itself", True, CONFIG,
         {mark("kustomize.toolkit.fluxcd.io/reconcile"): "disabled"},
         "kustomize-controller", controllers=FLUX),
    Pair("Flux, disproved by the log", True, CONFIG,
         {mark("kustomize.toolkit.fluxcd.io/prune"): "disabled"},
         "kustomize-controller", user="alice@example.test", controllers=FLUX),
    Pair("Flux, proved by the log", False, CONFIG,
         {mark("kustomize.toolkit.fluxcd.io/prune"): "disabled"}, "kustomize-controller",
         user="system:serviceaccount:flux-system:kustomize-controller", controllers=FLUX),
    Pair("cloud annotation, listed", False, SERVICE, {mark("cloud.google.com/neg"): "{}"},
         "service-controller", controllers=frozenset({"cloud-provider"})),
    Pair("cloud annotation by a person", True, SERVICE, {mark("cloud.google.com/neg"): "{}"},
         "service-controller", user="alice@example.test",
         controllers=frozenset({"cloud-provider"})),
    Pair("agent is paused", True, AGENT, {mark("holdfast.dev/paused"): "true"}, "holdfast"),
    Pair("conflict is settled", True, AGENT, {mark("holdfast.dev/settled"): "x"}, "holdfast"),
)  # fmt: skip

FINALIZERS = (
    Pair("a trap", True, CONFIG, {"metadata.finalizers": ["x.example/hold"]}, "evil-controller"),
    Pair("a trap of an operator", True, CONFIG, {"metadata.finalizers": ["x.example/hold"]},
         "x-operator"),
    Pair("a trap that nobody owns", True, CONFIG, {"metadata.finalizers": ["x.example/hold"]},
         metadata={"managedFields": []}),
    Pair("a trap by the controller manager", True, CONFIG,
         {"metadata.finalizers": ["x.example/hold"]}, CONTROLLER),
    Pair("kopf's mark", True, CONFIG,
         {"metadata.finalizers": ["kopf.zalando.org/KopfFinalizerMarker"]}, "kopf"),
    Pair("protection of a claim", False, CLAIM,
         {"metadata.finalizers": ["kubernetes.io/pvc-protection"]}, CONTROLLER),
    Pair("protection of a claim on a setting", True, CONFIG,
         {"metadata.finalizers": ["kubernetes.io/pvc-protection"]}, CONTROLLER),
    Pair("deletion in the foreground", False, CONFIG,
         {"metadata.finalizers": ["foregroundDeletion"]}, CONTROLLER),
    Pair("clean-up of a load balancer", False, SERVICE, LB, "cloud-controller-manager"),
    Pair("clean-up of a load balancer elsewhere", True, CONFIG, LB, "cloud-controller-manager"),
    Pair("KEDA on its own kind", False, SCALED, {"metadata.finalizers": ["finalizer.keda.sh"]},
         "keda-operator"),
    Pair("KEDA elsewhere", True, CONFIG, {"metadata.finalizers": ["finalizer.keda.sh"]},
         "keda-operator"),
    Pair("owner by a controller's name", True, CONFIG,
         {"metadata.ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "x",
                                        "uid": "1", "controller": True}]}, "evil-controller"),
    Pair("owner by the controller manager's name", True, CONFIG,
         {"metadata.ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "x",
                                        "uid": "1"}]}, CONTROLLER),
)  # fmt: skip

FILLED_IN = (
    Pair("token of an account", False, ACCOUNT, {"secrets": [{"name": "one-token-ab1cd"}]},
         CONTROLLER),
    Pair("another Secret of an account", True, ACCOUNT, {"secrets": [{"name": "stolen"}]},
         CONTROLLER),
    Pair("a Secret of an account, by a person", True, ACCOUNT,
         {"secrets": [{"name": "one-token-ab1cd"}]}, "kubectl-patch"),
    Pair("token, disproved by the log", True, ACCOUNT, {"secrets": [{"name": "one-token-ab1cd"}]},
         CONTROLLER, user="alice@example.test"),
    Pair("dynamic volume", False, CLAIM, {"spec.volumeName": f"pvc-{UID}"}, CONTROLLER),
    Pair("static volume, bound", False, CLAIM, {"spec.volumeName": "disk"}, CONTROLLER,
         status={"phase": "Bound"}),
    Pair("static volume, not bound", True, CLAIM, {"spec.volumeName": "disk"}, CONTROLLER,
         status={"phase": "Pending"}),
    Pair("reserved volume that nobody owns", True, CLAIM, {"spec.volumeName": "disk"},
         metadata={"managedFields": []}),
    Pair("volume of another claim", True, CLAIM, {"spec.volumeName": "pvc-2"}, "kubectl"),
    Pair("binding is noted", False, CLAIM, {mark("pv.kubernetes.io/bind-completed"): "yes"},
         CONTROLLER),
    Pair("provisioner of a claim", False, CLAIM,
         {mark("volume.kubernetes.io/storage-provisioner"): "csi.example.test/disk"}, CONTROLLER),
    Pair("another mark of volumes", True, CLAIM,
         {mark("volume.beta.kubernetes.io/storage-class"): "fast"}, "kubectl-annotate"),
    Pair("another mark of binding", True, CLAIM, {mark("pv.kubernetes.io/x"): "yes"}, CONTROLLER),
    Pair("class of a claim", False, CLAIM, {"spec.storageClassName": "fast"}),
    Pair("class of a claim, by a person", True, CLAIM, {"spec.storageClassName": "fast"},
         "kubectl-edit"),
    Pair("volume is bound", False, VOLUME,
         {"spec.claimRef": {"kind": "PersistentVolumeClaim", "namespace": "cx", "name": "c"}},
         CONTROLLER, status={"phase": "Bound"}),
    Pair("volume is reserved by a person", True, VOLUME,
         {"spec.claimRef": {"kind": "PersistentVolumeClaim", "namespace": "cx", "name": "c"}},
         "kubectl-edit", status={"phase": "Bound"}),
    Pair("volume is reserved, not bound", True, VOLUME,
         {"spec.claimRef": {"kind": "PersistentVolumeClaim", "namespace": "cx", "name": "c"}},
         CONTROLLER, status={"phase": "Available"}),
    Pair("name of a namespace", False, NAMESPACE,
         {'metadata.labels["kubernetes.io/metadata.name"]': "one"}),
    Pair("another name of a namespace", True, NAMESPACE,
         {'metadata.labels["kubernetes.io/metadata.name"]': "kube-system"}, "kubectl-label"),
    Pair("finalizer of a namespace", False, NAMESPACE, {"spec.finalizers": ["kubernetes"]}),
    Pair("another finalizer of a namespace", True, NAMESPACE,
         {"spec.finalizers": ["kubernetes", "x.example/hold"]}, "kubectl"),
    Pair("tolerations of admission", False, POD, {"spec.tolerations": [TOLERATION]}),
    Pair("tolerates everything", True, POD, {"spec.tolerations": [EVERYTHING]}, "kubectl-edit"),
    Pair("tolerates everything, unowned", True, POD, {"spec.tolerations": [TOLERATION, EVERYTHING]},
         metadata={"managedFields": []}),
    Pair("node of a pod", False, POD, {"spec.nodeName": "node-1"}),
    Pair("node of a pod, by a person", True, POD, {"spec.nodeName": "node-1"}, "kubectl"),
    Pair("account of a pod", False, POD, {"spec.serviceAccountName": "default"}),
    Pair("another account of a pod", True, POD, {"spec.serviceAccountName": "admin"},
         metadata={"managedFields": []}),
    Pair("labels of a job", False, JOB,
         {'metadata.labels["batch.kubernetes.io/controller-uid"]': UID,
          'metadata.labels["job-name"]': "one"}),
    Pair("labels of another job", True, JOB, {'metadata.labels["job-name"]': "other"},
         "kubectl-label"),
    Pair("state of an autoscaler", False, SCALER_V1,
         {mark("autoscaling.alpha.kubernetes.io/conditions"): "[]"}, CONTROLLER),
    Pair("metrics of an autoscaler as an annotation", True, SCALER_V1,
         {mark("autoscaling.alpha.kubernetes.io/metrics"): "[]"}, "kubectl-annotate"),
    Pair("a token is filled in", False, TOKEN, {"data": {"token": "eA==", "namespace": "Y3g="}},
         CONTROLLER),
    Pair("another key beside a token", True, TOKEN, {"data.extra": "eA=="}, "kubectl-edit"),
)  # fmt: skip

OTHER_UID = "22222222-2222-2222-2222-222222222222"
HEADLESS = {**SERVICE, "spec": {**SERVICE["spec"], "clusterIP": "None"}}
ADDRESSES = (
    Pair("addresses", False, SERVICE,
         {"spec.clusterIP": "10.0.0.1", "spec.clusterIPs": ["10.0.0.1"],
          "spec.ipFamilies": ["IPv4"], "spec.ipFamilyPolicy": "SingleStack"}),
    Pair("headless", True, SERVICE, {"spec.clusterIP": "None", "spec.clusterIPs": ["None"]}),
    Pair("headless, declared", False, HEADLESS, {"spec.clusterIPs": ["None"]}),
    Pair("another address than recorded", True, SERVICE, {"spec.clusterIP": "10.0.0.9"},
         baseline={"spec.clusterIP": "10.0.0.1"}),
    Pair("another address after a recreation", False, SERVICE,
         {"spec.clusterIP": "10.0.0.9", "spec.clusterIPs": ["10.0.0.9"]},
         baseline={"spec.clusterIP": "10.0.0.1", "spec.clusterIPs": ["10.0.0.1"]},
         metadata={"uid": OTHER_UID}, is_confirmed=True),
    Pair("headless after a recreation", True, SERVICE,
         {"spec.clusterIP": "None", "spec.clusterIPs": ["None"]},
         baseline={"spec.clusterIP": "10.0.0.1", "spec.clusterIPs": ["10.0.0.1"]},
         metadata={"uid": OTHER_UID}, is_confirmed=True),
    Pair("both families, own entry removed", True, SERVICE,
         {"spec.ipFamilyPolicy": "PreferDualStack"},
         baseline={"spec.ipFamilyPolicy": "SingleStack"}),
    Pair("created with a sidecar", True, DEPLOYMENT,
         {"spec.template.spec.containers[name=tap]": {"name": "tap", "image": "t:1"}}, baseline={},
         metadata={"uid": OTHER_UID, "generation": 1}, is_confirmed=True),
    Pair("created again, and not confirmed", True, DEPLOYMENT, baseline={},
         metadata={"uid": OTHER_UID}),
    Pair("created with what the baseline has", False, DEPLOYMENT,
         {"metadata.labels.zone": "eu-1"}, baseline={"metadata.labels.zone": "eu-1"},
         metadata={"generation": 1}),
)  # fmt: skip

PAIRS = (*ADDRESSES, *DELIVERY, *NAMED, *FINALIZERS, *FILLED_IN)
