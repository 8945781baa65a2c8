"""`holdfast operator`: agents as resources of a cluster. A group; each part has its own file."""

import importlib

import click

PARTS = {
    "run": "watch a stack's agents, tell how they are, hold them to it",
    "install": "give a cluster the kinds, and the operator of a stack",
    "manifests": "print what `install` would apply",
}
"""Part to its one-line help; its module is `holdfast.cli.operator_<part>`."""


class _Parts(click.Group):
    """Loads a part's module when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(PARTS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in PARTS:
            return None
        found = importlib.import_module(f"holdfast.cli.operator_{cmd_name}").command
        return found if isinstance(found, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(PARTS.items()))


@click.group(cls=_Parts)
def command() -> None:
    """Agents as resources of their cluster: `kubectl get agents` says how each of them is.

    A stack asks for it with `holdfast:agentResources: {mode: observe}`; its cluster needs the kinds
    first.

    \b
    Examples:
      holdfast operator install --context prod
      kubectl get agents -A
      kubectl wait --for=condition=Ready agent/support-rag -n cx
    """
