"""`holdfast policy export`: the rules as policies that a cluster judges every client by."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from holdfast_policies.admission.gatekeeper import gatekeeper_constraints
from holdfast_policies.admission.kyverno import kyverno_policies
from holdfast_policies.admission.parameters import in_cluster
from holdfast_policies.admission.validating import Mode, bundle
from holdfast_policies.profile import Profile, profile_of
from holdfast_policies.rule import PROFILES

from holdfast.convert.files.files import ExportedFile
from holdfast.errors import ExitCode, InputError
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.stack.admission import AdmissionSettings
from holdfast.operations.describe.render_files import write_files
from holdfast.operations.stack.project import find_project_root
from holdfast.render.objects.admission import AdmissionPlan, judged_by, waivers_of
from holdfast.render.plan.declared import plan_fleet
from holdfast.render.plan.marks import Origin
from holdfast.report.documents.json_text import json_text
from holdfast.report.text.yaml_text import yaml_documents

_TARGETS: dict[str, Callable[..., list[dict[str, Any]]]] = {
    "vap": bundle,
    "kyverno": kyverno_policies,
    "gatekeeper": gatekeeper_constraints,
}


@click.command("export")
@click.option(
    "-t",
    "--target",
    type=click.Choice(list(_TARGETS)),
    default="vap",
    show_default=True,
    help="What judges in the cluster: the API server, Kyverno or Gatekeeper.",
)
@click.option("-s", "--stack", help="Levels, parameters, waivers and namespaces of this stack.")
@click.option("--profile", type=click.Choice(PROFILES), help="Without a stack.")
@click.option(
    "--mode",
    type=click.Choice([str(mode) for mode in Mode]),
    help="Instead of what the stack says: enforce, warn or audit.",
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
    stack: str | None,
    profile: str | None,
    mode: str | None,
    form: str,
    folder: Path | None,
    *,
    force: bool,
) -> ExitCode:
    """Write the rules as policies that the cluster judges every client by, kubectl as well.

    \b
    vap         ValidatingAdmissionPolicies with a kind for their parameters; needs no add-on
    kyverno     ValidatingPolicies of Kyverno 1.17 or newer
    gatekeeper  ConstraintTemplates in CEL, and constraints, of Gatekeeper 3.18 or newer

    Mandatory rules refuse, advisory ones warn; docs/admission.md says which rules CEL cannot say,
    and where the cluster judges otherwise. A stack deploys the first form by itself with the
    setting holdfast:policy: {admission: {}}.

    A kind has to be known before an object of it: apply the first file of -o dir, the definition
    (or Gatekeeper's templates), and then the folder.

    \b
    Examples:
      holdfast policy export -s prod --mode audit -o dir --to policies
      kubectl apply --server-side -f policies/00-*.yaml
      kubectl wait --for=condition=Established crd/policyparameters.policy.holdfast.dev
      kubectl apply --server-side -f policies
      holdfast policy export --target kyverno --profile prod | kubectl apply -f -
    """
    if (folder is None) == (form == "dir") or (force and form != "dir"):
        raise InputError(
            "-o dir needs a folder, and --to and --force have no effect without it",
            remedy="name the folder with --to, or remove --to and --force",
        )
    plan = _plan(stack, profile)
    scope, chosen = plan.scope, Mode(mode or plan.settings.mode)
    objects = _TARGETS[target](plan.profile, scope, plan.waivers, chosen)
    _write(objects, form, folder, is_forced=force)
    click.echo(_summary(plan.profile, objects), err=True)
    return ExitCode.OK


def _plan(stack: str | None, profile: str | None) -> AdmissionPlan:
    if stack is not None and profile is not None:
        raise InputError(
            "--profile has no effect with --stack", remedy="set holdfast:policy: {profile: ...}"
        )
    if stack is None:
        return _plan_of_profile(profile or "prod")
    fleet = load_fleet(find_project_root(), stack)
    declared = plan_fleet(fleet, stack)
    if declared.admission is not None:
        return declared.admission
    policy = fleet.environment.policy
    return AdmissionPlan(
        stack.rpartition("/")[2],
        judged_by(fleet.environment.profile_for(stack), policy.rules),
        AdmissionSettings(),
        Origin(stack),
        tuple(sorted(declared.namespaces)),
        waivers_of(fleet),
    )


def _plan_of_profile(profile: str) -> AdmissionPlan:
    settings = AdmissionSettings(scope="cluster")
    return AdmissionPlan(profile, profile_of(profile), settings, Origin(profile))


def _write(
    objects: Sequence[dict[str, Any]], form: str, folder: Path | None, *, is_forced: bool
) -> None:
    if folder is not None:
        files = [
            ExportedFile(
                f"{index:02}-{item['kind'].lower()}-{item['metadata']['name']}.yaml", (item,)
            )
            for index, item in enumerate(objects)
        ]
        write_files(files, folder, is_forced=is_forced)
    elif form == "yaml":
        click.echo(yaml_documents(objects), nl=False)
    else:
        listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        click.echo(json_text(listed), nl=False)


def _summary(profile: Profile, objects: Sequence[dict[str, Any]]) -> str:
    rules = len(in_cluster(profile))
    told = [each.rule for each in profile.rulings if each.rule.not_in_cluster]
    return (
        f"{len(objects)} objects hold {rules} rules; {len(told)} rules are judged at preview only"
    )
