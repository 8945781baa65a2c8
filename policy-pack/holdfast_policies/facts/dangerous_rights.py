"""Rights with which their holder can take any other right."""

from typing import Final

from holdfast_policies.facts.rights import Right

_RBAC = "rbac.authorization.k8s.io"
_MAKING = ("create", "update", "patch")
_CERTIFICATES = ("certificates", "certificaterequests")
_RUNNING = (
    *("serving.knative.dev", "tekton.dev", "kubevirt.io", "batch.volcano.sh", "jobset.x-k8s.io"),
    *("ray.io", "kubeflow.org", "leaderworkerset.x-k8s.io", "apps.kruise.io", "keda.sh"),
    *("extensions.agents.x-k8s.io", "sparkoperator.k8s.io", "flink.apache.org"),
    *("actions.github.com", "work.open-cluster-management.io", "kubernetes.crossplane.io"),
)
"""Groups whose controllers make pods of what their objects hold."""
_RIGHTS = ("roles", "clusterroles", "rolebindings", "clusterrolebindings")
DANGEROUS: Final = (
    Right("reading secrets", "", ("secrets",), ("get", "list", "watch")),
    Right("running commands in pods", "", ("pods/exec", "pods/attach"), ("create", "get")),
    Right("adding containers to pods", "", ("pods/ephemeralcontainers",), ("update", "patch")),
    Right("forwarding ports of pods", "", ("pods/portforward",), ("create", "get")),
    Right(
        "the kubelet's own interface",
        "",
        ("nodes/proxy", "nodes/checkpoint", "nodes/log"),
        ("get", "create", "update"),
    ),
    Right("tokens of other accounts", "", ("serviceaccounts/token",), ("create",)),
    Right(
        "acting as someone else",
        "",
        ("users", "groups", "serviceaccounts", "userextras"),
        ("impersonate",),
    ),
    Right(
        "acting as someone else",
        "authentication.k8s.io",
        ("users", "groups", "uids", "userextras"),
        ("impersonate",),
    ),
    Right("granting more than it has", _RBAC, ("roles", "clusterroles"), ("escalate", "bind")),
    Right("volumes of its own making", "", ("persistentvolumes",), ("create", "update", "patch")),
    Right("making secrets, tokens among them", "", ("secrets",), ("create", "update", "patch")),
    Right("running pods", "", ("pods", "replicationcontrollers", "podtemplates"), _MAKING),
    Right(
        "running pods",
        "apps",
        ("deployments", "statefulsets", "daemonsets", "replicasets"),
        _MAKING,
    ),
    Right("running pods", "batch", ("jobs", "cronjobs"), _MAKING),
    *(Right("running pods", group, ("*",), _MAKING) for group in _RUNNING),
    Right("changing accounts, and what clouds trust them with", "", ("serviceaccounts",), _MAKING),
    Right("asking for certificates", "cert-manager.io", _CERTIFICATES, ("create",)),
    Right("running pods", "argoproj.io", ("*",), _MAKING),
    Right("running pods", "agents.x-k8s.io", ("sandboxes",), _MAKING),
    Right("changing rights", _RBAC, _RIGHTS, _MAKING),
    Right(
        "the interface of pods and services",
        "",
        ("pods/proxy", "services/proxy"),
        ("get", "create"),
    ),
    Right("changing nodes", "", ("nodes", "nodes/status"), ("update", "patch", "create", "delete")),
    Right(
        "asking for certificates",
        "certificates.k8s.io",
        ("certificatesigningrequests",),
        ("create",),
    ),
    Right("deploying by others", "helm.toolkit.fluxcd.io", ("*",), _MAKING),
    Right("deploying by others", "kustomize.toolkit.fluxcd.io", ("*",), _MAKING),
    Right("reading secrets of others", "external-secrets.io", ("*",), _MAKING),
    Right("use of relaxed security", "security.openshift.io", ("*",), ("use",)),
    Right("redirecting traffic", "", ("endpoints",), ("create", "update", "patch")),
    Right(
        "redirecting traffic",
        "discovery.k8s.io",
        ("endpointslices",),
        ("create", "update", "patch"),
    ),
    Right(
        "approving certificates",
        "certificates.k8s.io",
        ("certificatesigningrequests/approval", "signers"),
        ("update", "patch", "approve", "sign"),
    ),
)
"""Each with what it is good for, its resources and its verbs."""
