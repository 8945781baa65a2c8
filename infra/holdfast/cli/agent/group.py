"""`holdfast agent`: named actions on one agent, shown before, in the history after. Wiring only."""

import click

from holdfast.cli.command_tree import VERBS, LazyGroup


@click.group(cls=LazyGroup, verbs=VERBS["agent"].below)
def command() -> None:
    """Do one named thing to one agent.

    restart, reschedule, recreate and backup act on the cluster at once, under the stack's lock, and
    change nothing that is declared. scale, reconfigure, fail-over and restore change what is
    declared: the stack's file, which wins over the agent's manifest; the next update brings it to
    the cluster.

    Each is shown before it is done: --dry-run ends there, --yes agrees to it, -o json prints it as
    one document. `holdfast history` tells of it, and of what could not be done.

    \b
    Examples:
      holdfast agent restart support-rag -s prod --reason "stuck connections"
      holdfast agent reschedule support-rag -s prod --node worker-3 --reason "the node is going"
      holdfast agent recreate support-rag -s prod --dry-run --reason "its ReplicaSets are in a knot"
      holdfast agent backup support-rag -s prod --reason "before the migration"
      holdfast agent scale support-rag 4 -s prod --reason "the sale" --branch scale-for-sale
      holdfast agent reconfigure support-rag resources.limits.memory=2Gi -s prod --reason "OOM"
      holdfast agent fail-over support-rag -s prod --reason "the primary answers wrongly"
      holdfast agent restore support-rag -s prod        (which backups are there)
    """
