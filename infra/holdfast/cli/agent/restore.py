"""`holdfast agent restore`: which backups there are, and a volume filled from one."""

from collections.abc import Sequence

import click

from holdfast.cli.agent.action import AgentAction, on_branch, takes_action
from holdfast.errors import ExitCode, InputError
from holdfast.operations.actions.backup import backups_of
from holdfast.operations.actions.restore import RestoreRequest, apply_restore, plan_restore
from holdfast.report.text.action_text import backups_json, backups_text


@click.command()
@takes_action("restore", is_reason_required=False)
@click.option(
    "--from",
    "backups",
    multiple=True,
    metavar="[VOLUME=]BACKUP",
    help="VolumeSnapshot, or id of a backup of method Job; with several volumes one for each.",
)
@click.option(
    "--set-aside",
    "detach",
    is_flag=True,
    help="Delete existing claims; keep their volumes with all data.",
)
@on_branch
def command(
    asked: AgentAction, backups: tuple[str, ...], branch: str | None, *, detach: bool
) -> ExitCode:
    """Fill an agent's volumes from a backup; without --from, list the backups.

    A claim is filled from a VolumeSnapshot when it is created. Without a claim, this declares
    storage.restoreFrom, and the next update creates it. An existing claim is deleted only with
    --set-aside, and only while no pod uses it: its volume is kept (reclaim policy Retain; the name
    is printed),
    and the next update creates the claim from the snapshot. With --branch the claim stays until the
    branch is merged: then run the command again without --branch. A backup of method Job is
    restored by the agent's restoreCommand at its next start.

    \b
    Examples:
      holdfast agent restore support-rag -s prod
      holdfast agent set support-rag scaling.replicas=0 -s prod --reason "restore"
      git commit -am "Stop support-rag" && holdfast up -s prod
      holdfast agent restore support-rag -s prod --set-aside \\
        --from support-rag-index-20261120030000 --reason "broken index"
      git commit -am "Restore Friday's index" && holdfast up -s prod
    """
    if not backups:
        found = backups_of(asked.context, asked.agent)
        text = (backups_json if asked.as_json else backups_text)(asked.name, found)
        click.echo(text, nl=False)
        return ExitCode.OK
    if not asked.reason:
        raise click.MissingParameter(param_hint="'--reason'", param_type="option")
    request = RestoreRequest(_wanted(backups), detach, branch, asked.message)
    plan = plan_restore(asked.context, asked.agent, request)
    return asked.execute_plan(plan, apply_restore, diff=plan.change.diff)


def _wanted(backups: Sequence[str]) -> str | dict[str, str]:
    parts = [each.partition("=") for each in backups]
    if len(parts) == 1 and not parts[0][1]:
        return parts[0][0]
    wanted = {volume: backup for volume, _, backup in parts}
    if len(wanted) != len(parts) or not all(volume and backup for volume, backup in wanted.items()):
        raise InputError(
            f"--from {' --from '.join(backups)}: expected one backup, or VOLUME=BACKUP for each",
            remedy="such as --from index=support-rag-index-20261120030000",
        )
    return wanted
