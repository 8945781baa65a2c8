"""Scans of large fleets against a raw paged LIST of the same server, in one run.

The raw LIST is sent by the same client over the same connections, page by page, and decodes
nothing. The scan is measured without loading manifests, which a raw LIST does not need either; the
whole command gives the memory. The re-scan is what a watch does as its safety net: it reads every
kind anew and decodes what has changed.
"""

import contextlib
import gc
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from holdfast.adapters.cluster.kind_reader import ListOptions
from holdfast.adapters.cluster.listing import read_listed
from holdfast.drift.scan import DriftJudge
from holdfast.kube.objects import Identity, KubeObject, reference_of
from holdfast.operations.scan.live import ClusterSource
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scanner import Scanner

from bench.child_usage import usage_of
from bench.fleet import STACK
from bench.large import OBJECTS_PER_AGENT, LargeFleet, large_fleet

ROUNDS = 5
SMALL, LARGE, LARGEST = 1_000, 10_000, 20_000
TARGET_TIMES_RAW_LIST = 3.0
TARGET_RESCAN_TIMES_RAW_LIST = 1.5
TARGET_REQUESTS = 100
TARGET_GROWTH = 1.3
TARGET_PEAK_MIB = 250
COMMAND = (sys.executable, "-m", "holdfast.cli.main", "drift", "-s", STACK, "--no-engine")


def measure() -> dict[str, float | str]:
    """Medians of several rounds, the raw LIST in turn with the scan."""
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)
    figures: dict[str, float | str] = {}
    per_object: dict[int, float] = {}
    with large_fleet() as fleet:
        for objects in (SMALL, LARGE, LARGEST):
            fleet.grow(objects // OBJECTS_PER_AGENT)
            with contextlib.chdir(fleet.root):
                scan, rescan, raw, requests = _times(fleet)
                per_object[objects] = scan / len(fleet.objects)
                if objects == LARGE:
                    figures |= {
                        "scale: objects": len(fleet.objects),
                        "scale: seconds, raw paged LIST": raw,
                        "scale: seconds, cold scan": scan,
                        "scale: times a raw LIST, cold": scan / raw,
                        "scale: target times a raw LIST, cold": TARGET_TIMES_RAW_LIST,
                        "scale: requests": requests,
                        "scale: target requests": TARGET_REQUESTS,
                        "scale: seconds, re-scan of what did not change": rescan,
                        "scale: times a raw LIST, re-scan": rescan / raw,
                        "scale: target times a raw LIST, re-scan": TARGET_RESCAN_TIMES_RAW_LIST,
                        "scale: peak MiB of the whole command": _peak_mib(),
                        "scale: target peak MiB": TARGET_PEAK_MIB,
                    }
    return figures | {
        f"scale: microseconds an object, of {objects}": seconds * 1e6
        for objects, seconds in per_object.items()
    } | {
        "scale: times the time an object, 20,000 to 1,000": per_object[LARGEST]
        / per_object[SMALL],
        "scale: target times the time an object": TARGET_GROWTH,
    }  # fmt: skip


def _times(fleet: LargeFleet) -> tuple[float, float, float, int]:
    """Median seconds of the cold scan, of a re-scan and of the raw LIST; requests of a scan."""
    sources = Scanner(ScanRequest(Path.cwd(), STACK))
    objects = sources.cluster.placed(sources.desired.objects)
    judge = DriftJudge(objects, sources.surroundings(objects, []), STACK)
    known: dict[Identity, str] = {}

    def remember(identity: Identity, live: KubeObject) -> bool:
        known[identity] = live["metadata"]["resourceVersion"]
        return True

    refs = [reference_of(one) for one in objects]
    cluster: ClusterSource = sources.cluster
    listing = read_listed(fleet.client, refs, cluster.kinds, ListOptions(is_settled=remember))
    assert len(known) == len(objects)

    def scan() -> None:
        report = sources.scan().report
        assert report.is_complete
        assert not report.findings

    def rescan() -> None:
        question = ListOptions(known=known, is_settled=judge.is_in_sync)
        assert not read_listed(fleet.client, refs, cluster.kinds, question).objects

    works: tuple[Callable[[], object], ...] = (scan, rescan, fleet.raw_list)
    taken: list[list[float]] = [[] for _ in works]
    for _ in range(ROUNDS):
        for work, times in zip(works, taken, strict=True):
            started = time.monotonic()
            work()
            times.append(time.monotonic() - started)
    medians = [statistics.median(times) for times in taken]
    return medians[0], medians[1], medians[2], listing.requests


def _peak_mib() -> float:
    usage = usage_of(COMMAND)
    assert usage.exit_code == 0, "the measured fleet must be in sync"
    return usage.peak_mib
