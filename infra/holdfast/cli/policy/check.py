"""`holdfast policy check`: judge what is declared, written, recorded or live."""

from functools import partial

import click

from holdfast.cli.exit_codes import exit_code_of
from holdfast.cli.options.report import report_options_for, write_all
from holdfast.cli.policy.request import source_options
from holdfast.operations.policy.check import CheckRequest, check_policy
from holdfast.operations.policy.model import PolicyReport
from holdfast.report.exchange.files import ReportRequest, check_files
from holdfast.report.exchange.formats import POLICY_FORMATS, write_policy
from holdfast.report.exchange.policy_notices import PAGES
from holdfast.report.text.policy_text import objects_text


@click.command("check")
@report_options_for(PAGES, POLICY_FORMATS)
@source_options
@click.option("--objects", is_flag=True, help="Also list every evaluated object.")
def command(
    wanted: ReportRequest,
    *,
    request: CheckRequest,
    objects: bool,
) -> int:
    """Evaluate policy on rendered manifests, on files, on a state or on a cluster.

    With -s alone, evaluates what the manifests render for the stack; this needs no engine and no
    cluster. Passes are counted; waived violations stay visible; results that depend on unknown
    values are reported as undetermined, never as passed.

    --proposed evaluates the manifests of another project folder by the rules, settings and waivers
    of this one, and runs nothing of it; rules that it weakens are mandatory violations.

    --cluster evaluates live objects of every deployer, except those that a controller made
    of an evaluated object, and those of Kubernetes in kube-system. Of Secrets it reads metadata
    only.

    \b
    Examples:
      holdfast policy check -s prod
      holdfast policy check -s prod -o sarif --output-file policy.sarif
      holdfast policy check --files deploy/ --profile staging
      holdfast policy check -s prod --state
      holdfast policy check -s prod --proposed ../change
      pulumi stack export > state.json
      holdfast policy check --state-file state.json
      holdfast policy check -s prod --cluster -n team-a -n team-b

    \b
    Exit codes: 0 nothing is refused   5 a mandatory rule is violated
      1 incomplete: not everything was read or decided   2 bad input
      6 no such stack
    """
    check_files(wanted)
    report = check_policy(request, is_exact=wanted.is_for_files)
    if objects:
        click.echo(objects_text(report), nl=False, err=wanted.output != "text")
    write_all(partial(_written, report, wanted.runbook), wanted)
    return exit_code_of(report)


def _written(report: PolicyReport, pages: str, chosen: str, *, colour: bool) -> str:
    return write_policy(report, chosen, report.known.rules, pages=pages, colour=colour)
