"""`holdfast drift --watch`: an endless scan."""

from dataclasses import replace

from holdfast.cli.drift.detect import request_of
from holdfast.cli.drift.options import DriftOptions
from holdfast.cli.options.colour import wants_colour
from holdfast.cli.options.progress import TERMINAL
from holdfast.controllers.runtime.log import Output
from holdfast.controllers.watch.drift_watch import watch
from holdfast.controllers.watch.request import WatchRequest


def watch_drift(asked: DriftOptions, watching: WatchRequest) -> int:
    """Watch until stopped; the exit code."""
    # For days in one process: what is cached depends on the code as it lies on the disk.
    request = replace(request_of(asked.compared), use_cache=False)
    lines = Output(has_colour=wants_colour())
    return watch(request, watching, asked.report.output, lines, TERMINAL)
