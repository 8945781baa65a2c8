"""The scan of 100 agents against a raw LIST, `kubectl diff` and `pulumi refresh`, in one run.

Every figure is taken on the same deployed fleet, one after the other. The raw LIST reads the same
kinds in the same namespace and decodes nothing: no scan can be faster.
"""

import contextlib
import gc
import io
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from holdfast.adapters.cluster.client import ApiClient, path_of
from holdfast.adapters.cluster.kubeconfig import connection_of
from holdfast.adapters.engine.run.toolchain import find_program
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scanner import Scanner

from bench.child_usage import usage_of
from bench.fleet import STACK, MeasuredFleet, deployed_fleet
from bench.written import declared_versions, written_between

ROUNDS = 5
CHANGED = "agent-007"
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
COMMAND = (str(Path(sys.executable).with_name("holdfast")), "drift", "-s", STACK)
"""As people run it: `python -m` would load a part of Python more."""
TARGET_WALL_SECONDS = 0.6
TARGET_SCAN_SECONDS = 0.25
TARGET_PEAK_MIB = 150
TARGET_TIMES_FASTER = 50
KINDS = (
    ("v1", "serviceaccounts"),
    ("v1", "configmaps"),
    ("v1", "services"),
    ("apps/v1", "deployments"),
    ("networking.k8s.io/v1", "networkpolicies"),
    ("autoscaling/v2", "horizontalpodautoscalers"),
    ("policy/v1", "poddisruptionbudgets"),
)


def measure() -> dict[str, float | str]:
    """Seconds and ratios; medians of several rounds where a round is short."""
    with deployed_fleet() as fleet, contextlib.chdir(fleet.root):
        unaided, _ = _command("--no-cache")
        wall, peak_mib = _command()
        # As the command itself does: what is loaded by then lives until the end.
        gc.freeze()
        gc.set_threshold(200_000, 20, 100)
        scan = _median(_scan)
        again = _steady_scan()
        listing = _median(lambda: _raw_list(fleet))
        kubectl = _seconds(lambda: _kubectl_diff(fleet))
        refresh = fleet.stack.refresh_preview().seconds
        unchanged, one_changed, others = _written_by_updates(fleet)
        return {
            "scan: objects": fleet.objects,
            "scan: seconds, `holdfast drift` from start to end": wall,
            "scan: target seconds from start to end": TARGET_WALL_SECONDS,
            "scan: seconds from start to end, all of it rendered again": unaided,
            "scan: seconds without start-up": scan,
            "scan: target seconds without start-up": TARGET_SCAN_SECONDS,
            "scan: seconds, again in one process": again,
            "scan: peak MiB": peak_mib,
            "scan: target peak MiB": TARGET_PEAK_MIB,
            "scan: seconds, raw LIST": listing,
            "scan: times a raw LIST": scan / listing,
            "scan: seconds, kubectl diff --server-side": kubectl,
            "scan: times faster than kubectl diff": kubectl / wall,
            "scan: times faster than kubectl diff, again in one process": kubectl / again,
            "scan: target times faster than kubectl diff": TARGET_TIMES_FASTER,
            "scan: seconds, pulumi refresh --preview-only": refresh,
            "scan: times faster than pulumi refresh": refresh / wall,
            "scan: target times faster than pulumi refresh": TARGET_TIMES_FASTER,
            "update: objects written when nothing has changed": unchanged,
            "update: target objects written when nothing has changed": 0,
            "update: objects written when one agent has changed": one_changed,
            "update: objects of other agents written then": others,
            "update: target objects of other agents written then": 0,
        }


def _command(*options: str) -> tuple[float, float]:
    """Median wall seconds and highest resident MiB of the whole command.

    With bytecode cached, as every installed program has it; what the declaration renders to is
    kept from the round before, as it is between two scans of one commit.
    """
    variables = {key: value for key, value in os.environ.items() if key != NO_BYTECODE}
    command = (*COMMAND, *options)
    subprocess.run(command, env=variables, stdout=subprocess.DEVNULL, check=True)
    seconds, peaks = [], []
    for _ in range(ROUNDS):
        usage = usage_of(command, variables)
        assert usage.exit_code == 0, "the measured fleet must be in sync"
        seconds.append(usage.seconds)
        peaks.append(usage.peak_mib)
    return statistics.median(seconds), max(peaks)


def _scan() -> None:
    with contextlib.redirect_stderr(io.StringIO()):
        report = Scanner(ScanRequest(Path.cwd(), STACK)).scan().report
    assert report.is_complete
    assert not report.drift


def _steady_scan() -> float:
    """Median seconds of a scan in a process that has scanned before, as `drift watch` does."""
    with contextlib.redirect_stderr(io.StringIO()):
        sources = Scanner(ScanRequest(Path.cwd(), STACK))
        return _median(lambda: sources.scan().report)


def _raw_list(fleet: MeasuredFleet) -> None:
    client = ApiClient(connection_of(fleet.place.kubeconfig()))
    for api_version, plural in KINDS:
        client.get(path_of(api_version, plural, "bench"), {"limit": 500})


def _written_by_updates(fleet: MeasuredFleet) -> tuple[int, int, int]:
    """Objects that updates write.

    Returns:
        Written without a change; written for a new version of one agent; of these, others' objects.
    """
    client = ApiClient(connection_of(fleet.place.kubeconfig()))
    places = [(api_version, plural, "bench") for api_version, plural in KINDS]
    before = declared_versions(client, places)
    fleet.stack.up()
    again = declared_versions(client, places)
    manifest = fleet.root / "agents" / f"{CHANGED}.yaml"
    manifest.write_text(re.sub(r"version: .*", "version: 9.9.9", manifest.read_text(), count=1))
    fleet.stack.up()
    written = written_between(again, declared_versions(client, places))
    others = [name for _, name in written if not name.startswith(CHANGED)]
    return len(written_between(before, again)), len(written), len(others)


def _kubectl_diff(fleet: MeasuredFleet) -> None:
    rendered = subprocess.run(
        [sys.executable, "-m", "holdfast.cli.main", "render", "-s", STACK],
        capture_output=True,
        check=True,
    ).stdout
    done = subprocess.run(
        [find_program("kubectl"), "diff", "--server-side", "--field-manager=holdfast", "-f", "-"],
        input=rendered,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"KUBECONFIG": str(fleet.place.kubeconfig())},
        check=False,
    )
    assert done.returncode == 0, "kubectl must see no difference either"


def _median(work: Callable[[], object]) -> float:
    work()
    return statistics.median(_seconds(work) for _ in range(ROUNDS))


def _seconds(work: Callable[[], object]) -> float:
    started = time.monotonic()
    work()
    return time.monotonic() - started
