"""`holdfast operator`: agents as resources of a cluster. A group; each part has its own file."""

import click

from holdfast.cli.verb_parts import GroupOfParts

PARTS = {
    "run": (
        "holdfast.cli.operator.run",
        "watch a stack's agents, tell how they are, hold them to it",
    ),
    "install": (
        "holdfast.cli.operator.install",
        "give a cluster the kinds, and the operator of a stack",
    ),
    "manifests": ("holdfast.cli.operator.manifests", "print what `install` would apply"),
    "migrate": (
        "holdfast.cli.operator.migrate",
        "hand a stack's objects from Pulumi to the operator, deleting nothing",
    ),
}


@click.group(cls=GroupOfParts, parts=PARTS)
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
