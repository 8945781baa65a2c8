"""Verbs by name: a wrong one is told the right one, and the help line of each is whole."""

import difflib
from collections.abc import Collection

import click

_WHOLE = 500
"""Characters of a help line: all of its first sentence, where click would cut it at the margin."""


class NamedVerbs(click.Group):
    """A group that lists its verbs with whole lines and suggests one for a name that it lacks."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb that is called.

        Raises:
            click.UsageError: there is none of that name; says which may be meant.
        """
        names = self.list_commands(ctx)
        if ctx.resilient_parsing or args[0] in names or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        raise click.UsageError(_unknown(args[0], names), ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs, wrapped and never cut off."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, verb.get_short_help_str(_WHOLE)) for name, verb in found if verb]
            )


def _unknown(name: str, names: Collection[str]) -> str:
    close = difflib.get_close_matches(name, names, n=1)
    remedy = f'did you mean "{close[0]}"?' if close else "--help names them all"
    return f"no such command {name!r}; {remedy}"
