"""`holdfast policy check`: judge what is declared, written, recorded or live."""

from datetime import UTC, datetime
from functools import partial

import click
from holdfast_policies.table import RULES

from holdfast.adapters.clock import utc_now
from holdfast.cli.exit_codes import exit_code_of
from holdfast.cli.options.report import ReportRequest, check_files, report_options_for, write_all
from holdfast.cli.policy.request import source_options
from holdfast.operations.policy.check import CheckRequest, check_policy
from holdfast.operations.policy.model import PolicyReport
from holdfast.report.exchange.formats import POLICY_FORMATS, write_policy
from holdfast.report.exchange.policy_notices import PAGES
from holdfast.report.text.policy_text import objects_text


@click.command("check")
@report_options_for(PAGES, POLICY_FORMATS)
@source_options
@click.option("--objects", is_flag=True, help="Also list every object that was judged.")
def command(
    wanted: ReportRequest,
    *,
    request: CheckRequest,
    objects: bool,
) -> int:
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
      holdfast policy check --cluster --all-namespaces --objects
      holdfast policy check -s prod --cluster -n team-a -n team-b

    \b
    Exit codes: 0 nothing is refused   5 a mandatory rule is broken
      1 incomplete: something could not be read or decided   2 bad input   6 no such stack
    """
    check_files(wanted)
    today = datetime.now(UTC).date()
    report = check_policy(request, today, utc_now(), is_exact=wanted.is_for_files)
    if objects:
        click.echo(objects_text(report), nl=False, err=wanted.output != "text")
    write_all(partial(_written, report, wanted.runbook), wanted)
    return exit_code_of(report)


def _written(report: PolicyReport, pages: str, chosen: str, *, colour: bool) -> str:
    return write_policy(report, chosen, RULES, pages=pages, colour=colour)
