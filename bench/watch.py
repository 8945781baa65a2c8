"""The watch of a large fleet under fire: from a change to its finding, and what that costs.

A change is a label that nobody declared, put on an object by another manager and taken away again.
The time runs from the answer to the write until the line with the finding was read from the
watch's standard output.
"""

import contextlib
import json
import os
import random
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from holdfast.adapters.cluster.client import ApiClient, path_of
from holdfast.kube.objects import KubeObject, reference_of
from holdfast.kube.structure import builtin_kind

from bench.fleet import STACK
from bench.large import OBJECTS_PER_AGENT, LargeFleet, large_fleet

OBJECTS = 10_000
CHANGES_PER_SECOND = 50
SECONDS = 20
TARGET_P95_SECONDS = 1.0
TARGET_CORE = 0.25
LABEL = "bench"
COMMAND = (sys.executable, "-m", "holdfast.cli.main", "drift", "watch", "-s", STACK, "-o", "json")


@dataclass
class Watched:
    """A watch under way, and when it told of which object.

    Attributes:
        told: Name and kind to the monotonic time of its first opened finding.
        closed: How many findings were closed.
    """

    process: "subprocess.Popen[str]"
    told: dict[tuple[str, str], float] = field(default_factory=dict)
    closed: int = 0
    is_in_sync: threading.Event = field(default_factory=threading.Event)

    def read(self) -> None:
        """Take what it prints until it ends."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            now = time.monotonic()
            document = json.loads(line)
            if document["type"] == "finding.opened":
                one = document["finding"]["object"]
                self.told[one["kind"], one["name"]] = now
            elif document["type"] == "finding.closed":
                self.closed += 1
            elif document.get("status") == "in sync":
                self.is_in_sync.set()

    def cpu_seconds(self) -> float:
        """What it has computed so far."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:  # noqa: PTH123
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure() -> dict[str, float | str]:
    """One watch, changes at an even pace for a while."""
    with large_fleet() as fleet:
        fleet.grow(OBJECTS // OBJECTS_PER_AGENT)
        begun = time.monotonic()
        with contextlib.chdir(fleet.root), _watching() as watched:
            assert watched.is_in_sync.wait(120), "the fleet must be in sync"
            ready = time.monotonic() - begun
            idle = watched.cpu_seconds()
            time.sleep(5)
            idle = (watched.cpu_seconds() - idle) / 5
            before = watched.cpu_seconds()
            started = time.monotonic()
            written = _change(fleet)
            elapsed = time.monotonic() - started
            busy = (watched.cpu_seconds() - before) / elapsed
            time.sleep(3)
            rss = _peak_mib(watched.process.pid)
    taken = [watched.told[key] - at for key, at in written.items() if key in watched.told]
    return {
        "watch: objects": len(fleet.objects),
        "watch: seconds until all is read and judged": ready,
        "watch: changes a second": len(written) / elapsed,
        "watch: changes": len(written),
        "watch: changes told": len(taken),
        "watch: seconds from change to finding, median": statistics.median(taken),
        "watch: seconds from change to finding, p95": sorted(taken)[int(len(taken) * 0.95)],
        "watch: target seconds, p95": TARGET_P95_SECONDS,
        "watch: share of a core": busy,
        "watch: target share of a core": TARGET_CORE,
        "watch: share of a core when nothing moves": idle,
        "watch: peak MiB": rss,
        "watch: load of the machine at the end": os.getloadavg()[0],
    }


@contextlib.contextmanager
def _watching() -> Iterator[Watched]:
    process = subprocess.Popen(
        COMMAND, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    watched = Watched(process)
    reader = threading.Thread(target=watched.read)
    reader.start()
    try:
        yield watched
    finally:
        process.terminate()
        process.wait()
        reader.join()


def _change(fleet: LargeFleet) -> dict[tuple[str, str], float]:
    """Label objects, each once, at an even pace; returns when each write was answered."""
    chosen = random.Random(1).sample(  # noqa: S311  (a choice that is the same every time)
        [one for one in fleet.objects if one["kind"] != "Namespace"], CHANGES_PER_SECOND * SECONDS
    )
    written: dict[tuple[str, str], float] = {}
    started = time.monotonic()
    for number, one in enumerate(chosen):
        time.sleep(max(0.0, started + number / CHANGES_PER_SECOND - time.monotonic()))
        _label(fleet.client, one)
        written[one["kind"], one["metadata"]["name"]] = time.monotonic()
    return written


def _label(client: ApiClient, one: KubeObject) -> None:
    ref = reference_of(one)
    entry = builtin_kind(ref.api_version, ref.kind)
    assert entry is not None
    body = json.dumps({"metadata": {"labels": {LABEL: "x"}}}).encode()
    client.write(
        "PATCH",
        path_of(ref.api_version, entry.plural, ref.namespace, ref.name),
        body,
        content_type="application/merge-patch+json",
        query={"fieldManager": "bench"},
    )


def _peak_mib(pid: int) -> float:
    with open(f"/proc/{pid}/status", encoding="ascii") as file:  # noqa: PTH123
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))
