"""Verbs with verbs below them, each loaded when it is called: start-up is part of its time.

`holdfast drift` runs by itself and has `holdfast drift history` below it; `holdfast policy` only
stands for what is below it.
"""

import importlib
from collections.abc import Mapping
from typing import Any

import click
from click.shell_completion import CompletionItem

from holdfast.cli.named_verbs import NamedVerbs

Parts = Mapping[str, tuple[str, str]]
"""Part to its module, which has it as `command`, and its one-line help."""


def _loaded(parts: Parts, name: str) -> click.Command:
    module, _ = parts[name]
    part = importlib.import_module(module).command
    assert isinstance(part, click.Command)  # noqa: S101  (the table says so)
    return part


class GroupOfParts(NamedVerbs):
    """Does nothing by itself; lists its parts without loading them."""

    def __init__(
        self,
        *arguments: Any,  # noqa: ANN401  (click's own)
        parts: Parts,
        **options: Any,  # noqa: ANN401  (click's own)
    ) -> None:
        """Take click's arguments, and the parts."""
        super().__init__(*arguments, **options)
        self.parts = parts

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name every part."""
        return list(self.parts)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one part."""
        return _loaded(self.parts, cmd_name) if cmd_name in self.parts else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the parts from the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self.parts.items()])


class VerbWithParts(click.Command):
    """Runs itself, unless its first argument names one of its parts; parts load when called."""

    def __init__(
        self,
        *arguments: Any,  # noqa: ANN401  (click's own)
        parts: Parts,
        sections: Mapping[str, str],
        **options: Any,  # noqa: ANN401  (click's own)
    ) -> None:
        """Make the verb.

        Args:
            arguments: Click's own.
            parts: Module and one-line help of each part.
            sections: Name of the first option of each section to the section's heading, in help.
            options: Click's own.
        """
        super().__init__(*arguments, **options)
        self.parts = parts
        self.sections = sections

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401  (click's own)
    ) -> click.Context:
        """Context of the part that is called, else of the verb itself."""
        if not args or args[0] not in self.parts:
            return super().make_context(info_name, args, parent, **extra)
        part = _loaded(self.parts, args[0])
        return part.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem[Any]]":
        """Complete the parts beside what click completes."""
        parts = [
            CompletionItem(name, help=text)
            for name, (_, text) in self.parts.items()
            if name.startswith(incomplete)
        ]
        return parts + super().shell_complete(ctx, incomplete)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options by section, and the parts after them."""
        listed: dict[str, list[tuple[str, str]]] = {}
        heading = "Options"
        for parameter in self.get_params(ctx):
            if parameter is self.get_help_option(ctx):
                heading = "Help"
            heading = self.sections.get(parameter.name or "", heading)
            record = parameter.get_help_record(ctx)
            if record is not None:
                listed.setdefault(heading, []).append(record)
        for each, records in listed.items():
            with formatter.section(each):
                formatter.write_dl(records)
        with formatter.section("Parts"):
            formatter.write_dl([(name, text) for name, (_, text) in sorted(self.parts.items())])
