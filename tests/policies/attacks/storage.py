"""Attacks by storage of a node or of others, and ways to a token of the API server."""

from collections.abc import Iterable, Iterator

from tests.policies.attacks.objects import (
    BAD_IMAGE,
    IMAGE,
    Kube,
    edit,
    kube,
    pod,
)

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
