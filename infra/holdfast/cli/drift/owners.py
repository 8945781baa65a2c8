"""`holdfast drift owners`: who owns which fields of what a stack declares. Wiring only."""

from pathlib import Path

import click

from holdfast.cli.options.cluster import KUBECONFIG
from holdfast.cli.options.groups import Group, receives
from holdfast.cli.options.output import LIST_OUTPUT, TERMINAL
from holdfast.cli.options.stack import stack_option
from holdfast.cli.options.words import AGENT
from holdfast.errors import ExitCode, InputError
from holdfast.operations.scan.owners import field_owners
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.stack.project import find_project_root
from holdfast.report.text.listed import listed
from holdfast.report.text.revert_text import owners_json, owners_text

_FILE = click.Path(path_type=Path)


def _request(
    stack: str, desired: Path | None, kubeconfig: Path | None, context: str | None
) -> ScanRequest:
    if bool(stack) == bool(desired):
        raise InputError("one of --stack and --desired is needed", remedy="see --help")
    root = find_project_root() if stack else None
    return ScanRequest(root, stack, desired, kubeconfig=kubeconfig, context=context)


_READ: Group = (
    _request,
    (
        stack_option("Stack whose objects are read.", required=False),
        click.option("--desired", type=_FILE, help="File or folder of plain objects."),
        KUBECONFIG,
        click.option("--context", help="Context of the kubeconfig; default its current."),
    ),
)


@click.command()
@click.argument("agent", type=AGENT, default="")
@receives(_READ)
@click.option("--shared", is_flag=True, help="Only objects that more than one manager applies.")
@LIST_OUTPUT
def command(
    asked: ScanRequest,
    *,
    agent: str,
    output: str,
    shared: bool,
) -> int:
    """Print which field manager owns which fields of the declared objects, of AGENT or of all.

    Managers that apply whole declarations are Holdfast and Pulumi, Flux and Argo CD. An object that
    more than one of them applies is shared: as soon as their declarations differ, each overwrites
    the other. Other managers are listed field by field. Clients choose their manager's name. Reads
    only.

    \b
    Examples:
      holdfast drift owners -s prod
      holdfast drift owners support-rag -s prod -o json
      holdfast drift owners -s prod --shared

    \b
    Exit codes: 0 printed   1 not everything could be read   2 bad input
    """
    found = field_owners(asked, agent, TERMINAL)
    found = found.only_shared() if shared else found
    text = listed(
        output,
        text=lambda: owners_text(found.objects),
        document=lambda: owners_json(found.objects),
        names=(str(each.ref) for each in found.objects),
    )
    click.echo(text, nl=False)
    for each in found.not_checked:
        click.echo(f"not checked: {each.scope}: {each.reason}", err=True)
    return ExitCode.ERROR if found.not_checked else ExitCode.OK
