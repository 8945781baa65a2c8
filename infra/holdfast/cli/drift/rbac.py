"""`holdfast drift rbac`: the rights that a scan of a stack needs, and no more."""

from dataclasses import replace

import click
from click.core import ParameterSource

from holdfast.cli.options.stack import stack_option
from holdfast.controllers.gitops.stack_report import status_writer_rbac
from holdfast.drift.reader_role import Reader
from holdfast.errors import InputError
from holdfast.kube.syntax import fault_in_label_name
from holdfast.kube.text import yaml_documents
from holdfast.operations.describe.reader_rights import RightsRequest, reader_rights
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root


@click.command()
@stack_option("Stack to scan.")
@click.option(
    "--namespaced",
    "is_namespaced",
    is_flag=True,
    help="A role in each namespace of the stack; default one role for the whole cluster.",
)
@click.option("--probes", is_flag=True, help="Add what `holdfast drift --probes` reads.")
@click.option(
    "--contents",
    is_flag=True,
    help="With get on each Secret and ConfigMap that pods mount, by name: for --probe-contents.",
)
@click.option(
    "--loop",
    "is_loop",
    is_flag=True,
    help="Add what `gitops run` and `suspend` write: AgentStack and Events.",
)
@click.option("--user", default="", help="User who scans. Default: a service account.")
@click.option(
    "--service-account",
    metavar="NAMESPACE/NAME",
    default="holdfast/holdfast-drift",
    show_default=True,
    help="Service account that scans; it is declared too, its namespace is not.",
)
def command(
    stack: str,
    user: str,
    service_account: str,
    **asked: bool,
) -> None:
    """Print the role and binding with which `holdfast drift` can read a stack.

    The role covers exactly the kinds that the stack declares and those in which the scan looks for
    unmanaged objects, with get, list and watch only, and no Secrets except those that --contents
    adds. The command reads the cluster only if the stack declares kinds that are not Kubernetes'
    own. --loop adds the right to write the AgentStack in which `holdfast gitops run` reports the
    state of the stack; to deploy, the loop also needs the rights of `pulumi up`, which are not
    printed here.

    \b
    Examples:
      holdfast drift rbac -s prod | kubectl apply --server-side -f -
      holdfast drift rbac -s prod --user drift@example.com
      holdfast drift rbac -s prod --probes --contents
      holdfast drift rbac -s prod --loop --service-account ops/holdfast-reconcile
      holdfast drift rbac -s prod --namespaced --service-account ops/drift-reader
    """
    given = click.get_current_context().get_parameter_source("service_account")
    if user and given is not ParameterSource.DEFAULT:
        raise InputError(
            "--user and --service-account exclude each other", remedy="name the one that scans"
        )
    namespace, _, account = service_account.partition("/")
    faults = [fault_in_label_name(each) for each in (namespace, account)]
    if not user and any(faults):
        raise InputError(
            f"--service-account {service_account!r} {next(filter(None, faults))}",
            remedy="write NAMESPACE/NAME",
        )
    name = stack.rpartition("/")[2]
    reader = Reader(f"holdfast-drift-{name}", user, (namespace, account))
    request = RightsRequest(reader, asked["is_namespaced"], asked["probes"], asked["contents"])
    objects = reader_rights(StackContext(find_project_root(), stack), request)
    if asked["is_loop"]:
        objects += status_writer_rbac(stack, replace(reader, name=f"holdfast-reconcile-{name}"))
    click.echo(yaml_documents(objects), nl=False)
