"""`holdfast sandbox up`: start a sandbox, or repair it."""

import time

import click

from holdfast.cli.sandbox.options import name_option, output_option, report_line
from holdfast.errors import InputError
from holdfast.report.text.sandbox_text import status_json, up_text
from holdfast.sandbox.control_plane import up as bring_up
from holdfast.sandbox.definitions import CrdOwner, crd_owners, install_definitions
from holdfast.sandbox.health import sandbox_status
from holdfast.sandbox.paths import SandboxPaths


def _controllers(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> tuple[CrdOwner, ...]:
    known = crd_owners()
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
@name_option
@click.option(
    "--with",
    "controllers",
    metavar="NAMES",
    callback=_controllers,
    help="Controllers whose custom resources it knows: names with commas between, or all.",
)
@click.option("--node", "with_node", is_flag=True, help="Run a real node, too (Linux, root).")
@output_option
def command(
    place: SandboxPaths, controllers: tuple[CrdOwner, ...], with_node: bool, form: str
) -> None:
    """Start a sandbox; restart programs of it that have ended.

    Does nothing if it is ready already. A sandbox that was stopped with `down --keep`, or
    by a restart of the machine, starts again with its data. An interrupted start leaves nothing
    running.

    With --with it also gets the definitions of these controllers' kinds, as their projects publish
    them ('make definitions' fetches them): objects are validated and kept, no controller acts. The
    name holdfast means the kinds of 'holdfast operator'.

    With --node pods really run: kubelet, containerd, kube-proxy, CoreDNS and NetworkPolicies, in
    namespaces of their own ('make nodetools' builds them). The host's network, mounts and settings
    stay as they are. The simulated nodes stay, for pods that tolerate kwok.x-k8s.io/node.

    \b
    Examples:
      holdfast sandbox up
      holdfast sandbox up --node
      holdfast sandbox up --with keda,gateway-api
      holdfast sandbox up --name team-a --with all -o json
    """
    started = time.monotonic()
    outcome = bring_up(place, report_line, with_node=with_node)
    if controllers:
        install_definitions(place, controllers, report_line)
    status = sandbox_status(place)
    click.echo(up_text(status, outcome, time.monotonic() - started), err=True)
    if form == "json":
        click.echo(status_json(status))
