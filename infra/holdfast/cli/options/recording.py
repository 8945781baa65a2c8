"""Options of a scan that is recorded in its stack's history."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import click

from holdfast.cli.options.groups import Command, Group
from holdfast.cli.options.timestamps import Rfc3339
from holdfast.errors import InputError
from holdfast.operations.scan.request import DEFAULT_ALERT_THRESHOLD, RecordingRequest


def threshold_option() -> Callable[[Command], Command]:
    """`--alert-after`, of every verb that looks for many small findings."""
    return click.option(
        "--alert-after",
        type=click.IntRange(min=1),
        default=DEFAULT_ALERT_THRESHOLD,
        show_default=True,
        help="How many low findings open at once raise an alert.",
    )


_FILE: Final = click.option(
    "--history",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File that keeps the scans; default one a stack in the state folder.",
)
_NONE: Final = click.option("--no-history", is_flag=True, help="Record nothing.")


def _recording(
    history: Path | None,
    observed_at: str | None = None,
    alert_after: int = DEFAULT_ALERT_THRESHOLD,
    *,
    no_history: bool,
) -> RecordingRequest:
    if history and no_history:
        raise InputError("--history and --no-history exclude each other", remedy="remove one")
    return RecordingRequest(history, no_history, observed_at, alert_after)


HISTORY: Final[Group] = (_recording, (_FILE, _NONE))
"""Where a scan is recorded."""

RECORDING: Final[Group] = (
    _recording,
    (
        _FILE,
        _NONE,
        click.option(
            "--observed-at",
            type=Rfc3339(),
            help="Time of the scan in reports and history; default now.",
        ),
        threshold_option(),
    ),
)
"""The same, and how it is recorded."""
