"""Options in seconds that several commands share: each means the same everywhere."""

from typing import Final

import click

from holdfast.cli.options.groups import Option

SECONDS: Final = click.FloatRange(min=1.0)


def seconds_option(name: str, default: float, text: str) -> Option:
    """An option that takes a number of seconds from 1, as the parameter `NAME_seconds`."""
    return click.option(
        f"--{name}",
        f"{name}_seconds",
        type=SECONDS,
        metavar="SECONDS",
        default=default,
        show_default=True,
        help=text,
    )


def resync_option(default: float) -> Option:
    """`--resync`: how often everything is compared, whatever the watch streams report."""
    return seconds_option("resync", default, "Full resync interval.")


def silence_option(default: float) -> Option:
    """`--silence`: when a watch stream counts as stale."""
    return seconds_option(
        "silence", default, "Time without events after which a watch stream is stale."
    )
