"""`holdfast policy check`: judge what is declared, written, recorded or live. Wiring."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import click
from holdfast_policies.profile import PolicyConfigError, Profile, load_config, profile_of
from holdfast_policies.table import RULES
from holdfast_policies.waivers import Waiver, WaiverFileError, Waivers, read_waivers

from holdfast.cli.policy_findings import verdicts
from holdfast.cli.policy_sources import (
    Gathered,
    StackPolicy,
    objects_of_files,
    policy_of,
    rendered_objects,
)
from holdfast.cli.project import find_project_root
from holdfast.cli.report_output import ReportRequest, check_files, report_options_for, write_all
from holdfast.cli.stack_state import StackState, open_state
from holdfast.cli.waivers import WAIVERS_FILE
from holdfast.errors import ExitCode, InputError
from holdfast.report.formats import write_policy
from holdfast.report.policy_notices import PAGES
from holdfast.report.policy_report import PolicyReport
from holdfast.report.policy_text import objects_text

PROFILES = ("dev", "staging", "prod")


@click.command("check")
@report_options_for(PAGES)
@click.option("-s", "--stack", default="", help="Stack: its objects, profile, rules and waivers.")
@click.option(
    "--files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="YAML or JSON file or folder to judge instead; repeatable.",
)
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
    stack: str,
    files: tuple[Path, ...],
    profile: str | None,
    config: Path | None,
    objects: bool,
) -> ExitCode:
    """Judge objects by the rules of the policy pack: of manifests, files, a state or a cluster.

    Without any other source, what the manifests stand for on the stack is judged: no engine and no
    cluster is needed. Passes are counted; what is waived stays visible; what cannot be told because
    a value is not known is told apart, and is no pass.

    \b
    Examples:
      holdfast policy check -s prod
      holdfast policy check -s prod -o sarif --output-file policy.sarif
      holdfast policy check --files deploy/ --profile staging

    \b
    Exit codes: 0 nothing is refused   5 a mandatory rule is broken
      1 incomplete: something could not be read or decided   2 bad input   6 no such stack
    """
    check_files(wanted)
    request = CheckRequest(stack, files)
    policy = request.policy()
    chosen = _profile(policy, profile, config)
    gathered = request.gather()
    findings, judged = verdicts(gathered.judged, chosen, is_exact=wanted.is_for_files)
    report = PolicyReport(
        title=f"Policy of {request.scope}",
        identifier=f"policy/{request.scope_name}",
        profile=str(chosen.environment),
        findings=findings,
        objects=judged,
        not_checked=gathered.not_checked,
        remarks=gathered.remarks,
    )
    if objects:
        click.echo(objects_text(report), nl=False, err=wanted.output != "text")
    write_all(partial(_written, report, wanted.runbook), wanted)
    return report.exit_code


def _written(report: PolicyReport, pages: str, chosen: str, *, colour: bool) -> str:
    return write_policy(report, chosen, RULES, pages=pages, colour=colour)


@dataclass(frozen=True)
class CheckRequest:
    """What is to be judged."""

    stack: str = ""
    files: tuple[Path, ...] = ()

    @property
    def scope(self) -> str:
        """What is judged, in words."""
        if self.files:
            return f"files {', '.join(map(str, self.files))}"
        return f"stack {self.stack}"

    @property
    def scope_name(self) -> str:
        """The same as a stable name."""
        return self.stack or "files"

    @property
    def state(self) -> StackState:
        """The stack."""
        return open_state(self.stack)

    def policy(self) -> StackPolicy:
        """How it is judged: as the stack says; without one as production, by the project's waivers.

        Raises:
            InputError: neither a stack nor another source is named.
        """
        today = datetime.now(UTC).date()
        if self.stack:
            return policy_of(self.state, today)
        if not self.files:
            raise InputError(
                "nothing to judge is named",
                remedy="add -s STACK, --files PATH, --state-file FILE or --live",
            )
        return StackPolicy("prod", today, {}, _compiled_waivers())

    def gather(self) -> Gathered:
        """The objects."""
        if self.files:
            return objects_of_files(self.files)
        return rendered_objects(self.state)


def _compiled_waivers() -> tuple[Waiver, ...]:
    """Waivers of the project around the working directory; none where there is no project.

    Raises:
        InputError: the compiled file is not what Holdfast writes.
    """
    try:
        return read_waivers(find_project_root() / WAIVERS_FILE)
    except WaiverFileError as error:
        raise InputError(str(error)) from error
    except InputError:
        return ()


def _profile(policy: StackPolicy, named: str | None, config: Path | None) -> Profile:
    rules: Mapping[str, Any] = policy.rules
    try:
        if config is not None:
            rules = {**rules, **load_config(config)}
        chosen = profile_of(named or policy.profile, rules)
    except PolicyConfigError as error:
        faults = "\n".join(error.faults)
        raise InputError(faults, remedy="run `holdfast policy lint`") from error
    return replace(chosen, waivers=Waivers(policy.waivers, policy.today))
