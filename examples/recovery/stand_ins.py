"""Stand-ins for what a sandbox has not: a store of secrets with its operator, and a storage system.

Each does what the real one does as far as the cluster can see it. The store's and the storage
system's own data lie outside of the cluster, in files: they survive it.
"""

import base64
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.adapters.engine.run.toolchain import find_program

KubeObject = dict[str, Any]


class RefusedError(Exception):
    """The API server refused what a stand-in asked for."""


@dataclass(frozen=True)
class Cluster:
    """The API server as a stand-in reaches it.

    Attributes:
        kubeconfig: Of an account that may do what the real operator may.
    """

    kubeconfig: Path

    def kubectl(self, *arguments: str, text: str = "") -> str:
        """Run kubectl; what it printed.

        Raises:
            RefusedError: it failed.
        """
        done = subprocess.run(
            [str(find_program("kubectl")), "--kubeconfig", str(self.kubeconfig), *arguments],
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RefusedError(f"kubectl {arguments[0]}: {done.stderr.strip()}")
        return done.stdout.strip()

    def apply(self, *objects: KubeObject) -> None:
        """Create or change objects."""
        listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        options = ("--server-side", "--validate=false", "--field-manager=stand-in", "-f", "-")
        self.kubectl("apply", *options, text=json.dumps(listed))

    def items(self, kind: str) -> list[KubeObject]:
        """Every object of a kind."""
        found: list[KubeObject] = json.loads(self.kubectl("get", kind, "-A", "-o", "json"))["items"]
        return found


@dataclass(frozen=True)
class SecretStore:
    """A store outside of the cluster, and the operator that brings its values into Secrets.

    Attributes:
        file: JSON: key to property to value.
    """

    file: Path

    def deliver(self, cluster: Cluster) -> list[str]:
        """Make the Secret of every ExternalSecret; their names."""
        values = json.loads(self.file.read_text())
        made = []
        for wanted in cluster.items("externalsecrets.external-secrets.io"):
            metadata, spec = wanted["metadata"], wanted["spec"]
            name = spec.get("target", {}).get("name") or metadata["name"]
            data = {
                each["secretKey"]: values[each["remoteRef"]["key"]][each["remoteRef"]["property"]]
                for each in spec["data"]
            }
            cluster.apply(_secret(metadata["namespace"], name, data))
            made.append(f"{metadata['namespace']}/{name}")
        return made


def _secret(namespace: str, name: str, data: dict[str, str]) -> KubeObject:
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded}


@dataclass(frozen=True)
class Storage:
    """A storage system that keeps snapshots outside of the cluster.

    Attributes:
        file: JSON: what it knows of each snapshot.
    """

    file: Path

    def take(self, cluster: Cluster, namespace: str, claim: str, name: str) -> None:
        """Take a snapshot of a claim, as the agent's backup job asks for at night."""
        found = cluster.kubectl("get", "pvc", claim, "-n", namespace, "-o", "json")
        spec = json.loads(found)["spec"]
        kept = {
            "namespace": namespace,
            "name": name,
            "claim": claim,
            "volume": spec.get("volumeName", ""),
            "size": spec["resources"]["requests"]["storage"],
        }
        self.file.write_text(json.dumps(kept))
        cluster.apply(self._snapshot(kept, {"persistentVolumeClaimName": claim}))
        self._tell_ready(cluster, kept)

    def bring(self, cluster: Cluster) -> str:
        """Make a snapshot known to a new cluster; its name."""
        kept = json.loads(self.file.read_text())
        content = f"{kept['namespace']}-{kept['name']}"
        reference = {"namespace": kept["namespace"], "name": kept["name"]}
        cluster.apply(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": kept["namespace"]}},
            {
                "apiVersion": "snapshot.storage.k8s.io/v1",
                "kind": "VolumeSnapshotContent",
                "metadata": {"name": content},
                "spec": {
                    "deletionPolicy": "Retain",
                    "driver": "stand-in.example",
                    "source": {"snapshotHandle": kept["volume"] or kept["name"]},
                    "volumeSnapshotRef": reference,
                },
            },
            self._snapshot(kept, {"volumeSnapshotContentName": content}),
        )
        self._tell_ready(cluster, kept)
        return str(kept["name"])

    @staticmethod
    def _tell_ready(cluster: Cluster, kept: dict[str, str]) -> None:
        """Say of a snapshot, as its controller does, that claims may be filled from it."""
        ready = json.dumps({"status": {"readyToUse": True}})
        cluster.kubectl(
            *("patch", "volumesnapshot", kept["name"], "-n", kept["namespace"]),
            *("--subresource=status", "--type=merge", "-p", ready),
        )

    @staticmethod
    def _snapshot(kept: dict[str, str], source: dict[str, str]) -> KubeObject:
        return {
            "apiVersion": "snapshot.storage.k8s.io/v1",
            "kind": "VolumeSnapshot",
            "metadata": {"name": kept["name"], "namespace": kept["namespace"]},
            "spec": {"source": source},
        }
