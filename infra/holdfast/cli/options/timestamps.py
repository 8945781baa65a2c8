"""Times on the command line: RFC 3339, passed on in UTC and whole seconds."""

import click

from holdfast.cli.options.typed_parameter import TypedParameter
from holdfast.kube.scalars import format_utc, parse_timestamp


class Rfc3339(TypedParameter[str]):
    """An RFC 3339 time such as `2026-11-21T12:00:00Z`; a date alone is its first moment in UTC."""

    name = "TIME"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """The same moment in UTC."""
        text = str(value)
        is_date = len(text) == len("2026-11-21")
        try:
            moment = parse_timestamp(f"{text}T00:00:00Z" if is_date else text)
        except ValueError:
            self.fail(f"expected a time such as 2026-11-21T12:00:00Z, got {text!r}", param, ctx)
        return format_utc(moment)
