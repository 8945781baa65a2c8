"""A storm: edits by many hands, restarts of every program, faults of the API; then it is calm.

A stack in mode `observe` is held by `holdfast gitops run` and `holdfast operator` together, commits
are pushed all the while, and everything that may go wrong does. When the storm is over, everything
must be as the newest commit declares: no drift, no object lost, none twice, no fight left open.
The same seed raises the same storm, as far as the machine's pace allows.
"""

import argparse
import json
import random
import secrets
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bench.storm_hands import Hands
from bench.storm_stage import STACK, Stage, stage
from bench.storm_verdict import Verdict
from bench.storm_weather import Weather

AGENTS = 4
COMPONENTS = (
    *("operator", "loop", "engine"),
    *("kube-apiserver", "etcd", "kube-controller-manager", "kube-scheduler", "kwok"),
)
BETWEEN_COMMITS_SECONDS = 45.0
BETWEEN_RESTARTS_SECONDS = 20.0
BETWEEN_FAULTS_SECONDS = 4.0
FIGHTING = 0.3
LONGEST_CALM_SECONDS = 600.0
"""A storm whose damage is not mended by then is a failure, and no figure."""


@dataclass
class Storm:
    """One storm.

    Attributes:
        commits: How many were pushed.
        mended_seconds: From the end of the storm until all was as declared.
        problems: What is not as it must be, in words; empty when all is well.
    """

    stage: Stage
    choice: random.Random
    seconds: float
    commits: int = 0
    mended_seconds: float = 0.0
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.hands = Hands(self.stage, self.choice)
        self.weather = Weather(self.stage, self.choice)
        self.verdict = Verdict(self.stage)

    def run(self) -> None:
        """Wait until all is deployed, rage, and wait until it is mended."""
        self._supervise()
        self._wait_until(self._is_deployed, "the fleet deployed")
        self._wait_until(lambda: not self.verdict.faults_found(), "all as declared at first")
        self._rage()
        self._calm()

    def _rage(self) -> None:
        begun = time.monotonic()
        end = begun + self.seconds
        waiting = self.choice.sample(COMPONENTS, len(COMPONENTS))
        pause = min(BETWEEN_RESTARTS_SECONDS, self.seconds / (len(COMPONENTS) + 1))
        restart_at, fault_at = begun + pause, begun + 1.0
        commit_at = begun + min(BETWEEN_COMMITS_SECONDS, self.seconds / 3) / 2
        while (now := time.monotonic()) < end:
            self.hands.edit()
            if self.choice.random() < FIGHTING:
                self.hands.fight()
            if now >= fault_at:
                self.weather.fail()
                fault_at = now + self.choice.uniform(0.5, 1.5) * BETWEEN_FAULTS_SECONDS
            if now >= commit_at:
                self._commit(self.choice.randrange(self.stage.agents))
                commit_at = now + BETWEEN_COMMITS_SECONDS
            if now >= restart_at:
                waiting = waiting or self.choice.sample(COMPONENTS, len(COMPONENTS))
                self.weather.restart(waiting.pop())
                restart_at = time.monotonic() + pause
            self._supervise()
            time.sleep(self.choice.uniform(0.2, 1.5))
        for name in waiting if self.seconds < BETWEEN_RESTARTS_SECONDS * len(COMPONENTS) else ():
            self.weather.restart(name)

    def _calm(self) -> None:
        """No more edits and faults; a last commit settles every fight, as the manual says."""
        self.stage.proxy.heal()
        begun = time.monotonic()
        self._supervise()
        self.stage.release_dead_lock()
        self._commit(*range(self.stage.agents))
        self._wait_until(self.verdict.is_at_newest, "the last commit runs")
        if self._pending():
            self.stage.engine("refresh", "--yes", "--skip-preview", "--clear-pending-creates")
        self._wait_until(lambda: not self.verdict.faults_found(), "all as declared")
        self.mended_seconds = time.monotonic() - begun
        self.problems = self.verdict.faults_found()

    def _commit(self, *numbers: int) -> None:
        self.stage.commit(*numbers)
        self.commits += 1

    def _supervise(self) -> None:
        for member in self.stage.members:
            member.keep_running()

    def _wait_until(self, is_so: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + LONGEST_CALM_SECONDS
        while not is_so():
            if time.monotonic() > end:
                self.problems = [f"never came: {what}", *self.verdict.faults_found()]
                raise TimeoutError("\n".join(self.problems))
            self._supervise()
            time.sleep(2.0)

    def _is_deployed(self) -> bool:
        errors = [str(each["error"]) for each in self.stage.loop.lines if "error" in each]
        if errors:
            raise RuntimeError(errors[-1])
        return self.verdict.is_at_newest()

    def _pending(self) -> bool:
        from holdfast.adapters.engine.state.baseline import state_files  # noqa: PLC0415  (needs HOLDFAST_STATE)

        files = state_files(self.stage.root, STACK)
        return files is not None and bool(files.pending())

    @property
    def put_back(self) -> int:
        """How often loop or operator put something back."""
        by_operator = [each for each in self.stage.operator.lines if "reverted" in each]
        by_loop = [
            each for each in self.stage.loop.lines if str(each.get("done", "")).startswith("put ")
        ]
        return len(by_operator) + len(by_loop)

    @property
    def fights(self) -> int:
        """How often a breaker opened."""
        by_operator = [each for each in self.stage.operator.lines if "conflict" in each]
        by_loop = [each for each in self.stage.loop.lines if each.get("phase") == "conflict"]
        return len(by_operator) + len(by_loop)

    def figures(self) -> dict[str, float | str]:
        """What it came to."""
        drift = next((each for each in self.problems if each.startswith("drift")), "")
        return {
            "storm: minutes": self.seconds / 60,
            "storm: edits": sum(self.hands.done.values()),
            "storm: kinds of edits": len(self.hands.done),
            "storm: edits refused": self.hands.refused,
            "storm: commits": self.commits,
            "storm: faults": sum(self.weather.failures.values()),
            "storm: kinds of faults": len(self.weather.failures),
            "storm: restarts": sum(self.weather.restarts.values()),
            "storm: locks of dead engines released": self.stage.released_locks,
            "storm: put back": self.put_back,
            "storm: fights": self.fights,
            "storm: ended by itself, operator": self.stage.operator.unexpected_ends,
            "storm: ended by itself, loop": self.stage.loop.unexpected_ends,
            "storm: tracebacks": sum(len(each.tracebacks) for each in self.stage.members),
            "storm: seconds until mended": self.mended_seconds,
            "storm: drift left": int(bool(drift)),
            "storm: objects lost or twice": len(
                [each for each in self.problems if each.startswith(("lost", "not declared"))]
            ),
            "storm: fights left open": len([each for each in self.problems if "fights" in each]),
        }


def measure(
    seconds: float = 600.0, report: Path | None = None, agents: int = AGENTS, seed: int = 0
) -> dict[str, float | str]:
    """Raise a storm; figures and problems are written to `report`, where there is one."""
    seed = seed or secrets.randbelow(1_000_000) + 1
    _report(f"seed {seed}")
    with (
        tempfile.TemporaryDirectory(prefix="holdfast-storm-") as folder,
        stage(Path(folder), agents, _report) as set_stage,
    ):
        storm = Storm(set_stage, random.Random(seed), seconds)  # noqa: S311  (repeatable)
        try:
            storm.run()
        finally:
            set_stage.end()
            figures = {"storm: seed": float(seed), **storm.figures()}
            if report is not None:
                _write(report, storm, figures)
    return figures


def _write(report: Path, storm: Storm, figures: dict[str, float | str]) -> None:
    document = {
        "figures": figures,
        "problems": storm.problems,
        "edits": storm.hands.done,
        "faults": storm.weather.failures,
        "restarts": storm.weather.restarts,
        "ends": {each.name: each.ends for each in storm.stage.members},
        "tracebacks": {each.name: each.tracebacks for each in storm.stage.members},
    }
    report.write_text(json.dumps(document, indent=1))
    for member in storm.stage.members:
        if member.log.exists():
            report.with_name(member.log.name).write_text(member.log.read_text())


def _report(line: str) -> None:
    print(f"storm: {line}", file=sys.stderr, flush=True)


def main() -> None:
    """`python -m bench.storm [SECONDS] [REPORT] [--agents N] [--seed N]`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", nargs="?", type=float, default=600.0)
    parser.add_argument("report", nargs="?", type=Path)
    parser.add_argument("--agents", type=int, default=AGENTS)
    parser.add_argument("--seed", type=int, default=0, help="of an earlier storm")
    asked = parser.parse_args()
    for name, figure in measure(asked.seconds, asked.report, asked.agents, asked.seed).items():
        print(f"{name}: {figure}")


if __name__ == "__main__":
    main()
