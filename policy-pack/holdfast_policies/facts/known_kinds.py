"""Kinds that are known: those that run pods, those that deliver objects, and harmless ones.

What stands in no table is `unjudged-kind`.
"""

from collections.abc import Mapping
from typing import Final

from holdfast_policies.model.kinds import Kind

FULL_TEMPLATES: Final[Mapping[str, frozenset[str]]] = {
    "jobset.x-k8s.io": frozenset({"JobSet"}),
    "leaderworkerset.x-k8s.io": frozenset({"LeaderWorkerSet"}),
    "apps.kruise.io": frozenset(
        {
            "CloneSet",
            "StatefulSet",
            "DaemonSet",
            "BroadcastJob",
            "AdvancedCronJob",
            "UnitedDeployment",
        }
    ),
    "kubeflow.org": frozenset(
        {"PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "JAXJob", "PaddleJob", "Notebook"}
    ),
    "ray.io": frozenset({"RayCluster", "RayJob", "RayService"}),
    "batch.volcano.sh": frozenset({"Job", "CronJob"}),
    "serving.knative.dev": frozenset({"Service", "Configuration", "DomainMapping"}),
    "argoproj.io": frozenset(
        {"Workflow", "WorkflowTemplate", "CronWorkflow", "ClusterWorkflowTemplate"}
    ),
    "tekton.dev": frozenset(
        {"Task", "ClusterTask", "TaskRun", "Pipeline", "PipelineRun", "StepAction"}
    ),
    "serving.kserve.io": frozenset({"InferenceService", "ServingRuntime", "ClusterServingRuntime"}),
    "workload.codeflare.dev": frozenset({"AppWrapper"}),
    "sparkoperator.k8s.io": frozenset({"SparkApplication", "ScheduledSparkApplication"}),
    "flink.apache.org": frozenset({"FlinkDeployment"}),
    "agones.dev": frozenset({"Fleet", "GameServer", "GameServerSet"}),
    "monitoring.coreos.com": frozenset(
        {"Prometheus", "Alertmanager", "ThanosRuler", "PrometheusAgent"}
    ),
    "opentelemetry.io": frozenset({"OpenTelemetryCollector"}),
    "kagent.dev": frozenset({"Agent"}),
    "holdfast.dev": frozenset({"Agent"}),
    "openfaas.com": frozenset({"Function"}),
    "apps.openshift.io": frozenset({"DeploymentConfig"}),
    "apps.x-k8s.io": frozenset({"Application"}),
    "batch.tutorial.kubebuilder.io": frozenset({"CronJob"}),
    "keda.sh": frozenset({"ScaledJob"}),
    "kueue.x-k8s.io": frozenset({"Workload"}),
    "trainer.kubeflow.org": frozenset({"TrainJob", "TrainingRuntime", "ClusterTrainingRuntime"}),
    "core.oam.dev": frozenset(),
}
"""Kinds that run pods: their templates and containers are found where they stand, and judged."""

_ANY = frozenset({"*"})
DELIVERERS: Final[Mapping[str, frozenset[str]]] = {
    "helm.sh": frozenset({"Release"}),
    "helm.toolkit.fluxcd.io": _ANY,
    "kustomize.toolkit.fluxcd.io": _ANY,
    "fluxcd.controlplane.io": _ANY,
    "infra.contrib.fluxcd.io": _ANY,
    "argoproj.io": frozenset({"Application", "ApplicationSet", "ArgoCD"}),
    "helm.cattle.io": _ANY,
    "fleet.cattle.io": _ANY,
    "catalog.cattle.io": frozenset({"App", "Operation"}),
    "helm.k0sproject.io": _ANY,
    "kappctrl.k14s.io": _ANY,
    "packaging.carvel.dev": frozenset({"PackageInstall", "PackageRepository"}),
    "apps.open-cluster-management.io": _ANY,
    "work.open-cluster-management.io": _ANY,
    "addon.open-cluster-management.io": _ANY,
    "operators.coreos.com": _ANY,
    "olm.operatorframework.io": _ANY,
    "operator.openshift.io": _ANY,
    "pkg.crossplane.io": _ANY,
    "apiextensions.crossplane.io": _ANY,
    "kubernetes.crossplane.io": _ANY,
    "kubernetes.m.crossplane.io": _ANY,
    "helm.crossplane.io": _ANY,
    "helm.m.crossplane.io": _ANY,
    "core.oam.dev": _ANY,
    "kro.run": _ANY,
    "pulumi.com": frozenset({"Stack", "Program"}),
    "auto.pulumi.com": _ANY,
    "app.terraform.io": _ANY,
    "tf.upbound.io": _ANY,
    "configsync.gke.io": _ANY,
    "addons.cluster.x-k8s.io": _ANY,
    "work.karmada.io": _ANY,
    "policy.karmada.io": _ANY,
    "resources.gardener.cloud": _ANY,
    "config.projectsveltos.io": _ANY,
    "lib.projectsveltos.io": _ANY,
    "kustomize.config.k8s.io": _ANY,
    "templates.kluctl.io": _ANY,
    "gitops.kluctl.io": _ANY,
    "k8s.devspace.sh": _ANY,
    "charts.helm.k8s.io": _ANY,
    "kudo.dev": _ANY,
    "shipper.booking.com": _ANY,
    "nephio.org": _ANY,
    "porch.kpt.dev": _ANY,
    "tanzu.vmware.com": _ANY,
    "garden.io": _ANY,
    "eno.azure.io": _ANY,
    "openfunction.io": _ANY,
    "app.redislabs.com": frozenset(),
    "rukpak.io": _ANY,
    "core.rukpak.io": _ANY,
    "metacontroller.k8s.io": _ANY,
    "shell-operator.flant.com": _ANY,
    "redhatcop.redhat.io": _ANY,
    "ops.kubeops.dev": _ANY,
    "kubevela.io": _ANY,
    "stacks.crossplane.io": _ANY,
    "kubeapps.com": _ANY,
}
"""Kinds whose controllers make objects that stand in no file that is judged."""

_BUILT_IN: Final = frozenset(
    {
        *("apps", "batch", "autoscaling", "policy", "extensions", "events.k8s.io", "node.k8s.io"),
        *("networking.k8s.io", "rbac.authorization.k8s.io", "storage.k8s.io", "discovery.k8s.io"),
        *("coordination.k8s.io", "scheduling.k8s.io", "flowcontrol.apiserver.k8s.io"),
        *("admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io"),
        *("certificates.k8s.io", "authentication.k8s.io", "authorization.k8s.io"),
        *("resource.k8s.io", "internal.apiserver.k8s.io", "storagemigration.k8s.io"),
    }
)
HARMLESS: Final[Mapping[str, frozenset[str]]] = {
    "": _ANY,
    **dict.fromkeys(_BUILT_IN, _ANY),
    **dict.fromkeys(
        (
            *("agents.x-k8s.io", "extensions.agents.x-k8s.io", "gateway.networking.k8s.io"),
            *("inference.networking.k8s.io", "inference.networking.x-k8s.io", "metrics.k8s.io"),
            *(
                "policy.networking.k8s.io",
                "cilium.io",
                "projectcalico.org",
                "crd.projectcalico.org",
            ),
            *("external-secrets.io", "generators.external-secrets.io", "bitnami.com"),
            *("secrets-store.csi.x-k8s.io", "cert-manager.io", "acme.cert-manager.io"),
            *("trust.cert-manager.io", "snapshot.storage.k8s.io", "groupsnapshot.storage.k8s.io"),
            *("policy.holdfast.dev", "kyverno.io", "policies.kyverno.io", "wgpolicyk8s.io"),
            *("templates.gatekeeper.sh", "constraints.gatekeeper.sh", "config.gatekeeper.sh"),
            *("mutations.gatekeeper.sh", "status.gatekeeper.sh", "expansion.gatekeeper.sh"),
            *("openreports.io", "aquasecurity.github.io", "autoscaling.k8s.io", "karpenter.sh"),
            *("security.istio.io", "telemetry.istio.io", "networking.istio.io", "dapr.io"),
            *("policies.sigstore.dev", "multicluster.x-k8s.io", "vault.hashicorp.com"),
            *("secrets.hashicorp.com", "external.metrics.k8s.io", "custom.metrics.k8s.io"),
            *("monitoring.googleapis.com", "networking.gke.io", "cloud.google.com", "app.k8s.io"),
            *("source.toolkit.fluxcd.io", "notification.toolkit.fluxcd.io", "crd.antrea.io"),
            *("image.toolkit.fluxcd.io", "reports.kyverno.io", "gateway.envoyproxy.io"),
            *("aigateway.envoyproxy.io", "kgateway.dev", "litmuschaos.io", "velero.io"),
            *(
                "spire.spiffe.io",
                "azure.microsoft.com",
                "aadpodidentity.k8s.io",
                "topology.node.k8s.io",
            ),
            *("route.openshift.io", "traefik.io", "traefik.containo.us", "projectcontour.io"),
            *("getambassador.io", "apisix.apache.org", "zalando.org", "k8s.nginx.org"),
            *("gateway.solo.io", "voyager.appscode.com", "configuration.konghq.com"),
            *("k8s.ovn.org", "network.openshift.io", "networking.cfargotunnel.com", "skupper.io"),
            *("ngrok.k8s.ngrok.com", "ingress.k8s.ngrok.com", "bindings.k8s.ngrok.com"),
            *("tailscale.com", "operator.inlets.dev", "inlets.inlets.dev", "net.gke.io"),
            *("metallb.io", "security.openshift.io", "agentgateway.dev", "kind.x-k8s.io"),
        ),
        _ANY,
    ),
    "keda.sh": frozenset({"ScaledObject", "TriggerAuthentication", "ClusterTriggerAuthentication"}),
    "argoproj.io": frozenset(
        {"Rollout", "AnalysisTemplate", "ClusterAnalysisTemplate", "AnalysisRun", "AppProject"}
    ),
    "monitoring.coreos.com": frozenset(
        {
            "ServiceMonitor",
            "PodMonitor",
            "Probe",
            "PrometheusRule",
            "AlertmanagerConfig",
            "ScrapeConfig",
        }
    ),
    "kueue.x-k8s.io": frozenset(
        {"LocalQueue", "ClusterQueue", "ResourceFlavor", "WorkloadPriorityClass", "AdmissionCheck"}
        | {"Cohort", "Topology"}
    ),
    "kagent.dev": frozenset({"ModelConfig", "ToolServer", "RemoteMCPServer", "Memory"}),
    "holdfast.dev": frozenset(
        {"AgentTeam", "ModelConfig", "MCPServer", "PolicyException", "DriftIgnore", "AgentStack"}
        | {"Registry", "SkillSet", "Skill", "StackDeclaration"}
    ),
    "opentelemetry.io": frozenset({"Instrumentation"}),
    "ray.io": frozenset(),
}
"""Kinds that run nothing by themselves, or that rules of their own judge."""


def is_in(table: Mapping[str, frozenset[str]], kind: Kind) -> bool:
    """Whether a table of groups and names holds a kind."""
    names = table.get(kind.group)
    return names is not None and ("*" in names or kind.name in names)
