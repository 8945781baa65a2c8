"""`holdfast history`: the updates of a stack or an agent; the commit of an object."""

import click

from holdfast.cli.options.output import OUTPUT
from holdfast.cli.options.stack import STACK, stack_option
from holdfast.errors import ExitCode, InputError
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.stack.names import stack_names
from holdfast.manifest.stack.stack_files import read_stack_file
from holdfast.operations.deploy.object_provenance import MOST_COMMITS, commit_of_object
from holdfast.operations.stack.context import StackContext, agent_named
from holdfast.operations.stack.project import find_project_root
from holdfast.operations.stack.update_history import update_records
from holdfast.report.documents.updates import updates_json
from holdfast.report.text.history_text import object_commit_json, object_commit_text, updates_text


@click.command()
@click.argument("name", type=STACK, default="", metavar="[AGENT|STACK]")
@stack_option("Stack, when an agent is named.", required=False)
@click.option(
    "--object",
    "live_object",
    default="",
    metavar="KIND/[NAMESPACE/]NAME",
    help="The commit whose render the live object is.",
)
@click.option("-n", "--limit", type=click.IntRange(min=1), help="Only the newest.")
@OUTPUT
def command(name: str, stack: str, live_object: str, limit: int | None, output: str) -> ExitCode:
    """Print the updates of a stack, or of an agent: commit, author, policy, outcome.

    Reads the engine's own history, so that a plain `pulumi up` is told as well, on any machine that
    has the stack's backend. What was refused before the engine began, and which agents an update
    changed, is known where it was run.

    With --object, says which recorded commit a live object is rendered from.

    \b
    Examples:
      holdfast history prod
      holdfast history support-rag -s prod -o json
      holdfast history -s prod --object Deployment/cx/support-rag

    \b
    Exit codes: 0 printed   1 no recorded commit renders the object   2 bad input
      6 no such stack
    """
    root = find_project_root()
    agent = name
    if not stack:
        if name not in stack_names(root):
            known = ", ".join(stack_names(root))
            remedy = f"name one of {known}; or an agent, with -s STACK"
            raise InputError(
                f"no stack {name!r}" if name else "no stack is named",
                remedy=remedy if known else f"there is no stacks/Pulumi.STACK.yaml in {root}",
                exit_code=ExitCode.NO_STACK if name else None,
            )
        stack, agent = name, ""
    else:
        read_stack_file(root, stack)
    if live_object:
        _ensure_alone(agent, limit)
        return _print_commit(StackContext(root, stack), live_object, output)
    records = update_records(root, stack)
    if agent:
        known_agents = {each for record in records for each in record.agents or ()}
        if agent not in known_agents:
            agent_named(agent, load_fleet(root, stack))
        # Where it is not known which agents were changed, this one may be among them.
        records = [each for each in records if each.agents is None or agent in each.agents]
    records = records[-limit:] if limit else records
    if output == "json":
        click.echo(updates_json(stack, records, agent), nl=False)
    else:
        click.echo(updates_text(records), nl=False)
    return ExitCode.OK


def _ensure_alone(agent: str, limit: int | None) -> None:
    """Refuse what has no effect beside --object."""
    if agent:
        raise InputError(
            "--object names the object: an agent beside it has no effect", remedy="leave it out"
        )
    if limit is not None:
        raise InputError("--limit has no effect with --object", remedy="leave it out")


def _print_commit(context: StackContext, named: str, output: str) -> ExitCode:
    found = commit_of_object(context, named)
    is_json = output == "json"
    text = object_commit_json(named, found) if is_json else object_commit_text(found)
    click.echo(text, nl=False)
    if found.update is not None:
        return ExitCode.OK
    click.echo(
        f"error: none of the last {MOST_COMMITS} recorded commits renders revision "
        f"{found.revision} of {found.ref}",
        err=True,
    )
    return ExitCode.ERROR
