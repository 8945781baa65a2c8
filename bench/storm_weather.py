"""What happens to a cluster and to Holdfast in a storm: programs end, the network fails."""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.adapters.engine.run.toolchain import find_program
from holdfast.sandbox.launch import Launcher
from holdfast.sandbox.process import is_running, send_signal, wait_until_gone
from holdfast.sandbox.programs import PROGRAMS
from holdfast.sandbox.record import read_record

from bench.storm_stage import Member, Stage
from tests.e2e import proxy_faults as faults
from tests.e2e.faulty_proxy import Fault, Request

GONE_SECONDS = 20.0
STARTED_SECONDS = 1.0
"""What cannot start has ended by then, and says why; else nobody would see why nothing mends."""

_FORBIDDEN_KINDS = ("configmaps", "services", "deployments", "networkpolicies")


def _reads(request: Request) -> bool:
    return not request.is_write and not request.is_watch


def _watches(request: Request) -> bool:
    return request.is_watch


def _writes(request: Request) -> bool:
    return request.is_write


def _all(_: Request) -> bool:
    return True


FAULTS: Mapping[str, tuple[Callable[[Request], bool], Fault, int]] = {
    "429": (_all, faults.status(429, Retry_After="1"), 6),
    "503": (_all, faults.status(503), 6),
    "500 for a write": (_writes, faults.status(500), 2),
    "409 for a write": (_writes, faults.status(409), 2),
    "401": (_all, faults.status(401), 4),
    "reset in the middle": (_reads, faults.reset_in_the_middle, 2),
    "half a body": (_reads, faults.short_body, 2),
    "bad JSON": (_reads, faults.bad_json, 2),
    "late answer": (_reads, faults.late(8), 2),
    "lost answer to a write": (_writes, faults.lost_answer, 1),
    "watch expired, as status": (_watches, faults.status(410), 3),
    "watch expired, as event": (_watches, faults.expired_event, 3),
    "silent watch": (_watches, faults.silence, 2),
}
"""Name to which requests, what is done to them, and how many."""


@dataclass
class Weather:
    """The weather over a stage.

    Attributes:
        choice: Where chance comes from.
        failures: Fault to how often it was planned.
        restarts: Program to how often it was ended and started again.
    """

    stage: Stage
    choice: random.Random
    failures: Counter[str] = field(default_factory=Counter)
    restarts: Counter[str] = field(default_factory=Counter)

    def fail(self) -> None:
        """One fault of the network or the server."""
        proxy = self.stage.proxy
        what = self.choice.choice((*FAULTS, "server away", "403 on one kind", "streams cut"))
        self.failures[what] += 1
        if what == "server away":
            self._for_a_while(_all, faults.hang_up, 3.0)
        elif what == "403 on one kind":
            kind = self.choice.choice(_FORBIDDEN_KINDS)
            self._for_a_while(lambda one: f"/{kind}" in one.path, faults.status(403), 4.0)
        elif what == "streams cut":
            proxy.cut_streams()
        else:
            matches, fault, times = FAULTS[what]
            proxy.on(matches, fault, times)
            if matches is _watches:
                proxy.cut_streams()

    def _for_a_while(
        self, matches: Callable[[Request], bool], fault: Fault, seconds: float
    ) -> None:
        plan = self.stage.proxy.on(matches, fault)
        if plan.fault is not faults.hang_up:
            self.stage.proxy.cut_streams()
        time.sleep(seconds)
        plan.times = 0

    def restart(self, name: str) -> None:
        """End one program, in order or not, and start it again."""
        number = self.choice.choice((signal.SIGTERM, signal.SIGKILL))
        self.restarts[f"{name} by {number.name}"] += 1
        members = {each.name: each for each in self.stage.members}
        if name in members:
            self._restart_member(members[name], number)
        elif name == "engine":
            self._end_engine()
        else:
            self._restart_program(name, number)

    def _restart_member(self, member: Member, number: signal.Signals) -> None:
        process = member.process
        if process is None or process.poll() is not None:
            return
        below = _below(process.pid)
        member.expected_ends += 1
        process.send_signal(number)
        process.wait()
        if number is signal.SIGKILL:
            _end(below)
        self.stage.release_dead_lock()
        member.keep_running()

    def _end_engine(self) -> None:
        """Kill the engine in the middle of an update, if there is one."""
        process = self.stage.loop.process
        below = _below(process.pid) if process is not None else {}
        engines = [pid for pid, name in below.items() if name == "pulumi"]
        for pid in engines:
            os.kill(pid, signal.SIGKILL)
        time.sleep(2)
        self.stage.release_dead_lock()

    def _restart_program(self, name: str, number: signal.Signals) -> None:
        place = self.stage.place
        record = read_record(place)
        assert record is not None
        program = next(each for each in PROGRAMS if each.name == name)
        identity = record.processes[name]
        send_signal(identity, number)
        if not wait_until_gone(identity, GONE_SECONDS):
            send_signal(identity, signal.SIGKILL)
            wait_until_gone(identity, GONE_SECONDS)
        assert not is_running(identity)
        launcher = Launcher(place, record, {name: find_program(name)})
        launcher.launch(program)
        time.sleep(STARTED_SECONDS)
        launcher.require_all_running()
        launcher.release()


def _below(root: int) -> dict[int, str]:
    """Processes below one, at whatever depth, and their names."""
    names, parents = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            head, _, rest = (folder / "stat").read_text().rpartition(")")
            names[int(folder.name)] = head.partition("(")[2]
            parents[int(folder.name)] = int(rest.split()[1])
    found: dict[int, str] = {}
    wave = {root}
    while wave:
        wave = {pid for pid, parent in parents.items() if parent in wave}
        found |= {pid: names[pid] for pid in wave}
    return found


def _end(processes: Mapping[int, str]) -> None:
    """Kill what a killed program left behind."""
    for pid, name in processes.items():
        with suppress(OSError):
            if (Path("/proc") / str(pid) / "comm").read_text().strip() == name[:15]:
                os.kill(pid, signal.SIGKILL)
