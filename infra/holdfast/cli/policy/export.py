"""`holdfast policy export`: the rules as policies that a cluster judges every client by."""

from pathlib import Path

import click
from holdfast_policies.admission.validating import Mode
from holdfast_policies.model.rule import PROFILES, Environment

from holdfast.cli.options.stack import stack_option
from holdfast.errors import InputError
from holdfast.kube.text import yaml_documents
from holdfast.operations.describe.render import write_files
from holdfast.operations.policy.export import (
    TARGETS,
    export_policies,
    plan_of_profile,
    plan_of_stack,
)
from holdfast.operations.policy.own_rules import rules_here
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root
from holdfast.report.documents.json_text import json_text


@click.command("export")
@click.option(
    "-t",
    "--target",
    type=click.Choice(list(TARGETS)),
    default="vap",
    show_default=True,
    help="Admission controller: the API server, Kyverno or Gatekeeper.",
)
@stack_option("Levels, parameters, waivers and namespaces of this stack.", required=False)
@click.option(
    "--profile",
    type=click.Choice(PROFILES),
    help="Profile, without -s; default prod.",
)
@click.option(
    "--mode",
    type=click.Choice([str(mode) for mode in Mode]),
    help="Override the mode of the stack.",
)
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(["yaml", "json", "dir"]),
    default="yaml",
    show_default=True,
    help="One YAML text, one JSON List, or a file an object in the folder --to.",
)
@click.option(
    "--to", "folder", type=click.Path(path_type=Path, file_okay=False), help="Folder for -o dir."
)
@click.option("--force", is_flag=True, help="Write into a folder that holds something already.")
def command(  # noqa: PLR0913 - one parameter an option
    target: str,
    stack: str,
    profile: str | None,
    mode: str | None,
    form: str,
    folder: Path | None,
    *,
    force: bool,
) -> None:
    """Write the rules as admission policies that the cluster enforces on every client.

    \b
    vap         ValidatingAdmissionPolicies and a kind for their parameters
    map         MutatingAdmissionPolicies of the rules at level remediate
                (Kubernetes 1.36 or newer); apply those of vap as well
    kyverno     ValidatingPolicies of Kyverno 1.17 or newer
    gatekeeper  ConstraintTemplates in CEL, and constraints, of Gatekeeper 3.18

    Mandatory rules deny, advisory rules warn; docs/admission.md lists the rules that CEL cannot
    express, and the differences. A stack deploys form vap itself with the setting
    holdfast:policy: {admission: {}}.

    Apply the first file of -o dir (definitions or templates), then the folder.

    \b
    Examples:
      holdfast policy export -s prod --mode audit -o dir --to policies
      kubectl apply --server-side -f policies/00-*.yaml
      kubectl apply --server-side -f policies
      holdfast policy export --target kyverno --profile prod | kubectl apply -f -
    """
    if (folder is None) == (form == "dir") or (force and form != "dir"):
        raise InputError(
            "-o dir needs a folder, and --to and --force have no effect without it",
            remedy="name the folder with --to, or remove --to and --force",
        )
    if stack and profile is not None:
        raise InputError(
            "--profile has no effect with --stack", remedy="set holdfast:policy: {profile: ...}"
        )
    if stack:
        plan = plan_of_stack(StackContext(find_project_root(), stack))
    else:
        plan = plan_of_profile(Environment(profile or "prod"), rules_here())
    exported = export_policies(plan, target, mode)
    if folder is not None:
        write_files(exported.files, folder, is_forced=force)
    elif form == "yaml":
        click.echo(yaml_documents(exported.objects), nl=False)
    else:
        listed = {"apiVersion": "v1", "kind": "List", "items": list(exported.objects)}
        click.echo(json_text(listed), nl=False)
    click.echo(
        f"{len(exported.objects)} objects hold {exported.rules} rules; "
        f"{exported.not_in_cluster} rules are evaluated at preview only",
        err=True,
    )
