"""Cases of rules as an API server would take them: with what it insists on and no rule looks at."""

import copy
from collections.abc import Mapping
from typing import Any

from holdfast_policies.model.kinds import POD_TEMPLATE_PATHS, Kind, kind_of

_VERSIONS = {
    "": "v1",
    "apps": "apps/v1",
    "batch": "batch/v1",
    "argoproj.io": "argoproj.io/v1alpha1",
    "keda.sh": "keda.sh/v1alpha1",
    "agents.x-k8s.io": "agents.x-k8s.io/v1beta1",
    "extensions.agents.x-k8s.io": "extensions.agents.x-k8s.io/v1beta1",
}
_WITH_SELECTOR = {"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Rollout"}
_RESTARTS_NEVER = {"Job", "CronJob"}
_LINUX_ONLY = (
    "allowPrivilegeEscalation",
    "capabilities",
    "procMount",
    "readOnlyRootFilesystem",
    "seccompProfile",
)
_TRIGGERS = [{"type": "cpu", "metadata": {"value": "50"}}]
_DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "agent"}
_REQUIRED: Mapping[str, dict[str, Any]] = {
    "CiliumNetworkPolicy": {"endpointSelector": {}},
    "Gateway": {"gatewayClassName": "example"},
    "HorizontalPodAutoscaler": {"scaleTargetRef": _DEPLOYMENT, "maxReplicas": 1},
    "Ingress": {"defaultBackend": {"service": {"name": "agent", "port": {"number": 80}}}},
    "NetworkPolicy": {"podSelector": {}},
    "SandboxClaim": {"warmPoolRef": {"name": "pool"}},
    "SandboxWarmPool": {"sandboxTemplateRef": {"name": "template"}},
    "ScaledJob": {"triggers": _TRIGGERS},
    "ScaledObject": {"scaleTargetRef": {"name": "agent"}, "triggers": _TRIGGERS},
    "Service": {"ports": [{"port": 80}]},
}
_SELECTED = {"parity": "selected"}


def wrapped(pod: Mapping[str, Any], kind: Kind) -> dict[str, Any]:
    """A workload whose template is the pod."""
    inner: Any = {"metadata": pod.get("metadata"), "spec": pod.get("spec")}
    for step in reversed(POD_TEMPLATE_PATHS[kind]):
        inner = {step: inner}
    metadata = {
        key: value for key, value in pod["metadata"].items() if key in ("name", "namespace")
    }
    return {"apiVersion": _VERSIONS[kind.group], "kind": kind.name, "metadata": metadata, **inner}


def admissible(kube_object: Mapping[str, Any]) -> dict[str, Any]:
    """A copy with a name, a namespace, a selector and whatever else cannot be left out."""
    sent = copy.deepcopy(dict(kube_object))
    metadata = sent.setdefault("metadata", {})
    metadata.setdefault("name", "case")
    kind = kind_of(sent)
    if kind.group in _VERSIONS:
        sent["apiVersion"] = _VERSIONS[kind.group]
    if kind in POD_TEMPLATE_PATHS:
        _complete_workload(sent, kind)
    _complete_others(sent)
    return sent


def _complete_workload(sent: dict[str, Any], kind: Kind) -> None:
    holder, template = sent, sent
    for step in POD_TEMPLATE_PATHS[kind]:
        holder, template = template, template.setdefault(step, {})
    spec = template.setdefault("spec", {})
    if not spec.get("containers"):
        spec["containers"] = [{"name": "other", "image": "registry.example/other"}]
    _complete_pod(spec)
    if kind.name in _RESTARTS_NEVER:
        spec["restartPolicy"] = "Never"
    if kind.name == "CronJob":
        sent["spec"].setdefault("schedule", "0 3 * * *")
    if kind.name in _WITH_SELECTOR or kind.name == "ReplicationController":
        labels = template.setdefault("metadata", {}).setdefault("labels", {})
        labels.update(_SELECTED)
        is_old = kind.name == "ReplicationController"
        holder["selector"] = _SELECTED if is_old else {"matchLabels": _SELECTED}
    for claim in sent["spec"].get("volumeClaimTemplates") or () if "spec" in sent else ():
        _complete_claim(claim["spec"])
        claim.setdefault("metadata", {}).setdefault("name", "data")


def _complete_pod(spec: dict[str, Any]) -> None:
    containers = [*(spec.get("initContainers") or ()), *spec["containers"]]
    contexts = [each["securityContext"] for each in containers if each.get("securityContext")]
    for container in containers:
        container.setdefault("image", "registry.example/other")
    for context in [*contexts, spec.get("securityContext") or {}]:
        if (context.get("seccompProfile") or {}).get("type") == "Localhost":
            context["seccompProfile"]["localhostProfile"] = "profile.json"
        if context.get("privileged"):
            context.pop("allowPrivilegeEscalation", None)
        if context.get("procMount") == "Unmasked":
            spec["hostUsers"] = False
    for constraint in spec.get("topologySpreadConstraints") or ():
        defaults = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
        constraint.update(defaults | constraint)
    apart = (spec.get("affinity") or {}).get("podAntiAffinity") or {}
    for term in apart.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
        term.setdefault("weight", 1)
        term.setdefault("podAffinityTerm", {}).setdefault("topologyKey", "zone")
    if (spec.get("os") or {}).get("name") == "windows":
        _without_linux(spec, contexts)
    _with_host_process(spec, contexts)


def _without_linux(spec: dict[str, Any], contexts: list[dict[str, Any]]) -> None:
    spec.pop("hostUsers", None)
    (spec.get("securityContext") or {}).pop("seccompProfile", None)
    for context in contexts:
        for name in _LINUX_ONLY:
            context.pop(name, None)


def _with_host_process(spec: dict[str, Any], contexts: list[dict[str, Any]]) -> None:
    """All containers of a pod are processes of its node, or none."""
    asking = [each for each in [*contexts, spec.get("securityContext") or {}] if _is_process(each)]
    if asking:
        spec["hostNetwork"] = True
        for context in contexts:
            context["windowsOptions"] = {"hostProcess": True}


def _is_process(context: Mapping[str, Any]) -> bool:
    return bool((context.get("windowsOptions") or {}).get("hostProcess"))


def _complete_claim(spec: dict[str, Any]) -> None:
    spec.setdefault("resources", {"requests": {"storage": "1Gi"}})
    spec.setdefault("accessModes", ["ReadWriteOnce"])


def _complete_others(sent: dict[str, Any]) -> None:
    kind = sent["kind"]
    if kind in _REQUIRED:
        sent["spec"] = copy.deepcopy(_REQUIRED[kind]) | (sent.get("spec") or {})
    if kind == "PersistentVolumeClaim":
        _complete_claim(sent.setdefault("spec", {}))
    if kind == "Secret":
        _complete_secret(sent)
    if kind == "HTTPRoute":
        for rule in sent["spec"].get("rules") or ():
            for backend in rule.get("backendRefs") or ():
                backend.setdefault("port", 80)
            for each in rule.get("filters") or ():
                if each["type"] == "ExtensionRef":
                    each["extensionRef"] = {"group": "example", "kind": "Check", "name": "check"}


def _complete_secret(sent: dict[str, Any]) -> None:
    if sent.get("type") == "kubernetes.io/tls":
        sent["data"] = {"tls.crt": "YQ==", "tls.key": "YQ=="}
    if sent.get("type") == "kubernetes.io/service-account-token":
        name = "kubernetes.io/service-account.name"
        sent["metadata"].setdefault("annotations", {}).setdefault(name, "default")
    for owner in sent["metadata"].get("ownerReferences") or ():
        owner.update({"apiVersion": "example/v1", "name": "owner", "uid": "1"} | owner)
