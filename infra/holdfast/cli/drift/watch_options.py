"""The options of `holdfast drift --watch`."""

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any

import click

from holdfast.controllers.watch.request import WatchRequest
from holdfast.errors import InputError

_SECONDS = click.FloatRange(min=1.0)


def watch_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options; the command gets `watching`, None without `--watch`."""

    @click.option("--watch", is_flag=True, help="Go on for ever: a line when drift comes or goes.")
    @click.option(
        "--interval",
        type=_SECONDS,
        metavar="SECONDS",
        help="With --watch: read everything anew that often, as a safety net.  [default: 600]",
    )
    @click.option(
        "--silence",
        type=_SECONDS,
        metavar="SECONDS",
        help="With --watch: what has been silent for so long is unknown.  [default: 150]",
    )
    @click.option("--webhook", metavar="URL", help="With --watch: send CloudEvents there.")
    @click.option(
        "--metrics",
        metavar=":PORT|FILE",
        help="With --watch: serve Prometheus metrics, or write them to a file.",
    )
    @click.option("-v", "--verbose", is_flag=True, help="With --watch: log every look.")
    @wraps(command)
    def with_options(*arguments: Any, watch: bool, **options: Any) -> Any:  # noqa: ANN401
        names = [field.name for field in fields(WatchRequest)]
        chosen = {name: value for name in names if (value := options.pop(name))}
        if chosen and not watch:
            raise InputError(
                f"--{next(iter(chosen))} is an option of --watch", remedy="add --watch"
            )
        watching = WatchRequest(**chosen) if watch else None
        return command(*arguments, watching=watching, **options)

    return with_options
