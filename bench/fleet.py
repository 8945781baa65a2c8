"""A fleet to measure on: a hundred agents of eight objects, deployed by the real engine."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from holdfast.adapters.engine.stack import Stack
from holdfast.operations.project.new_project import plan_project, write_project
from holdfast.operations.stack.context import StackContext
from holdfast.sandbox import control_plane
from holdfast.sandbox.paths import SandboxPaths, sandbox_paths

STACK = "bench"
CLUSTER = "config:\n  holdfast:cluster: {{context: holdfast-bench, identifier: bench{limits}}}\n"
PROVIDER_DEFAULTS = ", clientQps: 50, clientBurst: 120"
AGENT = """\
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {{name: agent-{number:03}, namespace: bench}}
spec:
  version: 1.{number}.0
  owner: team-{team}
  description: Agent {number} of the fleet that is measured
  framework: langgraph
  image: registry.example/agents/agent-{number:03}@sha256:{digest}
  model: {{provider: Anthropic, name: claude-sonnet-4-6, apiKey: llm-key}}
  prompt: {{systemMessage: "You are agent {number}. Answer briefly."}}
  secrets:
    - {{name: llm-key, ref: llm-credentials, key: token, mountPath: /var/run/secrets/llm}}
  container:
    env:
      - {{name: TEAM, value: team-{team}}}
      - {{name: BATCH_SIZE, value: "{number}"}}
  scaling:
    minReplicas: 1
    maxReplicas: 3
    metrics: [{{type: Resource, name: cpu, target: 70}}]
  network:
    ingressFrom: [{{namespace: edge}}]
    egress: [{{cidr: 10.20.{block}.0/24}}]
"""


@dataclass(frozen=True)
class MeasuredFleet:
    """A deployed fleet.

    Attributes:
        root: Its project.
        stack: Its stack, ready to run.
        place: The sandbox it lives in.
        objects: How many objects it declares.
    """

    root: Path
    stack: Stack
    place: SandboxPaths
    objects: int


HURRIED = {
    "PULUMI_SKIP_CHECKPOINTS": "true",
    "PULUMI_EXPERIMENTAL": "true",
    "HOLDFAST_FORCE_SKIP_CHECKPOINTS": "1",
}
"""With these the engine writes its state once, at the end."""


@contextmanager
def deployed_fleet(agents: int = 100) -> Iterator[MeasuredFleet]:
    """Deploy a fleet on a sandbox of its own; both are gone afterwards.

    It is deployed with our client settings and left with those that the provider has when nobody
    sets any: what `pulumi refresh` is measured with.
    """
    # Only the deployment is hurried: nothing that is measured writes a checkpoint.
    with _settings(HURRIED), _fleet_to_deploy(agents) as (root, place):
        stack, _ = _deployed(root, agents)
        write_settings(root, PROVIDER_DEFAULTS)
        stack.up()
        yield MeasuredFleet(root, stack, place, objects=agents * 8 + 1)


def engine_seconds(agents: int) -> float:
    """How long `pulumi up` takes for a fleet of plain objects, from an empty cluster."""
    with _fleet_to_deploy(agents) as (root, _):
        _, seconds = _deployed(root, agents)
        return seconds


def _deployed(root: Path, agents: int) -> tuple[Stack, float]:
    """The stack of a project, deployed for the first time, and the seconds that this took."""
    stack = StackContext(root, STACK).engine()
    stack.init_if_absent()
    _report(f"deploying {agents} agents by the engine, as plain objects ...")
    seconds = stack.up().seconds
    _report(f"deployed in {seconds:.0f} s")
    return stack, seconds


@contextmanager
def _fleet_to_deploy(agents: int) -> Iterator[tuple[Path, SandboxPaths]]:
    """The project of a fleet, and a sandbox of its own; both are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        os.environ["HOLDFAST_STATE"] = f"{folder}/state"
        root = write_fleet(Path(folder) / "project", agents)
        place = sandbox_paths("bench")
        control_plane.up(place, _report)
        try:
            yield root, place
        finally:
            control_plane.down(place, _report, keeps_data=False)


@contextmanager
def _settings(variables: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ |= variables
    try:
        yield
    finally:
        for name in variables:
            os.environ.pop(name)
        os.environ |= {name: before[name] for name in variables if name in before}


def write_fleet(root: Path, agents: int) -> Path:
    """Write a project of that many agents, or more agents into one that is there."""
    if not root.exists():
        write_project(plan_project(root, STACK, None, "holdfast", manifests={}))
        (root / "agents").mkdir(exist_ok=True)
    for number in range(agents):
        text = AGENT.format(
            number=number, team=number % 7, block=number % 256, digest=f"{number:064x}"
        )
        (root / "agents" / f"agent-{number:03}.yaml").write_text(text)
    write_settings(root)
    return root


def write_settings(root: Path, limits: str = "") -> None:
    """Write the stack file, with our client limits or with given ones."""
    (root / "stacks" / f"Pulumi.{STACK}.yaml").write_text(CLUSTER.format(limits=limits))


def _report(line: str) -> None:
    print(f"bench: {line}", file=sys.stderr, flush=True)
