"""What the server and its controllers write into objects by themselves: never drift.

Only for fields that are not declared. Each entry is a kind, a pattern for the field path and, where
the writer matters, the managers that may write it. Names of managers are chosen by the client, so a
manager counts only for the fields listed with it.

Source: the controllers of Kubernetes 1.36; cert-manager, kopf, KEDA, Argo Rollouts, Kueue and cloud
provider documentation.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from holdfast.drift.compare.difference import Difference
from holdfast.kube.objects import ObjectRef, mapping_at
from holdfast.kube.paths import Path, format_path

_CONTROLLER_NAME: Final = re.compile(
    r"(^|[-_.])(controller|controller-manager|operator)$|^(kube|cloud)-controller-manager$"
)
_CA_INJECTORS: Final = re.compile(r"^(cert-manager-)?cainjector$")
_CLOUD_MANAGERS: Final = re.compile(
    r"^(cloud-controller-manager|glbc|gke-.*|aws-load-balancer-controller|service-controller)$"
)
_ANY: Final = re.compile("")


@dataclass(frozen=True)
class ServerOwned:
    """Fields of a kind that are not the declaration's business.

    Attributes:
        kind: Empty for every kind.
        path: Matches the beginning of the dotted path.
        managers: Who must own the field, alone; by default any or none.
        value: What the text of the value must match.
    """

    kind: str
    path: re.Pattern[str]
    managers: re.Pattern[str] = _ANY
    value: re.Pattern[str] = _ANY


def _annotations(*prefixes: str) -> re.Pattern[str]:
    names = "|".join(re.escape(prefix) for prefix in prefixes)
    return re.compile(rf'metadata\.annotations\["({names})')


# Marks of an update, put beside what is rendered: what its pods mount, which commit it deployed.
MOUNTED_HASH: Final[Path] = (
    "spec",
    "template",
    "metadata",
    "annotations",
    "holdfast.dev/mounted-hash",
)
COMMIT: Final[Path] = ("metadata", "annotations", "holdfast.dev/commit")
UPDATE_MARKS: Final = (MOUNTED_HASH, COMMIT)
_MOUNTED_HASH: Final = re.compile(re.escape(format_path(MOUNTED_HASH)) + "$")
_COMMIT: Final = re.compile(re.escape(format_path(COMMIT)) + "$")
_HOLDFAST: Final = re.compile(r"^holdfast$")
_FINALIZERS: Final = re.compile(r"metadata\.finalizers")
_RULES: Final = (
    ServerOwned("Namespace", re.compile(r'metadata\.labels\["kubernetes\.io/metadata\.name"\]')),
    ServerOwned("Namespace", re.compile(r"spec(\.finalizers)?$")),
    ServerOwned("ServiceAccount", re.compile("secrets")),
    ServerOwned("Deployment", _MOUNTED_HASH, _HOLDFAST),
    ServerOwned("Rollout", _MOUNTED_HASH, _HOLDFAST),
    ServerOwned("ConfigMap", _COMMIT, _HOLDFAST),
    ServerOwned(
        "PersistentVolumeClaim",
        _annotations("pv.kubernetes.io/", "volume.kubernetes.io/", "volume.beta.kubernetes.io/"),
    ),
    # Set once, when the claim is bound; they cannot change afterwards.
    ServerOwned("PersistentVolumeClaim", re.compile(r"spec\.(volumeName|storageClassName)$")),
    # A pod is filled in by admission and by the scheduler; hardly anything can change later.
    ServerOwned(
        "Pod",
        re.compile(
            r"spec\.(nodeName|tolerations|serviceAccountName|priority|preemptionPolicy"
            r"|enableServiceLinks|volumes\[name=kube-api-access-"
            r"|\w+\[[^\]]*\]\.(volumeMounts\[mountPath=/var/run/secrets/kubernetes\.io/"
            r"|resources\.requests))"
        ),
    ),
    ServerOwned("Pod", re.compile(r'metadata\.labels\["topology\.kubernetes\.io/')),
    ServerOwned("HorizontalPodAutoscaler", _annotations("autoscaling.alpha.kubernetes.io/")),
    ServerOwned(
        "Job",
        re.compile(
            r"(spec\.template\.)?metadata\.labels"
            r'(\.(controller-uid|job-name)|\["batch\.kubernetes\.io/(controller-uid|job-name))'
        ),
    ),
    ServerOwned("Job", re.compile(r"spec\.selector")),
    ServerOwned("Secret", _annotations("kubernetes.io/service-account.uid")),
    ServerOwned("Secret", re.compile(r'metadata\.labels\["kubernetes\.io/legacy-token-')),
    ServerOwned("", _FINALIZERS, managers=_CONTROLLER_NAME),
    ServerOwned(
        "",
        _FINALIZERS,
        value=re.compile(r"^(foregroundDeletion|orphan|kubernetes\.io/pvc?-protection)$"),
    ),
    ServerOwned("", _FINALIZERS, value=re.compile(r"^kopf\.zalando\.org/KopfFinalizerMarker$")),
    ServerOwned("", _annotations("kopf.zalando.org/")),
    ServerOwned("ScaledObject", _FINALIZERS, value=re.compile(r"^finalizer\.keda\.sh$")),
    ServerOwned("ScaledJob", _FINALIZERS, value=re.compile(r"^finalizer\.keda\.sh$")),
    ServerOwned("Rollout", _annotations("rollout.argoproj.io/")),
    # What keeps an object, and says whose it is, where another tool applies what was rendered.
    ServerOwned("", _annotations("helm.sh/resource-policy"), value=re.compile(r"^keep$")),
    ServerOwned("", _annotations("meta.helm.sh/release-", "kustomize.toolkit.fluxcd.io/")),
    # By these Flux finds what it applied; another one who sets them wants something else.
    *(
        ServerOwned(
            "",
            re.compile(rf'metadata\.labels\["{tool}\.toolkit\.fluxcd\.io/(name|namespace)"\]'),
            managers=re.compile(rf"^{tool}-controller$"),
        )
        for tool in ("kustomize", "helm")
    ),
    ServerOwned(
        "", _annotations("argocd.argoproj.io/tracking-id", "argocd.argoproj.io/sync-options")
    ),
    # Kueue's admission, for the pods of a queue.
    ServerOwned(
        "Deployment", re.compile(r'spec\.template\.metadata\.annotations\["kueue\.x-k8s\.io/')
    ),
    ServerOwned("Service", _FINALIZERS, value=re.compile(r"^service\.kubernetes\.io/load-bal")),
    *(
        ServerOwned(
            kind,
            _annotations(
                "cloud.google.com/",
                "networking.gke.io/",
                "ingress.kubernetes.io/",
                "service.beta.kubernetes.io/",
                "service.kubernetes.io/",
            ),
            managers=_CLOUD_MANAGERS,
        )
        for kind in ("Service", "Ingress")
    ),
)
_CA_BUNDLE: Final = re.compile(r"\.caBundle$")
_CA_ANNOTATION: Final = re.compile(
    r"^cert-manager\.io/inject-(ca-from|ca-from-secret|apiserver-ca)$"
    r"|^service\.beta\.openshift\.io/inject-cabundle$"
)
_TOKEN_TYPE: Final = "kubernetes.io/service-account-token"  # noqa: S105  (a type, not a token)


def is_server_owned(
    ref: ObjectRef, difference: Difference, managers: Iterable[str], desired: dict[str, Any]
) -> bool:
    """Whether an undeclared difference is the doing of the server or of a known controller.

    Args:
        ref: The object.
        difference: What differs.
        managers: Names of the managers that own the path; empty when none does.
        desired: The declaration, for what it says about its own controllers.
    """
    path, names = format_path(difference.path), tuple(managers)
    if ref.kind == "Secret" and path.startswith("data") and desired.get("type") == _TOKEN_TYPE:
        return True
    if is_injected_bundle(difference, names, desired):
        return True
    value = difference.live if isinstance(difference.live, str) else ""
    return any(
        rule.kind in {"", ref.kind}
        and rule.path.match(path)
        and _is_written_by(rule.managers, names)
        and rule.value.search(value)
        for rule in _RULES
    )


def is_injected_bundle(
    difference: Difference, managers: tuple[str, ...], desired: dict[str, Any]
) -> bool:
    """Whether a `caBundle` was filled in by the injector that the declaration asks for."""
    if not _CA_BUNDLE.search(format_path(difference.path)):
        return False
    annotations = mapping_at(desired, "metadata", "annotations")
    asked = any(_CA_ANNOTATION.search(key) for key in annotations)
    return asked and _is_written_by(_CA_INJECTORS, managers)


def _is_written_by(managers: re.Pattern[str], names: tuple[str, ...]) -> bool:
    """Whether the owners are those that a rule names; never for a field without an owner.

    An object that was applied server-side has owners: a field without one was wiped.
    """
    return managers is _ANY or (bool(names) and all(managers.search(name) for name in names))
