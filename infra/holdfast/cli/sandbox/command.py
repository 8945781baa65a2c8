"""The verbs of `holdfast sandbox`."""

import sys
import time

import click

from holdfast.cli.sandbox.status import list_json, list_text, status_json, status_text, up_text
from holdfast.errors import ExitCode, InputError, SandboxError
from holdfast.sandbox.definitions import Definer, definers, install_definitions
from holdfast.sandbox.health import sandbox_status
from holdfast.sandbox.logs import LOG_NAMES, follow, last_lines, log_files
from holdfast.sandbox.place import (
    DEFAULT_NAME,
    USERS,
    SandboxPlace,
    existing_places,
    sandbox_place,
)

DEFAULT_LINES = 40

_name = click.option(
    "--name",
    "place",
    default=DEFAULT_NAME,
    show_default=True,
    metavar="NAME",
    callback=lambda _context, _parameter, value: sandbox_place(value),
    help="Which sandbox; several run side by side.",
)
_output = click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Text for people or JSON for programs.",
)


def _controllers(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> tuple[Definer, ...]:
    known = definers()
    if value in (None, "all"):
        return known if value else ()
    names = [name.strip() for name in str(value).split(",")]
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        raise InputError(
            f"--with: {unknown!r} has no definitions",
            remedy=f"take some of {', '.join(known)}, or all",
        )
    return tuple(name for name in known if name in names)


@click.command()
@_name
@click.option(
    "--with",
    "controllers",
    metavar="NAMES",
    callback=_controllers,
    help="Controllers whose custom resources it knows: names with commas between, or all.",
)
@_output
def up(place: SandboxPlace, controllers: tuple[Definer, ...], form: str) -> None:
    """Start a sandbox; repair it when a program of it has ended.

    Does nothing when it is fit for use already. A sandbox that was stopped with `down --keep`, or
    by a restart of the machine, starts again with its data. An interrupted start leaves nothing
    running.

    With --with it also gets the definitions of these controllers' kinds, as their projects publish
    them ('make definitions' fetches them): objects are validated and kept, no controller acts. The
    name holdfast stands for agents as resources: what 'holdfast operator' watches.

    \b
    Examples:
      holdfast sandbox up
      holdfast sandbox up --with keda,gateway-api
      holdfast sandbox up --name team-a --with all -o json
    """
    # Certificates are slow to load, and no other verb makes any.
    from holdfast.sandbox.control_plane import up as bring_up  # noqa: PLC0415

    started = time.monotonic()
    outcome = bring_up(place, _report)
    if controllers:
        install_definitions(place, controllers, _report)
    status = sandbox_status(place)
    click.echo(up_text(status, outcome, time.monotonic() - started), err=True)
    if form == "json":
        click.echo(status_json(status))


@click.command()
@_name
@click.option("--keep", is_flag=True, help="Keep the cluster's objects for the next `up`.")
def down(place: SandboxPlace, keep: bool) -> None:
    """Stop a sandbox and delete its cluster, logs and kubeconfigs.

    Ends exactly the processes that `up` started, whatever has their numbers by now. With --keep the
    folder stays, and the next `up` goes on with the same objects, users and audit log.

    \b
    Examples:
      holdfast sandbox down
      holdfast sandbox down --name team-a --keep
    """
    # Certificates are slow to load, and no other verb makes any.
    from holdfast.sandbox.control_plane import down as bring_down  # noqa: PLC0415

    outcome = bring_down(place, _report, keeps_data=keep)
    click.echo(f"sandbox {place.name}: {outcome}", err=True)


@click.command()
@_name
@_output
def status(place: SandboxPlace, form: str) -> int:
    """Show whether a sandbox is fit for use, its programs and the memory they take.

    Ends with 1 unless it is running and ready, and says what to do.

    \b
    Examples:
      holdfast sandbox status
      holdfast sandbox status -o json
    """
    found = sandbox_status(place)
    click.echo(status_json(found) if form == "json" else status_text(found))
    if found.is_healthy:
        return ExitCode.OK
    click.echo(f"error: {found.reason}", err=True)
    return ExitCode.ERROR


@click.command("list")
@_output
def list_sandboxes(form: str) -> None:
    """List all sandboxes, running or not.

    \b
    Example:
      holdfast sandbox list
    """
    statuses = [sandbox_status(place) for place in existing_places()]
    if form == "json":
        click.echo(list_json(statuses))
    elif statuses:
        click.echo(list_text(statuses))
    else:
        click.echo("there is no sandbox; 'holdfast sandbox up' makes one", err=True)


@click.command()
@click.argument("program", type=click.Choice(LOG_NAMES), required=False, metavar="[PROGRAM]")
@_name
@click.option(
    "-n",
    "--lines",
    type=click.IntRange(min=0),
    default=DEFAULT_LINES,
    show_default=True,
    help="How many of the last lines of each log.",
)
@click.option("-f", "--follow", "is_following", is_flag=True, help="Go on until interrupted.")
def logs(program: str | None, place: SandboxPlace, lines: int, is_following: bool) -> None:
    """Print the log of a program, or of all of them; `audit` is who changed what.

    PROGRAM is etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kwok or audit.

    \b
    Examples:
      holdfast sandbox logs kube-apiserver
      holdfast sandbox logs audit --follow
    """
    _require(place)
    files = log_files(place, program)
    width = 0 if program else max(len(name) for name in files)

    def show(name: str, line: str) -> None:
        click.echo(f"{name:<{width}} | {_shown(line)}" if width else _shown(line))

    news = follow(files) if is_following else iter(())
    for name, file in files.items():
        for line in last_lines(file, lines):
            show(name, line)
    for name, line in news:
        show(name, line)


@click.command()
@_name
@click.option(
    "--user", type=click.Choice(list(USERS)), default="admin", show_default=True, help="As whom."
)
def kubeconfig(place: SandboxPlace, user: str) -> None:
    """Print the path of a kubeconfig.

    \b
    Examples:
      export KUBECONFIG=$(holdfast sandbox kubeconfig)
      kubectl --kubeconfig $(holdfast sandbox kubeconfig --user alice) get pods -A
    """
    _require(place)
    click.echo(place.kubeconfig(user))


def _require(place: SandboxPlace) -> None:
    if not place.record.exists():
        option = "" if place.name == DEFAULT_NAME else f" --name {place.name}"
        raise SandboxError(
            f"there is no sandbox {place.name}", remedy=f"run 'holdfast sandbox up{option}'"
        )


def _report(line: str) -> None:
    click.echo(line, err=True)


def _shown(line: str) -> str:
    """A line as it is for programs; on a terminal nothing in it may steer the terminal."""
    if not sys.stdout.isatty():
        return line
    return "".join(c if c.isprintable() or c == "\t" else ascii(c)[1:-1] for c in line)
