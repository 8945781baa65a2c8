"""`holdfast drift watch`: reports drift as it comes and goes."""

from dataclasses import dataclass, replace
from typing import Final

import click

from holdfast.cli.drift.detect import freeze_loaded
from holdfast.cli.drift.options import ComparisonOptions, compared
from holdfast.cli.options.groups import Group, takes
from holdfast.cli.options.intervals import resync_option, silence_option
from holdfast.cli.options.output import OUTPUT, TERMINAL, wants_colour
from holdfast.controllers.runtime.log import Output
from holdfast.controllers.watch.drift_watch import watch
from holdfast.controllers.watch.request import WatchRequest

_WATCH: Final[Group] = (
    WatchRequest,
    (
        resync_option(WatchRequest.resync_seconds),
        silence_option(WatchRequest.silence_seconds),
        click.option("--webhook", metavar="URL", default="", help="Send CloudEvents there."),
        click.option(
            "--metrics",
            metavar=":PORT|FILE",
            default="",
            help="Serve Prometheus metrics, or write them to a file.",
        ),
        click.option("-v", "--verbose", is_flag=True, help="Log every comparison."),
    ),
)


@dataclass(frozen=True)
class _WatchRequest:
    compared: ComparisonOptions
    watching: WatchRequest


@click.command()
@takes(_WatchRequest, compared=compared("live"), watching=_WATCH)
@OUTPUT
def command(asked: _WatchRequest, *, output: str) -> int:
    """Watch until stopped, and report when drift comes and goes.

    Lists every kind once, then follows watch streams; every finding that opens or closes is a line,
    a CloudEvent and a metric within a second or two. Writes nothing to the cluster. With
    HOLDFAST_SLACK_URL or HOLDFAST_TEAMS_URL, the URL of a channel's incoming webhook, digests
    go to that channel.

    \b
    Examples:
      holdfast drift watch -s prod
      holdfast drift watch -s prod -o json
      holdfast drift watch -s prod --metrics :9464 \\
        --webhook https://events.example/drift

    \b
    Exit codes: 8 stopped by SIGINT or SIGTERM   1 error   2 bad input
    """
    freeze_loaded()
    # A process that runs for days does not depend on the code as it lies on the disk by then.
    request = replace(asked.compared.request(), use_cache=False)
    lines = Output(has_colour=wants_colour())
    return watch(request, asked.watching, output, lines, TERMINAL)
