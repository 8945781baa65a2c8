"""The scan of 100 agents against a raw LIST, `kubectl diff` and `pulumi refresh`, in one run.

Every figure is taken on the same deployed fleet, one after the other. The raw LIST reads the same
kinds in the same namespace and decodes nothing: no scan can be faster.
"""

import contextlib
import gc
import io
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from holdfast.cli.drift_sources import DriftRequest, DriftSources
from holdfast.cluster.client import ApiClient, path_of
from holdfast.cluster.kubeconfig import connection_of
from holdfast.engine.toolchain import find_program

from bench.fleet import STACK, MeasuredFleet, deployed_fleet

ROUNDS = 5
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
COMMAND = (sys.executable, "-m", "holdfast.cli.main", "drift", "-s", STACK)
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
        wall, peak_mib = _command()
        # As the command itself does: what is loaded by then lives until the end.
        gc.freeze()
        gc.set_threshold(200_000, 20, 100)
        scan = _median(_scan)
        listing = _median(lambda: _raw_list(fleet))
        kubectl = _seconds(lambda: _kubectl_diff(fleet))
        refresh = fleet.stack.refresh_preview().seconds
        return {
            "scan: objects": fleet.objects,
            "scan: seconds, `holdfast drift` from start to end": wall,
            "scan: target seconds from start to end": TARGET_WALL_SECONDS,
            "scan: seconds without start-up": scan,
            "scan: target seconds without start-up": TARGET_SCAN_SECONDS,
            "scan: peak MiB": peak_mib,
            "scan: target peak MiB": TARGET_PEAK_MIB,
            "scan: seconds, raw LIST": listing,
            "scan: times a raw LIST": scan / listing,
            "scan: seconds, kubectl diff --server-side": kubectl,
            "scan: times faster than kubectl diff": kubectl / wall,
            "scan: seconds, pulumi refresh --preview-only": refresh,
            "scan: times faster than pulumi refresh": refresh / wall,
            "scan: target times faster than pulumi refresh": TARGET_TIMES_FASTER,
        }


def _command() -> tuple[float, float]:
    """Median wall seconds and highest resident MiB of the whole command.

    With bytecode cached, as every installed program has it.
    """
    variables = {key: value for key, value in os.environ.items() if key != NO_BYTECODE}
    subprocess.run(COMMAND, env=variables, stdout=subprocess.DEVNULL, check=True)
    seconds, peaks = [], []
    for _ in range(ROUNDS):
        started = time.monotonic()
        process = subprocess.Popen(COMMAND, env=variables, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds.append(time.monotonic() - started)
        assert os.waitstatus_to_exitcode(status) == 0, "the measured fleet must be in sync"
        peaks.append(usage.ru_maxrss / 1024)
    return statistics.median(seconds), max(peaks)


def _scan() -> None:
    with contextlib.redirect_stderr(io.StringIO()):
        report = DriftSources(DriftRequest(stack=STACK)).scan().report
    assert report.is_complete
    assert not report.drift


def _raw_list(fleet: MeasuredFleet) -> None:
    client = ApiClient(connection_of(fleet.place.kubeconfig()))
    for api_version, plural in KINDS:
        client.get(path_of(api_version, plural, "bench"), {"limit": 500})


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
