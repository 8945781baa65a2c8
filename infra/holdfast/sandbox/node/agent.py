"""What no program of Kubernetes does on a node by itself: network policies and local volumes.

    python -m holdfast.sandbox.node.agent SETTINGS

Reads everything at each change: a sandbox has few objects, and nothing can be missed.
"""

import http.client
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from holdfast.sandbox.api_server import SandboxApiClient
from holdfast.sandbox.node.policies import pods_of_node, ruleset
from holdfast.sandbox.node.settings import NODE_NAME, VOLUMES, NodeSettings, read_settings

PODS = f"/api/v1/pods?fieldSelector=spec.nodeName%3D{NODE_NAME}"
NAMESPACES = "/api/v1/namespaces"
POLICIES = "/apis/networking.k8s.io/v1/networkpolicies"
VOLUME_OBJECTS = "/api/v1/persistentvolumes"
WATCH_SECONDS = 60
RETRY_SECONDS = 0.5
GATHER_SECONDS = 0.03
"""Changes come in groups: one look after the last of them is enough."""


class NodeAgent:
    """Applies what is declared to this node until the process ends."""

    def __init__(self, settings: NodeSettings) -> None:
        self._settings = settings
        self._changed = threading.Event()
        self._applied = ""

    def run(self) -> None:
        """Follow the API server; a connection that fails is opened again."""
        for path in (PODS, NAMESPACES, POLICIES, VOLUME_OBJECTS):
            threading.Thread(target=self._follow, args=(path,), daemon=True).start()
        with SandboxApiClient(self._settings.place, self._settings.api_port) as client:
            while True:
                self._changed.wait()
                time.sleep(GATHER_SECONDS)
                self._changed.clear()
                try:
                    self._apply(client)
                except (OSError, http.client.HTTPException) as error:
                    _say(f"again in a moment: {error}")
                    time.sleep(RETRY_SECONDS)
                    self._changed.set()

    def _follow(self, path: str) -> None:
        place, port = self._settings.place, self._settings.api_port
        while True:
            try:
                with SandboxApiClient(place, port, 2.0 * WATCH_SECONDS) as client:
                    for _ in client.changes(path, WATCH_SECONDS):
                        self._changed.set()
            except (OSError, http.client.HTTPException):
                time.sleep(RETRY_SECONDS)

    def _apply(self, client: SandboxApiClient) -> None:
        make_volumes(_items(client, VOLUME_OBJECTS), Path(VOLUMES))
        namespaces = {
            each["metadata"]["name"]: each["metadata"].get("labels") or {}
            for each in _items(client, NAMESPACES)
        }
        pods = pods_of_node(_items(client, PODS), NODE_NAME)
        wanted = ruleset(pods, _items(client, POLICIES), namespaces)
        if wanted != self._applied:
            done = subprocess.run(
                ["nft", "-f", "-"], input=wanted, text=True, capture_output=True, check=False
            )
            if done.returncode:
                _say(f"nft refused the policies: {done.stderr.strip()[:500]}")
                return
            self._applied = wanted
            _say(f"policies for {len(pods)} pods")


def make_volumes(volumes: list[dict[str, Any]], root: Path) -> None:
    """Make the folder of each local volume below `root`, remove those of deleted volumes."""
    paths = {Path(each["spec"]["local"]["path"]) for each in volumes if "local" in each["spec"]}
    wanted = {path.name for path in paths if path.parent == root}
    for name in wanted:
        (root / name).mkdir(mode=0o755, exist_ok=True)
    for folder in root.iterdir():
        if folder.name not in wanted:
            shutil.rmtree(folder, ignore_errors=True)


def _items(client: SandboxApiClient, path: str) -> list[dict[str, Any]]:
    found = client.read(path)
    if found is None:
        raise ConnectionError(f"no answer to {path}")
    items: list[dict[str, Any]] = found["items"]
    return items


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    NodeAgent(read_settings(Path(sys.argv[1]))).run()
