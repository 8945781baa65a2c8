"""`holdfast tools`: what tool servers promise."""

import click

from holdfast.cli.command_tree import VERBS, LazyGroup


@click.group(cls=LazyGroup, verbs=VERBS["tools"].below)
def command() -> None:
    """Review the tools that agents may call, and see when a server changes them.

    A model acts on a tool's description: a server that changes one changes the agent, and no image
    digest shows it. `lock` writes names, descriptions and schemas to agents/tools.lock, to be read
    and committed; `check` compares servers with it; `validate` and `pulumi up` refuse tools and
    digests that are not in it.

    \b
    Examples:
      holdfast tools lock
      holdfast tools check -s prod
    """
