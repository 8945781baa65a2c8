"""Workloads that others wrote, as agents: read from files or from one namespace of a cluster."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.json_answers import list_whole
from holdfast.adapters.cluster.kinds import served_kinds
from holdfast.adapters.cluster.kubeconfig import connection_of
from holdfast.convert.workloads.belongings import unclaimed
from holdfast.convert.workloads.remainder import ImportedAgent
from holdfast.convert.workloads.workloads import import_workloads
from holdfast.errors import ClusterError, InputError
from holdfast.kube.objects import KubeObject, ObjectRef
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


@dataclass(frozen=True)
class WorkloadImport:
    """What came of an import.

    Attributes:
        agents: One for each workload.
        untouched: Objects that belong to no agent.
    """

    agents: Sequence[ImportedAgent]
    untouched: Sequence[ObjectRef]

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to do."""
        return all(agent.is_complete for agent in self.agents)


def import_agents(objects: Sequence[KubeObject], digests: Mapping[str, str]) -> WorkloadImport:
    """Agents of objects, with what belongs to each of them.

    Args:
        objects: Workloads and what stands beside them.
        digests: Image to its digest, for images without one.

    Raises:
        InputError: there is no workload among them.
    """
    agents = import_workloads(list(objects), dict(digests))
    if not agents:
        raise InputError(
            "no workload to import", remedy="Deployment, StatefulSet, CronJob and Sandbox are read"
        )
    claimed = [ref for agent in agents for ref in agent.objects]
    return WorkloadImport(agents, list(unclaimed(list(objects), claimed)))


def write_manifests(
    folder: Path, manifests: Sequence[tuple[str, str]], progress: Progress, *, overwrite: bool
) -> None:
    """Write one manifest an agent, or none.

    Args:
        folder: Made when it is absent.
        manifests: Name of each agent, and the text of its file.
        progress: Learns of each file.
        overwrite: Replace files that exist.

    Raises:
        InputError: two agents have one name, or a file exists.
    """
    files = {folder / f"{name}.yaml": text for name, text in manifests}
    if len(files) < len(manifests):
        names = sorted(name for name, _ in manifests)
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two workloads are called {twice}", remedy="import them one by one")
    for file in files:
        if file.exists() and not overwrite:
            raise InputError(f"{file} is there already", remedy="add --overwrite, or move it")
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        file.write_text(text, encoding="utf-8")
        progress.step(f"wrote {file}")


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
        ClusterError: a workload cannot be read; of what stands beside and cannot be, `progress`
            learns.
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
