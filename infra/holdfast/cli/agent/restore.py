"""`holdfast agent restore`: which backups there are, and a volume filled from one. Wiring."""

from collections.abc import Sequence

import click

from holdfast.cli.agent.action import NOTHING_TO_DO, AgentAction, takes_action
from holdfast.cli.agent.declared_actions import on_branch
from holdfast.errors import ExitCode, InputError
from holdfast.operations.actions.settings import declare, write
from holdfast.report.text.action_text import ActionStep
from holdfast.report.text.backup_list import backups_json, backups_text


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
    is_flag=True,
    help="Claims that are there make way: deleted, their volumes with all data kept.",
)
@on_branch
def restore(
    asked: AgentAction, backups: tuple[str, ...], branch: str | None, *, set_aside: bool
) -> ExitCode:
    """Fill an agent's volumes from a backup; without --from, list the backups that there are.

    A VolumeSnapshot fills a claim when it is made. Where there is none yet, this declares
    restoreFrom and the next update does the rest. A claim that is there is only touched with
    --set-aside, and only while no pod of the agent uses it: its volume is kept (reclaim policy
    Retain, its name is told), the claim goes, and the next update makes it from the snapshot. A
    backup of method Job is brought back by the agent's own restoreCommand at its next start.

    \b
    Examples:
      holdfast agent restore support-rag -s prod
      holdfast agent scale support-rag 0 -s prod --reason "restore"
      git commit -am "Stop support-rag" && holdfast up -s prod
      holdfast agent restore support-rag -s prod --from support-rag-index-20261120030000 \\
        --set-aside --reason "the index is broken since Friday"
      git commit -am "Friday's index" && holdfast up -s prod
    """
    from holdfast.operations.actions.claims import AgentClaims  # noqa: PLC0415  (--help needs no cluster)

    if not backups:
        found = AgentClaims.of(asked).backups()
        text = (backups_json if asked.as_json else backups_text)(asked.name, found)
        click.echo(text, nl=False)
        return ExitCode.OK
    if not asked.reason:
        raise click.MissingParameter(param_hint="'--reason'", param_type="option")
    wanted = _wanted(backups)
    declared = declare(asked.root, asked.stack, asked.agent.name, [(("restoreFrom",), wanted)])
    named = wanted if isinstance(wanted, str) else ", ".join(f"{k}={v}" for k, v in wanted.items())
    declaring = ActionStep("declare", None, f"restoreFrom: {named}")
    claims = AgentClaims.of(asked)
    making_way = claims.making_way_for(wanted, may_set_aside=set_aside)
    steps = [*making_way.steps, *([declaring] if declared.diff else [])]
    if not steps:
        click.echo(f"{asked.name} is declared like that already", err=True)
        asked.say(NOTHING_TO_DO, ())
        return ExitCode.OK
    if declared.diff and not asked.as_json:
        click.echo(declared.diff, nl=False)

    def do() -> None:
        claims.set_aside(making_way)
        if declared.diff:
            message = f"Restore {asked.name} on {asked.stack}: {asked.reason}"
            write(asked.root, declared, branch, message)

    return asked.carry_out(steps, f"restore from {named}", do)


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
