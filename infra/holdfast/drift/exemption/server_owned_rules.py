"""Fields that the server and its controllers write by themselves, a rule each.

Source: the controllers of Kubernetes 1.36; documentation of cert-manager, KEDA, Argo Rollouts,
Argo CD, Flux, Helm, Kueue, External Secrets and external-snapshotter.
"""

import re
from dataclasses import dataclass
from typing import Final

from holdfast.drift.exemption.writers import (
    OF_ARGO_CD,
    OF_CLOUD,
    OF_FLUX,
    OF_HELM,
    OF_KUBERNETES,
    WriterProof,
)


@dataclass(frozen=True)
class ServerOwned:
    """A field of a kind that is not the declaration's business.

    Attributes:
        kind: Empty for every kind.
        path: Matches the whole dotted path.
        value: What the text of the value must match as a whole, JSON where it is no text; `{name}`,
            `{namespace}` and `{uid}` stand for those of the object.
        writer: Who must have written it; None where the value suffices.
        is_unowned: Nobody may own it: the server itself leaves no entry.
        controller: Controller that the stack's settings must list, unless the audit log shows an
            identity of the cluster; empty for Kubernetes' own, and for those that a declared kind
            belongs to.
        is_credential: Without an owner the users who wrote to the object decide: of an account
            that declares nothing but its name the server keeps no owners.
    """

    kind: str
    path: re.Pattern[str]
    value: str
    writer: WriterProof | None = None
    is_unowned: bool = False
    controller: str = ""
    is_credential: bool = False


def _annotation(*names: str) -> re.Pattern[str]:
    """Annotations by name; a name may be a pattern."""
    return re.compile(rf'metadata\.annotations\["({"|".join(names)})"\]')


def _label(*names: str, prefix: str = "") -> re.Pattern[str]:
    return re.compile(rf'{prefix}metadata\.labels(\["({"|".join(names)})"\]|\.({"|".join(names)}))')


_FINALIZER: Final = re.compile(r"metadata\.finalizers\[\d+\]")
_NAME: Final = r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?"
_DRIVER: Final = r"[a-z0-9][a-z0-9./-]*"
_UID: Final = "[0-9a-f-]{{36}}"
_TOLERATION: Final = (
    r'\{{"effect":"NoExecute","key":"node\.kubernetes\.io/(not-ready|unreachable)",'
    r'"operator":"Exists","tolerationSeconds":300\}}'
)
_JOB_NAMES: Final = r"(batch\.kubernetes\.io/)?job-name"
_JOB_UIDS: Final = r"(batch\.kubernetes\.io/)?controller-uid"


def _pod(path: str, value: str) -> ServerOwned:
    """A field that admission or the scheduler fills in; hardly any can change later."""
    return ServerOwned("Pod", re.compile(path), value, is_unowned=True)


RULES: Final = (
    ServerOwned("Namespace", _label(r"kubernetes\.io/metadata\.name"), "{name}"),
    ServerOwned("Namespace", re.compile("spec"), r'\{{"finalizers":\["kubernetes"\]\}}'),
    ServerOwned("Namespace", re.compile(r"spec\.finalizers(\[0\])?"), "kubernetes"),
    ServerOwned(
        "ServiceAccount",
        re.compile(r"secrets(\[.*\])?"),
        r'\{{"name":"{name}-(token|dockercfg)-[a-z0-9]{{5}}"\}}',
        OF_KUBERNETES,
        is_credential=True,
    ),
    ServerOwned(
        "PersistentVolumeClaim",
        _annotation(r"pv\.kubernetes\.io/(bind-completed|bound-by-controller)"),
        "yes",
        OF_KUBERNETES,
    ),
    ServerOwned(
        "PersistentVolumeClaim",
        _annotation(
            r"volume\.(beta\.)?kubernetes\.io/(storage-provisioner|storage-resizer)",
            r"volume\.kubernetes\.io/selected-node",
        ),
        _DRIVER,
        OF_KUBERNETES,
    ),
    ServerOwned(
        "PersistentVolumeClaim",
        re.compile(r"spec\.storageClassName"),
        _NAME,
        OF_KUBERNETES,
    ),
    ServerOwned("PersistentVolume", _annotation(r"pv\.kubernetes\.io/bound-by-controller"), "yes"),
    ServerOwned(
        "PersistentVolume",
        _annotation(r"pv\.kubernetes\.io/provisioned-by"),
        _DRIVER,
        OF_KUBERNETES,
    ),
    _pod(r"spec\.nodeName", _NAME),
    _pod(r"spec\.tolerations(\[\d+\])?", _TOLERATION),
    _pod(r"spec\.serviceAccountName", "default"),
    _pod(r"spec\.(priority|preemptionPolicy)", "-?[0-9]+|PreemptLowerPriority|Never"),
    _pod(r"spec\.enableServiceLinks", "true"),
    _pod(
        r"spec\.volumes\[name=kube-api-access-[a-z0-9]{5}\]",
        r'\{{"name":"kube-api-access-[a-z0-9]{{5}}","projected":\{{.*"serviceAccountToken".*\}}\}}',
    ),
    _pod(
        r"spec\.\w+\[[^\]]*\]\.volumeMounts"
        r"\[mountPath=/var/run/secrets/kubernetes\.io/serviceaccount\]",
        r'\{{"mountPath":"[a-z./]+","name":"kube-api-access-[a-z0-9]{{5}}","readOnly":true\}}',
    ),
    # By a LimitRange: resources of a pod change only by a resize, which has an owner.
    _pod(r"spec\.\w+\[[^\]]*\]\.resources(\.(requests|limits)(\..*|\[.*)?)?", ".*"),
    _pod(r'metadata\.labels\["topology\.kubernetes\.io/(zone|region)"\]', ".*"),
    ServerOwned(
        "HorizontalPodAutoscaler",
        # Of its state; the other two of this group are how autoscaling/v1 stores what is declared.
        _annotation(r"autoscaling\.alpha\.kubernetes\.io/(conditions|current-metrics)"),
        ".*",
    ),
    ServerOwned("Job", _label(_JOB_NAMES, prefix=r"(spec\.template\.)?"), "{name}"),
    ServerOwned("Job", _label(_JOB_UIDS, prefix=r"(spec\.template\.)?"), "{uid}"),
    ServerOwned(
        "Job",
        re.compile(r"spec\.selector"),
        r'\{{"matchLabels":\{{"(batch\.kubernetes\.io/)?controller-uid":"{uid}"\}}\}}',
    ),
    ServerOwned("Secret", _annotation(r"kubernetes\.io/service-account\.uid"), _UID),
    ServerOwned(
        "Secret",
        _label(r"kubernetes\.io/legacy-token-(last-used|invalid-since)"),
        r"\d{{4}}-\d\d-\d\d",
    ),
    # Written by the client that deletes an object, and removed by the garbage collector.
    ServerOwned("", _FINALIZER, "foregroundDeletion|orphan"),
    ServerOwned("PersistentVolumeClaim", _FINALIZER, r"kubernetes\.io/pvc-protection"),
    ServerOwned(
        "PersistentVolume",
        _FINALIZER,
        r"kubernetes\.io/pv-protection|external-provisioner\.volume\.kubernetes\.io/finalizer",
    ),
    ServerOwned("Service", _FINALIZER, r"service\.kubernetes\.io/load-balancer-cleanup"),
    # Controllers in objects of their own kinds, which do nothing without them.
    *(
        ServerOwned(kind, _FINALIZER, r"finalizer\.keda\.sh")
        for kind in ("ScaledObject", "ScaledJob")
    ),
    ServerOwned("ScaledObject", _label(r"scaledobject\.keda\.sh/name"), "{name}"),
    ServerOwned(
        "Rollout", _annotation(r"rollout\.argoproj\.io/(revision|workload-generation)"), r"\d+"
    ),
    ServerOwned(
        "ExternalSecret",
        _FINALIZER,
        r"externalsecrets\.external-secrets\.io/externalsecret-cleanup",
    ),
    ServerOwned(
        "VolumeSnapshot",
        _FINALIZER,
        r"snapshot\.storage\.kubernetes\.io/volumesnapshot-(bound|as-source)-protection",
    ),
    ServerOwned("LocalQueue", _FINALIZER, r"kueue\.x-k8s\.io/resource-in-use"),
    # Delivery engines and controllers that write into what is not theirs.
    ServerOwned(
        "",
        _annotation(r"argocd\.argoproj\.io/tracking-id"),
        r"[^:]+:[a-z0-9.-]*/{kind}:{namespace}/{name}",
        OF_ARGO_CD,
        controller="argo-cd",
    ),
    ServerOwned(
        "",
        _annotation(r"argocd\.argoproj\.io/sync-options"),
        "Prune=false,Delete=false",
        OF_ARGO_CD,
        controller="argo-cd",
    ),
    ServerOwned(
        "",
        _label(r"(kustomize|helm)\.toolkit\.fluxcd\.io/(name|namespace)"),
        _NAME,
        OF_FLUX,
        controller="flux",
    ),
    ServerOwned(
        "",
        _annotation(r"kustomize\.toolkit\.fluxcd\.io/prune"),
        "disabled",
        OF_FLUX,
        controller="flux",
    ),
    *(
        ServerOwned("", path, value, writer, controller=controller)
        for controller, writer in (("helm", OF_HELM), ("flux", OF_FLUX))
        for path, value in (
            (_annotation(r"meta\.helm\.sh/release-(name|namespace)"), _NAME),
            (_annotation(r"helm\.sh/resource-policy"), "keep"),
        )
    ),
    ServerOwned(
        "Deployment",
        re.compile(r'spec\.template\.metadata\.(annotations|labels)\["kueue\.x-k8s\.io/[a-z-]+"\]'),
        ".*",
        is_unowned=True,
        controller="kueue",
    ),
    *(
        ServerOwned(
            kind,
            _annotation(
                r"(cloud\.google\.com|networking\.gke\.io|ingress\.kubernetes\.io"
                r"|service(\.beta)?\.kubernetes\.io)/[^\"]+"
            ),
            ".*",
            OF_CLOUD,
            controller="cloud-provider",
        )
        for kind in ("Service", "Ingress")
    ),
)
