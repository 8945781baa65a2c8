"""Options of a scan that is recorded in the history of its stack."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from holdfast.cli.options.timestamps import Moment
from holdfast.errors import InputError
from holdfast.operations.scan.recording import DEFAULT_ALERT_THRESHOLD, HistoryRequest

Command = Callable[..., int]


def threshold_option() -> Callable[[Command], Command]:
    """`--alert-after`, of every verb that looks for many small findings."""
    return click.option(
        "--alert-after",
        type=click.IntRange(min=1),
        default=DEFAULT_ALERT_THRESHOLD,
        show_default=True,
        help="How many low findings open at once raise an alert.",
    )


def history_options(command: Command) -> Command:
    """Options of a scan that is recorded; the command receives them as `history`."""

    @wraps(command)
    def with_request(
        *arguments: Any,  # noqa: ANN401  (the command's own)
        history: Path | None,
        no_history: bool,
        observed_at: str | None,
        alert_after: int,
        **others: Any,  # noqa: ANN401  (as above)
    ) -> int:
        if history and no_history:
            raise InputError("--history and --no-history exclude each other", remedy="leave one")
        request = HistoryRequest(history, no_history, observed_at, alert_after)
        return command(*arguments, history=request, **others)

    decorated: Command = with_request
    for option in (
        threshold_option(),
        click.option(
            "--observed-at",
            type=Moment(),
            help="Time of the scan in reports and history; default now.",
        ),
        click.option("--no-history", is_flag=True, help="Record nothing."),
        click.option(
            "--history",
            type=click.Path(path_type=Path, dir_okay=False),
            help="File that keeps the scans; default one a stack in the state folder.",
        ),
    ):
        decorated = option(decorated)
    return decorated
