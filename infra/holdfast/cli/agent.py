"""`holdfast agent`: named actions on one agent, shown before, in the history after. Wiring only."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from holdfast.cli.agent_declaration import declare, write
from holdfast.cli.agreement import agree
from holdfast.cli.explain import agent_named
from holdfast.cli.project import find_project_root
from holdfast.cli.update_facts import day_two_record, journal_of
from holdfast.engine.baseline import state_files
from holdfast.engine.stack_lock import stack_lock
from holdfast.engine.update_record import DONE, NOT_DONE
from holdfast.errors import ExitCode, HoldfastError, InputError
from holdfast.manifest.fleet import DeclaredAgent
from holdfast.manifest.loader import load_fleet

F = TypeVar("F", bound=Callable[..., Any])


@click.group()
def command() -> None:
    """Do one named thing to one agent.

    restart and backup act on the cluster at once, under the stack's lock, and change nothing that
    is declared. scale, fail-over and restore change what is declared: the stack's file, which wins
    over the agent's manifest; the next update brings it to the cluster.

    \b
    Examples:
      holdfast agent restart support-rag -s prod --reason "stuck connections"
      holdfast agent restart support-rag -s prod --node worker-3 --reason "the node is going"
      holdfast agent backup support-rag -s prod --reason "before the migration"
      holdfast agent scale support-rag 4 -s prod --reason "the sale" --branch scale-for-sale
      holdfast agent fail-over support-rag -s prod --reason "the primary answers wrongly"
    """


def _common(function: F) -> F:
    for option in (
        click.argument("name"),
        click.option("-s", "--stack", required=True, help="Stack that the agent runs on."),
        click.option("--reason", required=True, help="Why, for the history."),
    ):
        function = option(function)
    return function


def _declaring(function: F) -> F:
    branch = click.option(
        "--branch", metavar="NAME", help="Commit on a new branch; default: change the file here."
    )
    return branch(function)


@command.command()
@_common
@click.option("--node", default="", help="Only pods on this node: they go elsewhere.")
@click.option("--yes", is_flag=True, help="Agree to what is shown.")
def restart(name: str, stack: str, reason: str, node: str, *, yes: bool) -> ExitCode:
    """Make the pods of an agent anew, one after another, each time waiting until it is healthy.

    By eviction: disruption budgets hold. With --node those on one node alone, which is how an agent
    leaves a node that is about to go.
    """
    from holdfast.cli.agent_pods import AgentPods  # noqa: PLC0415  (the others need no cluster)

    root, agent = _agent(name, stack)
    pods = AgentPods.of(root, stack, name)
    found = pods.find(agent.namespace, node)
    if not found:
        where = f" on node {node}" if node else ""
        raise InputError(f"{name} has no pods{where}", remedy=f"see `holdfast drift -s {stack}`")
    for pod in found:
        click.echo(
            f"would replace Pod {pod['metadata']['namespace']}/{pod['metadata']['name']}", err=True
        )
    agree(f"Replace {len(found)} pods of {name}?", is_agreed=yes)
    said = _Said(root, stack, "restart", reason, name)
    what = f"{len(found)} pods{f' of node {node}' if node else ''}"
    with said.told(what), stack_lock(state_files(root, stack)):
        pods.replace(found)
    return ExitCode.OK


@command.command()
@_common
@click.option("--yes", is_flag=True, help="Agree to what is shown.")
def backup(name: str, stack: str, reason: str, *, yes: bool) -> ExitCode:
    """Back an agent's volumes up now: a Job made of its backup schedule, waited for."""
    from holdfast.cli.agent_pods import AgentPods, back_up_now  # noqa: PLC0415  (as above)

    root, agent = _agent(name, stack)
    stamp = datetime.now(UTC).strftime("%Y%m%d%H%M%S")
    click.echo(f"would create Job {agent.namespace}/{name}-backup-{stamp}", err=True)
    agree(f"Back up {name}?", is_agreed=yes)
    with _Said(root, stack, "backup", reason, name).told(f"Job {name}-backup-{stamp}"):
        job = back_up_now(AgentPods.of(root, stack, name), agent.namespace, stamp)
    click.echo(f"done: Job {agent.namespace}/{job}", err=True)
    return ExitCode.OK


@command.command()
@_common
@click.argument("replicas", type=click.IntRange(min=0))
@_declaring
def scale(name: str, stack: str, reason: str, replicas: int, branch: str | None) -> ExitCode:
    """Declare how many REPLICAS of an agent run on a stack; of an autoscaled one, the fewest."""
    _, agent = _agent(name, stack)
    field = "minReplicas" if agent.spec.scaling.is_automatic else "replicas"
    return _declare(name, stack, ("scale", reason, branch), ("scaling", field), replicas)


@command.command("fail-over")
@_common
@_declaring
def fail_over(name: str, stack: str, reason: str, branch: str | None) -> ExitCode:
    """Declare that the other one of primary and standby serves (availability.standby)."""
    _, agent = _agent(name, stack)
    if not agent.spec.availability.standby:
        raise InputError(
            f"{name} has no standby", remedy="declare spec.availability.standby: true first"
        )
    other = "primary" if agent.spec.availability.active == "standby" else "standby"
    return _declare(name, stack, ("fail-over", reason, branch), ("availability", "active"), other)


@command.command()
@_common
@click.argument("backup_name", metavar="SNAPSHOT|BACKUP")
@_declaring
def restore(name: str, stack: str, reason: str, backup_name: str, branch: str | None) -> ExitCode:
    """Declare what fills the agent's new volumes: a VolumeSnapshot, or the id of a backup."""
    return _declare(name, stack, ("restore", reason, branch), ("restoreFrom",), backup_name)


def _agent(name: str, stack: str) -> tuple[Path, DeclaredAgent]:
    root = find_project_root()
    return root, agent_named(name, load_fleet(root, stack))


def _declare(
    name: str,
    stack: str,
    said: tuple[str, str, str | None],
    path: Sequence[str],
    value: Any,  # noqa: ANN401  (JSON)
) -> ExitCode:
    action, reason, branch = said
    root, _ = _agent(name, stack)
    declared = declare(root, stack, name, path, value)
    if not declared.diff:
        click.echo(f"{name} is declared like that already", err=True)
        return ExitCode.OK
    click.echo(declared.diff, nl=False)
    message = f"{action.capitalize()} {name} on {stack}: {reason}"
    with _Said(root, stack, action, reason, name).told(f"declared {'.'.join(path)}: {value}"):
        write(root, declared, branch, message)
    return ExitCode.OK


@dataclass(frozen=True)
class _Said:
    """An action, as the history tells it."""

    root: Path
    stack: str
    action: str
    reason: str
    agent: str

    @contextmanager
    def told(self, what: str) -> Iterator[None]:
        """Record what is done inside, or why it was not."""
        try:
            yield
        except HoldfastError as error:
            self._add(NOT_DONE, f"{what}: {error.message}")
            raise
        self._add(DONE, what)

    def _add(self, outcome: str, detail: str) -> None:
        record = day_two_record(self.action, self.stack, self.reason)
        told = msgspec.structs.replace(record, agents=(self.agent,), detail=detail, outcome=outcome)
        journal_of(self.root, self.stack).add(told)
