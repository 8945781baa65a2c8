"""Moments on the command line: RFC 3339, shown in UTC and whole seconds."""

from datetime import UTC, datetime

import click

from holdfast.drift.record.sightings import instant


class Moment(click.ParamType[str]):
    """An RFC 3339 time such as `2026-11-21T12:00:00Z`; a date alone is its first moment in UTC."""

    name = "TIME"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """The same moment in UTC."""
        text = str(value)
        try:
            moment = instant(f"{text}T00:00:00Z" if len(text) == len("2026-11-21") else text)
        except ValueError:
            self.fail(f"expected a time such as 2026-11-21T12:00:00Z, got {text!r}", param, ctx)
        return shown(moment)


def now() -> str:
    """This moment."""
    return shown(datetime.now(UTC))


def shown(moment: datetime) -> str:
    """A moment as reports show it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
