"""A soak: rollouts, an active autoscaler and controllers at work; every finding is a false alarm.

A real stack on a real control plane is watched while everything moves that may move: rollouts
deployed by `pulumi up`, pods that come and go, the autoscaler's writes to the scale subresource (as
its own user, for a sandbox has no metrics), controllers' status and annotations. Nobody edits.
"""

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from holdfast.adapters.cluster.client import path_of
from holdfast.adapters.engine.run.toolchain import find_program

from bench.fleet import STACK, MeasuredFleet, deployed_fleet

AGENTS = 10
COMMAND = (sys.executable, "-m", "holdfast.cli.main", "drift", "watch", "-s", STACK, "-o", "json")
AUTOSCALER = "system:serviceaccount:kube-system:horizontal-pod-autoscaler"
LONGEST_QUIET_SECONDS = 180.0
BETWEEN_ROLLOUTS_SECONDS = 45.0


class Soak:
    """One soak under way.

    Attributes:
        alarms: Findings that count as drift, although nobody edited.
        blind: States that were not known, but for those of an update.
    """

    def __init__(self, fleet: MeasuredFleet, seconds: float, agents: int) -> None:
        self._fleet = fleet
        self._agents = agents
        self._seconds = seconds
        self._choice = random.Random(1)  # noqa: S311  (the same soak every time)
        self.alarms: list[dict[str, Any]] = []
        self.remarks = 0
        self.blind: list[dict[str, Any]] = []
        self.scales = self.rollouts = self.evictions = 0
        self._is_in_sync = threading.Event()

    def run(self) -> None:
        """Watch and let everything move for the given time."""
        process = subprocess.Popen(COMMAND, stdout=subprocess.PIPE, text=True)
        reader = threading.Thread(target=self._read, args=(process,))
        reader.start()
        try:
            assert self._is_in_sync.wait(LONGEST_QUIET_SECONDS), "it must be in sync at first"
            self._move(time.monotonic() + self._seconds)
            self._is_in_sync.clear()
            assert self._is_in_sync.wait(LONGEST_QUIET_SECONDS) or not self.alarms
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()
            reader.join()

    def _read(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        for line in process.stdout:
            document = json.loads(line)
            if document["type"] == "finding.opened":
                if document["finding"]["severity"] == "info":
                    self.remarks += 1
                else:
                    self.alarms.append(document)
            elif document["type"] == "state":
                if document["status"] == "in sync":
                    self._is_in_sync.set()
                reasons = [item["reason"] for item in document["notChecked"]]
                if any("under way" not in each and "read yet" not in each for each in reasons):
                    self.blind.append(document)

    def _move(self, end: float) -> None:
        next_rollout = time.monotonic() + min(10.0, self._seconds / 3)
        number = 0
        while time.monotonic() < end:
            self._scale()
            if self._choice.random() < 0.2:
                self._evict()
            if time.monotonic() >= next_rollout:
                number += 1
                self._roll_out(number)
                next_rollout = time.monotonic() + BETWEEN_ROLLOUTS_SECONDS
            time.sleep(self._choice.uniform(0.5, 2.0))

    def _scale(self) -> None:
        """What the autoscaler does when its metric moves: within its range, as its own user."""
        name = f"agent-{self._choice.randrange(self._agents):03}"
        scale = {
            "apiVersion": "autoscaling/v1",
            "kind": "Scale",
            "metadata": {"name": name, "namespace": "bench"},
            "spec": {"replicas": self._choice.randint(1, 3)},
        }
        path = path_of("apps/v1", "deployments", "bench", name)
        url = f"{path}/scale?fieldManager=kube-controller-manager"
        command = ("replace", "--raw", url, "-f", "-", f"--as={AUTOSCALER}")
        self.scales += _kubectl(self._fleet, *command, stdin=json.dumps(scale))

    def _evict(self) -> None:
        """A pod goes, as on a node that is drained; its controller makes another."""
        name = f"agent-{self._choice.randrange(self._agents):03}"
        selector = f"holdfast.dev/agent={name}"
        command = ("delete", "pod", "-n", "bench", "--wait=false", "-l", selector)
        self.evictions += _kubectl(self._fleet, *command)

    def _roll_out(self, number: int) -> None:
        """A new version of an agent, deployed by the engine."""
        file = self._fleet.root / "agents" / f"agent-{number % self._agents:03}.yaml"
        lines = file.read_text().splitlines()
        changed = [f"  version: 9.{number}.0" if "  version:" in line else line for line in lines]
        file.write_text("\n".join(changed) + "\n")
        self._fleet.stack.up()
        self.rollouts += 1


def measure(
    seconds: float = 600.0, report: Path | None = None, agents: int = AGENTS
) -> dict[str, float | str]:
    """Soak for a time; figures and every alarm are written to `report`, where there is one."""
    with deployed_fleet(agents) as fleet, contextlib.chdir(fleet.root):
        soak = Soak(fleet, seconds, agents)
        soak.run()
    figures: dict[str, float | str] = {
        "soak: minutes": seconds / 60,
        "soak: objects": fleet.objects,
        "soak: rollouts": soak.rollouts,
        "soak: writes of the autoscaler": soak.scales,
        "soak: times that pods were evicted": soak.evictions,
        "soak: remarks": soak.remarks,
        "soak: false alarms": len(soak.alarms),
        "soak: target false alarms": 0,
        "soak: times blind": len(soak.blind),
    }
    if report is not None:
        document = {"figures": figures, "alarms": soak.alarms, "blind": soak.blind}
        report.write_text(json.dumps(document, indent=1))
    return figures


def _kubectl(fleet: MeasuredFleet, *arguments: str, stdin: str | None = None) -> bool:
    """Whether it was done: two writers may meet, and controllers, too, try again later."""
    done = subprocess.run(
        [str(find_program("kubectl")), *arguments],
        env=os.environ | {"KUBECONFIG": str(fleet.place.kubeconfig())},
        check=False,
        stdout=subprocess.DEVNULL,
        input=stdin,
        text=True,
    )
    return not done.returncode


def main() -> None:
    """`python -m bench.soak [SECONDS] [REPORT] [--agents N]`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", nargs="?", type=float, default=600.0)
    parser.add_argument("report", nargs="?", type=Path)
    parser.add_argument("--agents", type=int, default=AGENTS)
    asked = parser.parse_args()
    for name, figure in measure(asked.seconds, asked.report, asked.agents).items():
        print(f"{name}: {figure}")


if __name__ == "__main__":
    main()
