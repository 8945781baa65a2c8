"""Groups of verbs that load only the verb that is called: the others wait on the disk."""

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from holdfast.cli.verbs import MOVED, Verb

if TYPE_CHECKING:
    Completions = list[CompletionItem[Any]]


class LazyGroup(click.Group):
    """Lists, completes and suggests its verbs from the table; loads the one that is called.

    With `invoke_without_command` it is a verb itself, unless its first argument names one of its
    verbs: `holdfast drift` scans, `holdfast drift plan` does not.
    """

    def __init__(
        self,
        *arguments: Any,  # noqa: ANN401  (click's own)
        verbs: Mapping[str, Verb],
        headings: Mapping[str, Mapping[str, Verb]] | None = None,
        sections: Mapping[str, str] | None = None,
        **options: Any,  # noqa: ANN401  (click's own)
    ) -> None:
        """Make the group.

        Args:
            arguments: Click's own.
            verbs: Name to verb.
            headings: The same below headings, in help; default one heading.
            sections: Name of the first option of each section to the section's heading, in help.
            options: Click's own.
        """
        super().__init__(*arguments, **options)
        self.verbs = verbs
        self.headings = headings or {"Commands": verbs}
        self.sections = sections or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name every verb."""
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one verb."""
        return self.verbs[cmd_name].load() if cmd_name in self.verbs else None

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401  (click's own)
    ) -> click.Context:
        """Context of the verb below that is called, where the group is a verb itself, too."""
        if not (self.invoke_without_command and args and args[0] in self.verbs):
            return super().make_context(info_name, args, parent, **extra)
        verb = self.verbs[args[0]].load()
        return verb.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb that is called.

        Raises:
            click.UsageError: there is none of that name; says which may be meant.
        """
        name = args[0]
        if ctx.resilient_parsing or name.startswith("-"):
            return super().resolve_command(ctx, args)
        if name not in self.verbs:
            raise click.UsageError(f"no such command {name!r}; {self._remedy(ctx, name)}", ctx)
        if self.invoke_without_command:
            place = f"`{ctx.command_path} {name}`"
            raise click.UsageError(f"options of {name} follow it: {place}", ctx)
        return super().resolve_command(ctx, args)

    def _remedy(self, ctx: click.Context, name: str) -> str:
        called = " ".join([*ctx.command_path.split()[1:], name])
        if called in MOVED:
            return f"it is `holdfast {MOVED[called]}` now"
        close = difflib.get_close_matches(name, self.verbs, n=1)
        return f'did you mean "{close[0]}"?' if close else "--help lists every command"

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "Completions":
        """Complete verbs from the table, and options as click does."""
        found = (
            CompletionItem(name, help=verb.text)
            for name, verb in self.verbs.items()
            if name.startswith(incomplete)
        )
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options by section, and the verbs after them."""
        for heading, records in self._records(ctx).items():
            with formatter.section(heading):
                formatter.write_dl(records)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs below their headings."""
        width = max(map(len, self.verbs))
        for heading, verbs in self.headings.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), verb.text) for name, verb in verbs.items()])

    def _records(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Heading to the options below it, in words."""
        listed: dict[str, list[tuple[str, str]]] = {}
        heading = "Options"
        for parameter in self.get_params(ctx):
            if self.sections and parameter is self.get_help_option(ctx):
                heading = "Help"
            heading = self.sections.get(parameter.name or "", heading)
            record = parameter.get_help_record(ctx)
            if record is not None:
                listed.setdefault(heading, []).append(record)
        return listed
