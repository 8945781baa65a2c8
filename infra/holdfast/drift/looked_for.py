"""Kinds that are looked for in a stack's namespaces although none of them is declared.

One table for files, scan, watch and the rights of who scans: what runs code, takes traffic, opens
the network, grants rights, holds credentials, scales, or stops a rollout. Source: the kinds of
Kubernetes 1.36, and the definitions of the projects that are named.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from holdfast.kube.structure import builtin_kind


class Power(Enum):
    """What an object can do to the agents beside it."""

    RUNS_CODE = "runs code"
    TAKES_TRAFFIC = "takes traffic"
    OPENS_NETWORK = "opens the network"
    GRANTS_RIGHTS = "grants rights"
    HOLDS_CREDENTIALS = "holds credentials"
    SCALES = "scales"
    LIMITS = "stops a rollout"


TOKEN_TYPE: Final = "kubernetes.io/service-account-token"  # noqa: S105  (a type, not a token)


@dataclass(frozen=True, slots=True)
class SoughtKind:
    """A kind that is looked for.

    Attributes:
        group: API group; empty for the core group.
        kind: Such as `Pod`.
        plural: Name in URLs.
        version: API version of a built-in kind; empty where the server says what it serves.
        is_namespaced: Whether its objects lie in namespaces.
        is_whole: Judging one takes more than its metadata.
        field_selector: Which of them are looked for; empty for all.
    """

    group: str
    kind: str
    plural: str
    power: Power
    version: str = ""
    is_namespaced: bool = True
    is_whole: bool = False
    field_selector: str = ""

    @property
    def api_version(self) -> str:
        """As in the object; of a kind that is not built in without its version."""
        return f"{self.group}/{self.version}" if self.group else self.version


_WHOLE: Final = frozenset({"Job", "Pod", "ReplicaSet", "Role", "RoleBinding", "ClusterRoleBinding"})
"""Their rights, or the template they were made from, decide; of the others metadata is enough."""
_BUILT_IN: Final[Mapping[Power, tuple[tuple[str, str], ...]]] = {
    Power.RUNS_CODE: (
        ("v1", "Pod"),
        ("v1", "ReplicationController"),
        ("apps/v1", "Deployment"),
        ("apps/v1", "StatefulSet"),
        ("apps/v1", "DaemonSet"),
        ("apps/v1", "ReplicaSet"),
        ("batch/v1", "Job"),
        ("batch/v1", "CronJob"),
    ),
    Power.TAKES_TRAFFIC: (
        ("v1", "Service"),
        ("v1", "Endpoints"),
        ("discovery.k8s.io/v1", "EndpointSlice"),
        ("networking.k8s.io/v1", "Ingress"),
    ),
    Power.OPENS_NETWORK: (("networking.k8s.io/v1", "NetworkPolicy"),),
    Power.GRANTS_RIGHTS: (
        ("rbac.authorization.k8s.io/v1", "Role"),
        ("rbac.authorization.k8s.io/v1", "RoleBinding"),
        ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    ),
    Power.HOLDS_CREDENTIALS: (("v1", "Secret"), ("v1", "ServiceAccount")),
    Power.SCALES: (("autoscaling/v2", "HorizontalPodAutoscaler"),),
    Power.LIMITS: (
        ("v1", "LimitRange"),
        ("v1", "ResourceQuota"),
        ("policy/v1", "PodDisruptionBudget"),
    ),
}
_OF_OTHERS: Final[Mapping[Power, Mapping[str, tuple[tuple[str, str], ...]]]] = {
    Power.RUNS_CODE: {
        "agents.x-k8s.io": (("Sandbox", "sandboxes"),),
        "apps.kruise.io": (
            ("AdvancedCronJob", "advancedcronjobs"),
            ("BroadcastJob", "broadcastjobs"),
            ("CloneSet", "clonesets"),
            ("DaemonSet", "daemonsets"),
            ("StatefulSet", "statefulsets"),
        ),
        "argoproj.io": (
            ("AnalysisRun", "analysisruns"),
            ("Application", "applications"),
            ("CronWorkflow", "cronworkflows"),
            ("Rollout", "rollouts"),
            ("Workflow", "workflows"),
        ),
        "batch.volcano.sh": (("Job", "jobs"),),
        "extensions.agents.x-k8s.io": (
            ("SandboxClaim", "sandboxclaims"),
            ("SandboxTemplate", "sandboxtemplates"),
            ("SandboxWarmPool", "sandboxwarmpools"),
        ),
        "helm.toolkit.fluxcd.io": (("HelmRelease", "helmreleases"),),
        "jobset.x-k8s.io": (("JobSet", "jobsets"),),
        "kagent.dev": (("Agent", "agents"),),
        "keda.sh": (("ScaledJob", "scaledjobs"),),
        "kubevirt.io": (
            ("VirtualMachine", "virtualmachines"),
            ("VirtualMachineInstance", "virtualmachineinstances"),
        ),
        "kustomize.toolkit.fluxcd.io": (("Kustomization", "kustomizations"),),
        "leaderworkerset.x-k8s.io": (("LeaderWorkerSet", "leaderworkersets"),),
        "ray.io": (
            ("RayCluster", "rayclusters"),
            ("RayJob", "rayjobs"),
            ("RayService", "rayservices"),
        ),
        "serving.knative.dev": (
            ("Configuration", "configurations"),
            ("Service", "services"),
        ),
        "tekton.dev": (("PipelineRun", "pipelineruns"), ("TaskRun", "taskruns")),
        "toolhive.stacklok.dev": (("MCPServer", "mcpservers"),),
    },
    Power.TAKES_TRAFFIC: {
        "gateway.networking.k8s.io": (
            ("Gateway", "gateways"),
            ("GRPCRoute", "grpcroutes"),
            ("HTTPRoute", "httproutes"),
            ("ReferenceGrant", "referencegrants"),
            ("TCPRoute", "tcproutes"),
            ("TLSRoute", "tlsroutes"),
            ("UDPRoute", "udproutes"),
        ),
        "networking.istio.io": (
            ("DestinationRule", "destinationrules"),
            ("EnvoyFilter", "envoyfilters"),
            ("Gateway", "gateways"),
            ("ServiceEntry", "serviceentries"),
            ("VirtualService", "virtualservices"),
            ("WorkloadEntry", "workloadentries"),
        ),
        "route.openshift.io": (("Route", "routes"),),
        "traefik.io": (("IngressRoute", "ingressroutes"),),
    },
    Power.OPENS_NETWORK: {
        "cilium.io": (("CiliumNetworkPolicy", "ciliumnetworkpolicies"),),
        "crd.projectcalico.org": (("NetworkPolicy", "networkpolicies"),),
        "security.istio.io": (
            ("AuthorizationPolicy", "authorizationpolicies"),
            ("PeerAuthentication", "peerauthentications"),
        ),
    },
    Power.HOLDS_CREDENTIALS: {
        "external-secrets.io": (
            ("ExternalSecret", "externalsecrets"),
            ("SecretStore", "secretstores"),
        ),
        "secrets-store.csi.x-k8s.io": (("SecretProviderClass", "secretproviderclasses"),),
    },
    Power.SCALES: {
        "autoscaling.k8s.io": (("VerticalPodAutoscaler", "verticalpodautoscalers"),),
        "keda.sh": (("ScaledObject", "scaledobjects"),),
    },
    Power.LIMITS: {},
}


def _rows() -> Iterator[SoughtKind]:
    for power, built_in in _BUILT_IN.items():
        for api_version, kind in built_in:
            entry = builtin_kind(api_version, kind)
            assert entry is not None  # noqa: S101  (a test walks the table)
            group, _, version = api_version.rpartition("/")
            yield SoughtKind(
                group,
                kind,
                entry.plural,
                power,
                version,
                entry.is_namespaced,
                is_whole=kind in _WHOLE,
                field_selector=f"type={TOKEN_TYPE}" if kind == "Secret" else "",
            )
    for power, groups in _OF_OTHERS.items():
        for group, kinds in groups.items():
            for kind, plural in kinds:
                yield SoughtKind(group, kind, plural, power)


LOOKED_FOR: Final[Mapping[tuple[str, str], SoughtKind]] = {
    (row.group, row.kind): row for row in _rows()
}
"""Group and kind to what is known of the kind."""
