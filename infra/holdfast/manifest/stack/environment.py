"""The settings of one environment: what a stack file holds under `holdfast:`."""

from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import Field

from holdfast.manifest.agent.backup import BackupSettings
from holdfast.manifest.agent.model import DIRECT
from holdfast.manifest.stack.admission import AdmissionSettings
from holdfast.manifest.stack.agent_resources import AgentResources
from holdfast.manifest.stack.controllers import ControllerName
from holdfast.manifest.stack.updates import UpdateSettings
from holdfast.manifest.text.faults import KEY, branch, chosen_by
from holdfast.manifest.types.conditions import Given, any_given
from holdfast.manifest.types.manifest_model import Items, JsonObject, ManifestModel
from holdfast.manifest.types.names import LabelName, LabelValue, QualifiedKey
from holdfast.manifest.types.rules import Computed, Found, Rule, Ruled, finds
from holdfast.manifest.types.values import Address, Cidr, DigestReference, Port, Quantity, Text, Url

Profile = Literal["dev", "staging", "prod"]
Level = Literal["disabled", "advisory", "mandatory", "remediate"]


class Cluster(ManifestModel):
    """The cluster of the stack and how fast it may be asked."""

    context: Text | None = None
    """Context of the kubeconfig; default the current one. `holdfast-<name>` is a sandbox."""
    identifier: Text | None = None
    """Stable name of the cluster: a changed kubeconfig replaces nothing. Default the stack."""
    client_qps: Annotated[int, Field(ge=1, le=10_000)] = 500
    """Requests a second of the Pulumi provider; its own default of 50 costs a factor of four."""
    client_burst: Annotated[int, Field(ge=1, le=20_000)] = 1000
    """Requests at once of the Pulumi provider."""


class PodGroup(ManifestModel):
    """Pods that network rules name."""

    namespace: LabelName
    """Their namespace."""
    pod_labels: dict[QualifiedKey, LabelValue] = Field(min_length=1)
    """Labels that select them."""


class EgressGateway(PodGroup):
    """A proxy through which agents reach domains."""

    port: Port
    """Port of the proxy."""
    url: Url
    """Its address, given to agents as HTTPS_PROXY."""


class DnsService(PodGroup):
    """The cluster's DNS, as network rules know it: behind its Service's address."""

    port: Port = 53
    """Port of its pods; default 53 (5353 on OpenShift)."""
    addresses: Items[Address] = ()
    """Addresses of a DNS cache on each node, such as 169.254.20.10; default none."""


class ApiServer(ManifestModel):
    """The API server, as network rules know it: behind the address of the Service kubernetes."""

    cidrs: Items[Cidr] = ()
    """Addresses of its endpoints (kubectl get endpointslices kubernetes); Cilium needs none."""
    port: Port = 6443
    """Port of those endpoints; default 6443."""


class NetworkSettings(ManifestModel):
    """What the cluster's network offers."""

    gateway: PodGroup | None = None
    """The pods behind `gateway` in an agent's ingressFrom."""
    egress_gateway: EgressGateway | None = None
    """The proxy that agents use for domains."""
    monitoring: PodGroup | None = None
    """The pods that may scrape metrics; default none."""
    dns: DnsService = DnsService.model_construct(
        namespace="kube-system", pod_labels={"k8s-app": "kube-dns"}
    )
    """The cluster's DNS; default kube-system, k8s-app=kube-dns, port 53."""
    api_server: ApiServer = ApiServer.model_construct()
    """The API server, for agents and jobs that ask it."""


def _settings_shape(value: object) -> str | None:
    if isinstance(value, str):
        return "level"
    return "settings" if isinstance(value, dict) else None


RuleSettings = Annotated[
    Annotated[Level, branch("level")] | Annotated[JsonObject, branch("settings")],
    chosen_by(_settings_shape, "expected a level, or a mapping of level and parameters"),
]
"""What a stack says of one rule."""


class StoreReference(ManifestModel):
    """A store of External Secrets."""

    name: LabelName
    """Its name."""
    kind: Literal["ClusterSecretStore", "SecretStore"] = "ClusterSecretStore"
    """ClusterSecretStore, or a SecretStore in each agent's namespace; default the former."""


class VaultSettings(ManifestModel):
    """HashiCorp Vault, as its injector is told."""

    address: Url
    """Address of Vault; joins the egress of agents that use it."""
    role: Text
    """Role of Vault's Kubernetes authentication that agents log in with."""
    auth_path: Text | None = None
    """Where that authentication is mounted; default the injector's (auth/kubernetes)."""


class AwsSettings(ManifestModel):
    """Where AWS Secrets Manager is."""

    region: Text
    """Region of the secrets."""


class SecretStores(ManifestModel):
    """Where secrets come from that live outside the cluster."""

    external_secret: StoreReference | None = None
    """Store of provider externalSecret."""
    vault: VaultSettings | None = None
    """Vault of provider vault."""
    aws: AwsSettings | None = None
    """AWS of provider awsSecretsManager."""


class PolicySettings(ManifestModel):
    """How strictly the policy pack judges the stack."""

    profile: Profile | None = None
    """Levels of the rules; default by the stack's name, anything but dev and staging is prod."""
    rules: dict[str, RuleSettings] = Field(default_factory=dict)
    """Rule to level, or to level and parameters, over the profile; as in the pack's config."""
    admission: AdmissionSettings | None = None
    """The same rules in the cluster, as admission policies that the stack deploys; default none."""


class NamespaceLimits(ManifestModel):
    """What every namespace of the stack may take; nothing is limited unless said."""

    quota: dict[Text, Quantity] = Field(default_factory=dict)
    """Resource to the most that a namespace may have, as ResourceQuota `spec.hard`."""
    container_max: dict[Text, Quantity] = Field(default_factory=dict)
    """Resource to the most that one container may have, as LimitRange `max`."""


class TelemetrySettings(ManifestModel):
    """Where agents report to unless they say otherwise."""

    otlp_endpoint: Url | None = None
    """OTLP endpoint for traces."""
    monitor_labels: dict[QualifiedKey, LabelValue] = Field(default_factory=dict)
    """Labels by which Prometheus finds ServiceMonitors and PrometheusRules; default none."""
    prometheus_url: Url | None = None
    """Prometheus that rollout.analysis and KEDA ask; default none."""


ImageName = Literal["tools", "runtime", "logShipper", "telemetryCollector"]


class Images(ManifestModel):
    """Images that run beside agents, each with its digest; what needs an absent one is refused."""

    tools: DigestReference | None = None
    """Fetches, waits, checks and keeps caches warm; must hold sh, curl and sha256sum, and git or
    tar for skills from there."""
    runtime: DigestReference | None = None
    """Runs agents with runtime: managed; reads what they are from agent.json."""
    log_shipper: DigestReference | None = None
    """OpenTelemetry Collector with the filelog receiver: sidecar of telemetry.logs."""
    telemetry_collector: DigestReference | None = None
    """OpenTelemetry Collector: sidecar of telemetry.traces."""


class ObjectStore(ManifestModel):
    """A store that speaks S3's protocol."""

    endpoint: Url
    """Address; buckets are named in the path. Its host joins the egress of agents that fetch."""
    region: Text
    """Region that requests are signed for."""


class ObjectStores(ManifestModel):
    """Where the buckets of container.lifecycle.preStart[].fetch are."""

    s3: ObjectStore | None = None
    """Store of s3:// URIs; default none."""
    gs: ObjectStore | None = None
    """Store of gs:// URIs, by its S3 protocol; default none."""


_NO_RESOURCE: Final = "stack files are no resources of the API server"


class ModelGateway(ManifestModel):
    """A gateway before models: it sees, limits and filters what agents send."""

    url: Url
    """Its address; agents get it as the model's."""


class ModelSettings(Ruled):
    """How models are reached."""

    RULES = (
        Rule(
            "gateway-name-is-free",
            Computed(why_not=_NO_RESOURCE),
            "this name means no gateway",
            remedy="rename the gateway",
        ),
        Rule(
            "gateway-is-declared",
            Computed(why_not=_NO_RESOURCE),
            "expected one of gateways",
            remedy="name one of gateways, or declare it there",
        ),
    )

    gateway: LabelName | None = None
    """Gateway of every model whose agent names none; one of gateways. Default none."""
    gateways: dict[LabelName, ModelGateway] = Field(default_factory=dict)
    """Gateways that model.gatewayRef may name."""


class Environment(Ruled):
    """All that differs between environments."""

    RULES = (
        Rule(
            "metrics-have-a-source",
            Given("updates.metrics").needs(
                any_given("updates.prometheus_url", "telemetry.prometheus_url")
            ),
            "the address of Prometheus is not set",
            remedy="set updates.prometheusUrl or telemetry.prometheusUrl",
            at="updates.metrics",
        ),
    )

    cluster: Cluster = Cluster.model_construct()
    """The cluster."""
    namespace: LabelName = "agents"
    """Namespace of agents that name none; default agents."""
    namespaces: Literal["managed", "existing"] = "managed"
    """managed: the stack declares its namespaces, with Pod Security labels; existing: not."""
    controllers: Items[ControllerName] = ()
    """Controllers that the cluster runs beyond Kubernetes' own; what needs another is refused."""
    namespace_limits: NamespaceLimits = NamespaceLimits.model_construct()
    """What every managed namespace may take."""
    network: NetworkSettings = NetworkSettings.model_construct()
    """What the cluster's network offers."""
    telemetry: TelemetrySettings = TelemetrySettings.model_construct()
    """Where agents report to."""
    secret_stores: SecretStores = SecretStores.model_construct()
    """Where secrets come from."""
    backups: BackupSettings = BackupSettings.model_construct()
    """What snapshots of volumes take."""
    images: Images = Images.model_construct()
    """Images that run beside agents."""
    object_stores: ObjectStores = ObjectStores.model_construct()
    """Where files are fetched from."""
    models: ModelSettings = ModelSettings.model_construct()
    """How models are reached."""
    policy: PolicySettings = PolicySettings.model_construct()
    """How strictly the stack is judged."""
    agent_resources: AgentResources = AgentResources.model_construct()
    """Agents as resources of the cluster, and who applies their objects."""
    updates: UpdateSettings = UpdateSettings.model_construct()
    """What must hold before and after an update."""
    agents: dict[LabelName, JsonObject] = Field(default_factory=dict)
    """Agent or tool server to the part of its spec that differs here; merged before validation."""

    @property
    def opens_domains(self) -> Literal["cilium", "gateway"] | None:
        """What lets agents reach domains: Cilium if it is there, else the egress gateway."""
        if "cilium" in self.controllers:
            return "cilium"
        return "gateway" if self.network.egress_gateway is not None else None

    def profile_for(self, stack: str) -> Profile:
        """Profile that the stack is judged by: the declared one, else by the stack's name."""
        if self.policy.profile is not None:
            return self.policy.profile
        name = stack.rpartition("/")[2]
        return "dev" if name == "dev" else "staging" if name == "staging" else "prod"


@finds("gateway-name-is-free")
def _reserved_gateway(settings: ModelSettings) -> Iterator[Found]:
    if DIRECT in settings.gateways:
        yield Found(("gateways", DIRECT, KEY))


@finds("gateway-is-declared")
def _unknown_gateway(settings: ModelSettings) -> Iterator[Found]:
    if settings.gateway is not None and settings.gateway not in settings.gateways:
        known = ", ".join(sorted(settings.gateways)) or "none"
        yield Found(("gateway",), f"{settings.gateway!r} (there: {known})")
