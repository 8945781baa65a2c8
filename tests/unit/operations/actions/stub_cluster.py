"""An API server that keeps objects by path, and a stack whose engine is a script of a test."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import yaml
from holdfast.adapters.engine.run.process import Finished
from holdfast.adapters.engine.run.runner import EngineRunner
from holdfast.adapters.engine.stack import Stack
from holdfast.operations.stack.context import StackContext

PODS = "/api/v1/namespaces/cx/pods"
CLAIMS = "/api/v1/namespaces/cx/persistentvolumeclaims"
DEPLOYMENTS = "/apis/apps/v1/namespaces/cx/deployments"
SNAPSHOTS = "/apis/snapshot.storage.k8s.io/v1/namespaces/cx/volumesnapshots"
Write = tuple[str, str]
"""Method and path."""


@dataclass
class StubCluster:
    """Objects by the path of their collection and their name.

    Attributes:
        objects: What the server has; collections that are not in it are not served.
        writes: Method and path of each write, in order.
        on_write: Called with each write before it is done.
        after_write: Called with each write after it was done: what a controller does.
    """

    objects: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    writes: list[Write] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    on_write: Callable[[str, str], None] = lambda method, path: None
    after_write: Callable[[str, str], None] = lambda method, path: None
    url: str = ""

    def add(self, collection: str, name: str, **parts: Any) -> dict[str, Any]:
        """Put an object there; its uid is its name."""
        metadata = {"name": name, "uid": f"uid-{name}", "resourceVersion": "1"}
        if "/namespaces/" in collection:
            metadata["namespace"] = "cx"
        one = {"metadata": metadata | parts.pop("metadata", {}), **parts}
        self.objects.setdefault(collection, {})[name] = one
        return one

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        """Do one request."""
        if method != "GET":
            self.writes.append((method, path))
            self.bodies.append(body)
            self.on_write(method, path)
        status, answer = self._do(method, path, body)
        if method != "GET":
            self.after_write(method, path)
        return status, answer

    def _do(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        if path in self.objects:
            items = list(self.objects[path].values())
            return 200, {"kind": "List", "metadata": {"resourceVersion": "1"}, "items": items}
        path = path.removesuffix("/eviction")
        collection, _, name = path.rpartition("/")
        found = self.objects.get(collection, {}).get(name)
        if found is None:
            return 404, {"kind": "Status", "code": 404, "message": f"{path} not found"}
        if method in {"DELETE", "POST"}:
            del self.objects[collection][name]
        elif method == "PATCH":
            _merge(found, body)
        return 200, found


def _merge(into: dict[str, Any], change: dict[str, Any]) -> None:
    for key, value in change.items():
        if isinstance(value, dict):
            _merge(into.setdefault(key, {}), value)
        else:
            into[key] = value


@contextmanager
def stub_cluster() -> Iterator[StubCluster]:
    """Run one for the length of a test."""
    cluster = StubCluster()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def respond(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or b"null")
            status, answer = cluster.answer(self.command, urlsplit(self.path).path, body)
            text = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_PATCH = do_POST = do_DELETE = respond  # noqa: N815  (names that the library asks for)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    cluster.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield cluster
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def kubeconfig_for(cluster: StubCluster) -> str:
    """A kubeconfig whose context `test` is the stub."""
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [{"name": "stub", "cluster": {"server": cluster.url}}],
            "users": [{"name": "tester", "user": {"token": "a-token"}}],
            "contexts": [{"name": "test", "context": {"cluster": "stub", "user": "tester"}}],
        }
    )


@dataclass
class StubEngine:
    """An engine that exports and imports one state.

    Attributes:
        claims: Names of the claims in the state.
        commands: What it was asked to do.
        on_import: Called after each import: what an update does that begins then.
    """

    claims: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    on_import: Callable[[], None] = lambda: None

    def run(
        self,
        arguments: Sequence[str],
        on_line: Callable[[bytes], None],
        timeout_seconds: float | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> Finished:
        """One command of the engine."""
        assert timeout_seconds is not None
        assert variables is None
        command = " ".join(arguments[:2])
        self.commands.append(command)
        if command == "stack export":
            on_line(json.dumps(self._state()).encode())
        else:
            (given,) = (each for each in arguments if each.startswith("--file="))
            file = Path(given.removeprefix("--file="))
            kept = json.loads(file.read_text())["deployment"]["resources"]
            self.claims[:] = [one["inputs"]["metadata"]["name"] for one in kept]
            self.on_import()
        return Finished(0, "", 0.0)

    def _state(self) -> dict[str, Any]:
        resources = []
        for name in self.claims:
            kind = "kubernetes:core/v1:PersistentVolumeClaim"
            claim = {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": name, "namespace": "cx"},
            }
            resources.append(
                {
                    "urn": f"urn:pulumi:prod::test::{kind}::{name}",
                    "type": kind,
                    "custom": True,
                    "id": f"cx/{name}",
                    "inputs": claim,
                    "outputs": claim,
                }
            )
        return {"version": 3, "deployment": {"manifest": {}, "resources": resources}}


@dataclass(frozen=True)
class StubbedContext(StackContext):
    """A stack whose engine is a stub."""

    stub: StubEngine = field(default_factory=StubEngine)

    def engine(self) -> Stack:
        """The stub."""
        return Stack(cast("EngineRunner", self.stub), self.name)

    @cached_property
    def locks(self) -> Path:
        """Folder in which the engine's locks of the stack lie."""
        return self.root / "state" / ".pulumi" / "locks"

    @property
    def is_locked(self) -> bool:
        """Whether the stack's lock is held now."""
        return any(self.locks.rglob("*.json"))
