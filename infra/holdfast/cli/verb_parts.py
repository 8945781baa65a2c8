"""A verb that also has a verb below it: `holdfast drift`, and `holdfast drift history`."""

import importlib
from collections.abc import Mapping
from typing import Any

import click


class VerbWithParts(click.Command):
    """Runs itself, unless its first argument names one of its parts; parts load when called."""

    def __init__(
        self,
        *arguments: Any,  # noqa: ANN401  (click's own)
        parts: Mapping[str, tuple[str, str]],
        **options: Any,  # noqa: ANN401  (click's own)
    ) -> None:
        """Take click's arguments, and the module and one-line help of each part."""
        super().__init__(*arguments, **options)
        self.parts = parts

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
        module, _ = self.parts[args[0]]
        part = importlib.import_module(module).command
        assert isinstance(part, click.Command)  # noqa: S101  (the table says so)
        return part.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the parts after the options."""
        super().format_options(ctx, formatter)
        with formatter.section("Parts"):
            formatter.write_dl([(name, text) for name, (_, text) in sorted(self.parts.items())])
