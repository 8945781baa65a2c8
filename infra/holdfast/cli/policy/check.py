"""`holdfast policy check`: judge what is declared, written, recorded or live. Wiring only."""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click
from holdfast_policies.rule import PROFILES
from holdfast_policies.table import RULES

from holdfast.adapters.clock import utc_now
from holdfast.cli.options.report import ReportRequest, check_files, report_options_for, write_all
from holdfast.cli.policy.request import CheckRequest, source_options
from holdfast.errors import ExitCode
from holdfast.operations.policy.evaluate import verdicts, waiver_findings
from holdfast.operations.policy.model import PolicyReport
from holdfast.operations.policy.sources import profile_by
from holdfast.report.exchange.policy_formats import POLICY_FORMATS, write_policy
from holdfast.report.exchange.policy_notices import PAGES
from holdfast.report.text.policy_text import objects_text


@click.command("check")
@report_options_for(PAGES, POLICY_FORMATS)
@source_options
@click.option("--profile", type=click.Choice(PROFILES), help="Default: the stack's; without, prod.")
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="JSON file of levels and parameters, over everything else.",
)
@click.option("--objects", is_flag=True, help="Also list every object that was judged.")
def command(
    wanted: ReportRequest,
    *,
    request: CheckRequest,
    profile: str | None,
    config: Path | None,
    objects: bool,
) -> ExitCode:
    """Judge objects by the rules of the policy pack: of manifests, files, a state or a cluster.

    Without any other source, what the manifests stand for on the stack is judged: no engine and no
    cluster is needed. Passes are counted; what is waived stays visible; what cannot be told because
    a value is not known is told apart, and is no pass.

    --live also judges what others deployed. What a controller made of an object that is judged
    itself is left out, as is what Kubernetes runs itself in kube-system. Of Secrets nothing is
    read but which of them hold a token without an end.

    \b
    Examples:
      holdfast policy check -s prod
      holdfast policy check -s prod -o sarif --output-file policy.sarif
      holdfast policy check --files deploy/ --profile staging
      holdfast policy check -s prod --state
      pulumi stack export > state.json; holdfast policy check --state-file state.json
      holdfast policy check --live --all-namespaces --objects
      holdfast policy check -s prod --live -n team-a -n team-b

    \b
    Exit codes: 0 nothing is refused   5 a mandatory rule is broken
      1 incomplete: something could not be read or decided   2 bad input   6 no such stack
    """
    check_files(wanted)
    chosen = profile_by(request.policy(datetime.now(UTC).date()), profile, config)
    gathered = request.gather()
    findings, judged = verdicts(gathered.judged, chosen, is_exact=wanted.is_for_files)
    told = tuple(waiver_findings(gathered.judged, findings, chosen.waivers))
    report = PolicyReport(
        title=f"Policy of {request.words}",
        identifier=request.identifier,
        profile=str(chosen.environment),
        findings=(*findings, *told),
        objects=judged,
        not_checked=gathered.not_checked,
        remarks=gathered.remarks,
        observed_at=utc_now(),
    )
    if objects:
        click.echo(objects_text(report), nl=False, err=wanted.output != "text")
    write_all(partial(_written, report, wanted.runbook), wanted)
    return report.exit_code


def _written(report: PolicyReport, pages: str, chosen: str, *, colour: bool) -> str:
    return write_policy(report, chosen, RULES, pages=pages, colour=colour)
