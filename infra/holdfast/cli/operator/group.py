"""`holdfast operator`: agents as resources of a cluster. A group; each part has its own file."""

import click

from holdfast.cli.command_tree import VERBS, LazyGroup


@click.group(cls=LazyGroup, verbs=VERBS["operator"].below)
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
