"""Kinds of Kubernetes objects that rules speak of, and where their pod templates sit."""

from collections.abc import Mapping
from typing import Any, NamedTuple

AGENTS = "agents.x-k8s.io"
AGENT_EXTENSIONS = "extensions.agents.x-k8s.io"
RBAC = "rbac.authorization.k8s.io"


class Kind(NamedTuple):
    """A kind, whatever its version: API group (empty for core) and name."""

    group: str
    name: str

    def __str__(self) -> str:
        return f"{self.name}.{self.group}" if self.group else self.name


ANY_KIND = Kind("*", "*")
"""In the kinds of a rule: it applies to every Kubernetes object."""

POD_TEMPLATE_PATHS: Mapping[Kind, tuple[str, ...]] = {
    Kind("", "Pod"): (),
    Kind("", "PodTemplate"): ("template",),
    Kind("", "ReplicationController"): ("spec", "template"),
    Kind("apps", "ReplicaSet"): ("spec", "template"),
    Kind("apps", "Deployment"): ("spec", "template"),
    Kind("apps", "StatefulSet"): ("spec", "template"),
    Kind("apps", "DaemonSet"): ("spec", "template"),
    Kind("argoproj.io", "Rollout"): ("spec", "template"),
    Kind("batch", "Job"): ("spec", "template"),
    Kind("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
    Kind("keda.sh", "ScaledJob"): ("spec", "jobTargetRef", "template"),
    Kind("argoproj.io", "Rollout"): ("spec", "template"),
    Kind(AGENTS, "Sandbox"): ("spec", "podTemplate"),
    Kind(AGENT_EXTENSIONS, "SandboxTemplate"): ("spec", "podTemplate"),
}
"""Field path to what has `metadata` and `spec` of a pod, for every kind that runs pods."""

POD_KINDS: frozenset[Kind] = frozenset(POD_TEMPLATE_PATHS)

POD = Kind("", "Pod")
JOB = Kind("batch", "Job")
DEPLOYMENT = Kind("apps", "Deployment")
STATEFUL_SET = Kind("apps", "StatefulSet")
ROLLOUT = Kind("argoproj.io", "Rollout")
HPA = Kind("autoscaling", "HorizontalPodAutoscaler")
SCALED_OBJECT = Kind("keda.sh", "ScaledObject")
CLAIM = Kind("", "PersistentVolumeClaim")
ADMISSION_POLICY = Kind("admissionregistration.k8s.io", "ValidatingAdmissionPolicy")
ADMISSION_BINDING = Kind("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding")
NAMESPACE = Kind("", "Namespace")
RESOURCE_QUOTA = Kind("", "ResourceQuota")
LIMIT_RANGE = Kind("", "LimitRange")
DEFINITION = Kind("apiextensions.k8s.io", "CustomResourceDefinition")
DISRUPTION_BUDGET = Kind("policy", "PodDisruptionBudget")
INGRESS = Kind("networking.k8s.io", "Ingress")
GATEWAY = Kind("gateway.networking.k8s.io", "Gateway")
HTTP_ROUTE = Kind("gateway.networking.k8s.io", "HTTPRoute")
HELM_RELEASE = Kind("helm.sh", "Release")
SERVICE = Kind("", "Service")
SERVICE_ACCOUNT = Kind("", "ServiceAccount")
SECRET = Kind("", "Secret")
CONFIG_MAP = Kind("", "ConfigMap")
ROLE = Kind(RBAC, "Role")
CLUSTER_ROLE = Kind(RBAC, "ClusterRole")
ROLE_BINDING = Kind(RBAC, "RoleBinding")
CLUSTER_ROLE_BINDING = Kind(RBAC, "ClusterRoleBinding")
NETWORK_POLICY = Kind("networking.k8s.io", "NetworkPolicy")
CILIUM_NETWORK_POLICY = Kind("cilium.io", "CiliumNetworkPolicy")
SANDBOX = Kind(AGENTS, "Sandbox")
SANDBOX_CLAIM = Kind(AGENT_EXTENSIONS, "SandboxClaim")
SANDBOX_TEMPLATE = Kind(AGENT_EXTENSIONS, "SandboxTemplate")
WARM_POOL = Kind(AGENT_EXTENSIONS, "SandboxWarmPool")
CLAIM_TEMPLATE_KINDS = frozenset({STATEFUL_SET, SANDBOX, SANDBOX_CLAIM, SANDBOX_TEMPLATE})
"""Kinds whose `spec.volumeClaimTemplates` become PersistentVolumeClaims."""


def kind_of(kube_object: Mapping[str, Any]) -> Kind:
    """Kind of a plain object; a kind of empty names for what is no object."""
    api_version = kube_object.get("apiVersion")
    name = kube_object.get("kind")
    if not isinstance(api_version, str) or not isinstance(name, str):
        return Kind("", "")
    group, separator, _ = api_version.rpartition("/")
    return Kind(group if separator else "", name)
