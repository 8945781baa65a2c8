"""`holdfast agent`: named actions on one agent, each in its own file."""

import click

from holdfast.cli.verb_parts import GroupOfParts

PARTS = {
    "restart": (
        "holdfast.cli.agent.restart",
        "replace the pods of an agent, as `kubectl rollout restart` does",
    ),
    "reschedule": (
        "holdfast.cli.agent.reschedule",
        "move an agent off nodes that are cordoned, not ready or gone",
    ),
    "recreate": (
        "holdfast.cli.agent.recreate",
        "delete what runs an agent, and create it again as declared",
    ),
    "backup": ("holdfast.cli.agent.backup", "back an agent's volumes up now"),
    "scale": ("holdfast.cli.agent.scale", "declare how many replicas of an agent run on a stack"),
    "reconfigure": ("holdfast.cli.agent.reconfigure", "set fields of an agent for a stack"),
    "fail-over": (
        "holdfast.cli.agent.fail_over",
        "declare that the other one of primary and standby serves",
    ),
    "restore": (
        "holdfast.cli.agent.restore",
        "list the backups of an agent, or fill its volumes from one",
    ),
}


@click.group(cls=GroupOfParts, parts=PARTS)
def command() -> None:
    """Run a day-two operation on one agent.

    restart, reschedule, recreate and backup act on the cluster at once, under the stack's lock, and
    change nothing that is declared. scale, reconfigure, fail-over and restore change what is
    declared: the stack's file, which wins over the agent's manifest; the next update brings it to
    the cluster.

    Each is shown before it is done: --dry-run ends there, --yes agrees to it, -o json prints it as
    one document. `holdfast history` lists it, done or not done.

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
