"""A cluster with an operator in it: agents as resources, and what the operator takes meanwhile."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import msgspec
from holdfast.adapters.cluster.client import ApiClient, path_of
from holdfast.adapters.cluster.json_answers import list_whole
from holdfast.adapters.cluster.kinds import served_kinds
from holdfast.adapters.cluster.kubeconfig import connection_of
from holdfast.adapters.cluster.writing import Writer, apply_object, read_object
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of
from holdfast.kube.structure import KindEntry
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.stack.agent_resources import AgentResources
from holdfast.manifest.types.manifest import API_VERSION
from holdfast.render.fleet import render_fleet
from holdfast.render.plan.planning import plan_fleet
from holdfast.sandbox import control_plane
from holdfast.sandbox.definitions import install_definitions
from holdfast.sandbox.paths import SandboxPaths, sandbox_paths
from holdfast.sandbox.record import read_record

from bench.fleet import STACK, write_fleet

WRITERS = 4
MANAGER = "holdfast"
ASLEEP = {"kube-controller-manager", "kube-scheduler", "kwok"}
_METRIC = re.compile(r"^(holdfast_operator_\w+?)\{([^}]*)\} (\S+)$", re.MULTILINE)


@dataclass
class OperatedCluster:
    """A sandbox that serves the kinds of agents.

    Attributes:
        place: The sandbox.
        client: Of its API server.
        root: Where its project is.
    """

    place: SandboxPaths
    client: ApiClient
    root: Path
    _kinds: dict[tuple[str, str], KindEntry] = field(default_factory=dict)

    def put_to_sleep(self) -> None:
        """Stop controllers, scheduler and nodes: nothing moves but what is measured."""
        self._signal(signal.SIGSTOP)

    def wake(self) -> None:
        """Let them go on; they cannot be ended while they sleep."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        record = read_record(self.place)
        assert record is not None
        for name, process in record.processes.items():
            if name in ASLEEP:
                os.kill(process.pid, number)

    def write(self, objects: Sequence[KubeObject]) -> None:
        """Apply objects as the engine would own them; namespaces first."""
        self.learn(objects)
        with ThreadPoolExecutor(WRITERS) as threads:
            for is_namespace in (True, False):
                some = [one for one in objects if (one["kind"] == "Namespace") is is_namespace]
                list(threads.map(self._write_one, some))

    def learn(self, objects: Sequence[KubeObject]) -> None:
        """Ask what the kinds of objects are called."""
        missing = {(one["apiVersion"], one["kind"]) for one in objects} - self._kinds.keys()
        if missing:
            self._kinds |= served_kinds(self.client, sorted(missing))

    def path_of(self, ref: ObjectRef) -> str:
        """URL path of an object of a kind that was learned."""
        entry = self._kinds[ref.api_version, ref.kind]
        return path_of(ref.api_version, entry.plural, ref.namespace, ref.name)

    def read(self, one: KubeObject) -> KubeObject:
        """An object as it is now; it is there."""
        ref = reference_of(one)
        live = read_object(self.client, ref, self._kinds[ref.api_version, ref.kind])
        assert live is not None, ref
        return live

    def _write_one(self, one: KubeObject) -> None:
        ref = reference_of(one)
        entry = self._kinds[ref.api_version, ref.kind]
        apply_object(self.client, entry, ref, one, Writer(MANAGER))

    def agents_with(self, field_name: str, value: str = "") -> int:
        """How many agents have a field in their status, or a value in it."""
        listed = list_whole(self.client, API_VERSION, "agents", STACK)
        found = [str(one.get("status", {}).get(field_name, "")) for one in listed]
        return sum(each == value if value else bool(each) for each in found)

    def place_of(self, one: KubeObject) -> tuple[str, str, str]:
        """apiVersion, plural and namespace of an object of a kind that was learned."""
        ref = reference_of(one)
        entry = self._kinds[ref.api_version, ref.kind]
        return ref.api_version, entry.plural, STACK if entry.is_namespaced else ""


@dataclass
class RunningOperator:
    """`holdfast operator run`, and what it has taken so far.

    Attributes:
        process: It.
        address: Where it serves its metrics.
    """

    process: "subprocess.Popen[str]"
    address: str

    def processor_seconds(self) -> float:
        """User and system time."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_megabytes(self) -> float:
        """The most that was resident."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(each for each in text.splitlines() if each.startswith("VmHWM"))
        return int(line.split()[1]) / 1024

    def counted(self, metric: str, label: str = "") -> float:
        """Sum of a metric's values, of those with a text among their labels."""
        with urllib.request.urlopen(f"http://{self.address}/metrics", timeout=30) as answer:
            text = answer.read().decode()
        return sum(
            float(value)
            for name, labels, value in _METRIC.findall(text)
            if name == metric and label in labels
        )


@contextmanager
def operated_cluster() -> Iterator[OperatedCluster]:
    """A sandbox of its own; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="holdfast-operated-") as folder:
        os.environ["HOLDFAST_STATE"] = f"{folder}/state"
        place = sandbox_paths("bench")
        control_plane.up(place, report)
        try:
            install_definitions(place, ("holdfast",), report)
            os.environ["KUBECONFIG"] = str(place.kubeconfig("admin"))
            cluster = OperatedCluster(place, ApiClient(connection_of()), Path(folder) / "project")
            try:
                yield cluster
            finally:
                cluster.wake()
        finally:
            control_plane.down(place, report, keeps_data=False)


@contextmanager
def running_operator() -> Iterator[RunningOperator]:
    """An operator of the stack, ended afterwards."""
    command = ["operator", "run", "-s", STACK, "--listen", "127.0.0.1:0"]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "holdfast.cli.main", *command],
            stderr=log,
            text=True,
            # As the manifests that `operator install` applies have it.
            env=os.environ | {"MALLOC_ARENA_MAX": "2"},
        )
        try:
            address = ""
            while not address:
                assert process.poll() is None, "the operator has ended"
                log.seek(0)
                first = log.readline()
                address = msgspec.json.decode(first)["address"] if first.endswith("\n") else ""
                log.seek(0, os.SEEK_END)
            yield RunningOperator(process, address)
        finally:
            process.terminate()
            process.wait()


def declared_fleet(
    root: Path, agents: int, mode: Literal["observe", "expand"], drift_mode: str = ""
) -> tuple[list[KubeObject], list[KubeObject]]:
    """The fleet's own resources, and the objects that its agents are rendered to.

    Args:
        root: Folder of the project; made anew.
        agents: How many.
        mode: Who applies the agents' objects.
        drift_mode: What is done about drift; empty for what an agent says when it says nothing.
    """
    write_fleet(root, agents)
    if drift_mode:
        for path in (root / "agents").glob("*.yaml"):
            path.write_text(f"{path.read_text()}  drift: {{mode: {drift_mode}}}\n")
    fleet = load_fleet(root, STACK)
    policy = fleet.environment.policy.model_copy(update={"profile": "dev"})
    changed = {"agent_resources": AgentResources(mode=mode), "policy": policy}
    environment = fleet.environment.model_copy(update=changed)
    plan = plan_fleet(replace(fleet, environment=environment), STACK)
    resources = [item.manifest for item in (*plan.namespace_objects(), *plan.resource_objects())]
    own = {reference_of(one).identity for one in resources}
    rendered = [item.manifest for item in render_fleet(plan_fleet(fleet, STACK))]
    return resources, [one for one in rendered if reference_of(one).identity not in own]


def report(line: str) -> None:
    """Tell what is under way."""
    print(f"bench: {line}", file=sys.stderr, flush=True)
