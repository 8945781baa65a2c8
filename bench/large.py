"""Large fleets without an engine: objects applied straight to a control plane, controllers asleep.

What is measured is reading and judging, so nothing else may move: the controllers, the scheduler
and the nodes of the sandbox are stopped while the fleet is there.
"""

import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from holdfast.adapters.cluster.client import ApiClient, path_of
from holdfast.adapters.cluster.kubeconfig import connection_of
from holdfast.adapters.cluster.writing import Writer, apply_object
from holdfast.kube.objects import KubeObject, reference_of
from holdfast.kube.structure import builtin_kind
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.render.fleet import render_fleet
from holdfast.render.plan.planning import plan_fleet
from holdfast.sandbox import control_plane
from holdfast.sandbox.paths import SandboxPaths, sandbox_paths
from holdfast.sandbox.record import read_record

from bench.fleet import STACK, write_fleet

OBJECTS_PER_AGENT = 8
WRITERS = 8
MANAGER = "holdfast"
ASLEEP = {"kube-controller-manager", "kube-scheduler", "kwok"}


@dataclass
class LargeFleet:
    """A project and a control plane that holds what it declares.

    Attributes:
        root: The project.
        place: The sandbox.
        client: Of its API server.
        objects: Everything declared, as rendered.
    """

    root: Path
    place: SandboxPaths
    client: ApiClient
    objects: tuple[KubeObject, ...] = ()

    def grow(self, agents: int) -> None:
        """Declare that many agents and apply what is new."""
        write_fleet(self.root, agents)
        before = {reference_of(one).identity for one in self.objects}
        rendered = render_fleet(plan_fleet(load_fleet(self.root, STACK), STACK))
        self.objects = tuple(item.manifest for item in rendered)
        new = [one for one in self.objects if reference_of(one).identity not in before]
        first = [one for one in new if one["kind"] == "Namespace"]
        _report(f"applying {len(new)} objects ...")
        self._apply(first)
        self._apply([one for one in new if one["kind"] != "Namespace"])

    def _apply(self, objects: Sequence[KubeObject]) -> None:
        with ThreadPoolExecutor(WRITERS) as threads:
            list(threads.map(self._apply_one, objects))

    def _apply_one(self, one: KubeObject) -> None:
        ref = reference_of(one)
        entry = builtin_kind(ref.api_version, ref.kind)
        assert entry is not None
        apply_object(self.client, entry, ref, one, Writer(MANAGER))

    def raw_list(self) -> int:
        """Page through every declared kind and decode nothing; returns the number of bytes."""
        size = 0
        for api_version, kind in sorted({(one["apiVersion"], one["kind"]) for one in self.objects}):
            entry = builtin_kind(api_version, kind)
            assert entry is not None
            path = path_of(api_version, entry.plural, STACK if entry.is_namespaced else "")
            query: dict[str, str | int] = {"limit": 500}
            while True:
                body = self.client.get(path, query)
                size += len(body)
                # The token stands in the first bytes: no page is decoded for it.
                start = body.find(b'"continue":"', 0, 2000)
                if start < 0:
                    break
                end = body.index(b'"', start + 12)
                query["continue"] = body[start + 12 : end].decode()
        return size


@contextmanager
def large_fleet() -> Iterator[LargeFleet]:
    """A sandbox of its own with nothing declared yet; both are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        os.environ["HOLDFAST_STATE"] = f"{folder}/state"
        place = sandbox_paths("bench")
        control_plane.up(place, _report)
        try:
            _signal(place, signal.SIGSTOP)
            root = Path(folder) / "project"
            yield LargeFleet(root, place, ApiClient(connection_of(place.kubeconfig())))
        finally:
            _signal(place, signal.SIGCONT)
            control_plane.down(place, _report, keeps_data=False)


def _signal(place: SandboxPaths, number: signal.Signals) -> None:
    record = read_record(place)
    assert record is not None
    for name, process in record.processes.items():
        if name in ASLEEP:
            os.kill(process.pid, number)


def _report(line: str) -> None:
    print(f"bench: {line}", file=sys.stderr, flush=True)
