"""Mode expand: agents as resources, their objects applied by the operator, from an empty cluster.

Beside it stands what the engine needs for the same agents as plain objects: its checkpoints make
that grow with the square of their number (verified at 25, 50 and 100 agents).
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import msgspec
from holdfast.cluster.client import ApiClient, path_of
from holdfast.cluster.kinds import served_kinds
from holdfast.cluster.kubeconfig import connection_of
from holdfast.cluster.writing import Writer, apply_object
from holdfast.kube.objects import KubeObject, reference_of
from holdfast.manifest.agent import API_VERSION
from holdfast.manifest.agent_resources import AgentResources
from holdfast.manifest.loader import load_fleet
from holdfast.render.declared import plan_fleet
from holdfast.sandbox import control_plane
from holdfast.sandbox.definitions import install_definitions
from holdfast.sandbox.place import sandbox_place

from bench.fleet import STACK, write_project

AGENTS = 100
ENGINE_SECONDS = {25: 11.0, 50: 30.4, 100: 119.3}
"""One stack of plain objects on a file backend: agents to seconds."""

LONGEST_SECONDS = 900.0
"""An operator that does not come to an end is a fault, and no figure."""


def measure() -> dict[str, float | str]:
    """Seconds from the first resource to the last ready agent, and what the operator takes."""
    with tempfile.TemporaryDirectory(prefix="holdfast-expand-") as folder:
        os.environ["HOLDFAST_STATE"] = f"{folder}/state"
        place = sandbox_place("bench")
        control_plane.up(place, _report)
        try:
            install_definitions(place, ("holdfast",), _report)
            os.environ["KUBECONFIG"] = str(place.kubeconfig("admin"))
            return _expanded(Path(folder) / "project")
        finally:
            control_plane.down(place, _report, keeps_data=False)


def _expanded(root: Path) -> dict[str, float | str]:
    client = ApiClient(connection_of())
    resources = _resources(root)
    kinds = served_kinds(client, {(one["apiVersion"], one["kind"]) for one in resources})
    command = ["operator", "run", "-s", STACK, "--address", "127.0.0.1:0"]
    operator = subprocess.Popen(
        [sys.executable, "-m", "holdfast.cli.main", *command], stderr=subprocess.DEVNULL
    )
    try:
        started = time.monotonic()
        for one in resources:
            ref = reference_of(one)
            entry = kinds[ref.api_version, ref.kind]
            apply_object(client, entry, ref, one, Writer("holdfast"))
        registered = time.monotonic() - started
        applied = 0.0
        while (ready := _count(client, "phase", "Ready")) < AGENTS:
            if not applied and _count(client, "revision") == AGENTS:
                applied = time.monotonic() - started
            if time.monotonic() - started > LONGEST_SECONDS:
                raise TimeoutError(f"{ready} of {AGENTS} agents are ready")
            time.sleep(0.5)
        seconds = time.monotonic() - started
        applied = applied or seconds
        megabytes = _resident_megabytes(operator.pid)
    finally:
        operator.terminate()
        operator.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "expand: agents": float(AGENTS),
        "expand: s to write the resources": registered,
        "expand: s until all is applied": applied,
        "expand: s until all are ready": seconds,
        "expand: s of processor": used.ru_utime + used.ru_stime,
        "expand: MB of the operator": megabytes,
        "engine, plain objects: s (recorded)": ENGINE_SECONDS[AGENTS],
        "expand: s for 1,000 (by the line)": seconds * 10,
        "engine: s for 1,000 (by the square)": ENGINE_SECONDS[AGENTS] * 100,
    }


def _resources(root: Path) -> list[KubeObject]:
    write_project(root, AGENTS)
    fleet = load_fleet(root, STACK)
    policy = fleet.environment.policy.model_copy(update={"profile": "dev"})
    changed = {"agent_resources": AgentResources(mode="expand"), "policy": policy}
    environment = fleet.environment.model_copy(update=changed)
    plan = plan_fleet(replace(fleet, environment=environment), STACK)
    items = (*plan.namespace_objects(), *plan.resource_objects())
    return [item.manifest for item in items]


def _count(client: ApiClient, field: str, value: str = "") -> int:
    """How many agents have a field in their status, or a value in it."""
    listed = msgspec.json.decode(client.get(path_of(API_VERSION, "agents", "bench")))
    found = [one.get("status", {}).get(field, "") for one in listed["items"]]
    return sum(each == value if value else bool(each) for each in found)


def _resident_megabytes(pid: int) -> float:
    text = Path(f"/proc/{pid}/status").read_text()
    line = next(each for each in text.splitlines() if each.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def _report(line: str) -> None:
    print(f"bench: {line}", file=sys.stderr, flush=True)
