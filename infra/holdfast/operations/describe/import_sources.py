"""Where `holdfast import` takes objects and digests from: files, or one namespace of a cluster."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.kinds import served_kinds
from holdfast.adapters.cluster.kubeconfig import connection_of
from holdfast.adapters.cluster.whole_objects import list_whole
from holdfast.errors import ClusterError, InputError
from holdfast.kube.objects import KubeObject
from holdfast.manifest.text.kube_files import read_data, read_kube_objects
from holdfast.operations.progress import Progress

_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
WORKLOADS: Final = (
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("batch/v1", "CronJob"),
    ("agents.x-k8s.io/v1beta1", "Sandbox"),
    ("extensions.agents.x-k8s.io/v1beta1", "SandboxTemplate"),
)
"""What becomes an agent."""
BESIDE: Final = (
    ("v1", "Service"),
    ("v1", "ServiceAccount"),
    ("v1", "ConfigMap"),
    ("v1", "PersistentVolumeClaim"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("policy/v1", "PodDisruptionBudget"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("extensions.agents.x-k8s.io/v1beta1", "SandboxWarmPool"),
)
"""What may belong to one. Secrets are not read: manifests hold references only."""
_OF_THE_CLUSTER: Final = {
    ("ServiceAccount", "default"),
    ("ConfigMap", "kube-root-ca.crt"),
    ("Service", "kubernetes"),
}


def objects_from_files(paths: Iterable[Path]) -> list[KubeObject]:
    """Every object of files and folders.

    Raises:
        InputError: a file cannot be read, or holds what is no object.
    """
    return [each.kube_object for path in paths for each in read_kube_objects(path)]


def objects_from_cluster(
    namespace: str | None, kubeconfig: Path | None, context: str | None, progress: Progress
) -> list[KubeObject]:
    """Workloads of a namespace and what may belong to them; what a controller made is left out.

    Raises:
        ClusterError: a workload cannot be read; what stands beside it and
            cannot be read is a note.
    """
    client = ApiClient(connection_of(kubeconfig, context))
    place = namespace or client.connection.namespace
    kinds = served_kinds(client, [*WORKLOADS, *BESIDE])
    found: list[KubeObject] = []
    for (api_version, kind), entry in kinds.items():
        try:
            listed = list_whole(client, api_version, entry.plural, place)
        except ClusterError as error:
            if (api_version, kind) in WORKLOADS:
                raise
            progress.note(f"not read: {kind} of namespace {place}: {error.message}")
            continue
        found += ({"apiVersion": api_version, "kind": kind, **each} for each in listed)
    return [each for each in found if not _is_made(each)]


def digests_from(file: Path) -> dict[str, str]:
    """Image to digest, as a file has them: a mapping, or `image@sha256:...` line by line.

    Raises:
        InputError: the file cannot be read, or holds something else.
    """
    found: dict[str, str] = {}
    for document in read_data(file):
        entries = document.items() if isinstance(document, dict) else _lines(document)
        for image, digest in entries:
            if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
                raise InputError(
                    f"{file}: {image}: expected sha256: and 64 hexadecimal digits",
                    remedy="write `image: sha256:<64 hex digits>`, one a line",
                )
            found[str(image)] = digest
    return found


def _lines(document: object) -> list[tuple[str, str]]:
    lines = document.split() if isinstance(document, str) else document
    pairs = [str(line).partition("@") for line in (lines if isinstance(lines, list) else [])]
    return [(image, digest) for image, _, digest in pairs]


def _is_made(one: KubeObject) -> bool:
    """Whether something else makes the object: a controller, or the cluster itself."""
    metadata = one["metadata"]
    owned = any(each.get("controller") for each in metadata.get("ownerReferences") or ())
    return owned or (one["kind"], metadata["name"]) in _OF_THE_CLUSTER
