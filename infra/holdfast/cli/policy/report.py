"""`holdfast policy report`: what a preview would change and what the policy pack says. Wiring."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click
from holdfast_policies.profile import PolicyConfigError, environment_of, load_config, profile_of
from holdfast_policies.table import RULES

from holdfast.adapters.clock import utc_now
from holdfast.adapters.engine.failures.failures import RunFailedError
from holdfast.adapters.engine.results import RunResult, read_result
from holdfast.cli.options.report import ReportRequest, check_files, report_options_for, write_all
from holdfast.errors import InputError, SourceLocation
from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import Path as FieldPath
from holdfast.operations.policy.engine_verdicts import EngineRun, engine_report
from holdfast.operations.policy.model import PolicyReport
from holdfast.operations.policy.sources import place_of_agent
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import PACK_FOLDER, find_project_root
from holdfast.render.provenance.origins import Origins
from holdfast.report.exchange.policy_formats import POLICY_FORMATS, write_policy
from holdfast.report.exchange.policy_notices import PAGES


@click.command("report")
@report_options_for(PAGES, POLICY_FORMATS)
@click.option("-s", "--stack", required=True, help="Stack to preview.")
@click.option(
    "--events",
    type=click.Path(path_type=Path, allow_dash=True),
    help="Read a saved stream of events (- for standard input) in place of a preview.",
)
@click.option(
    "--policy-pack", "pack", type=click.Path(path_type=Path), help=f"Default: {PACK_FOLDER}."
)
@click.option(
    "--policy-pack-config", "config", type=click.Path(path_type=Path), help="JSON config of it."
)
def command(
    wanted: ReportRequest,
    *,
    stack: str,
    events: Path | None,
    pack: Path | None,
    config: Path | None,
) -> int:
    """Preview a stack under the policy pack and report both: what would change, what is refused.

    Says for each agent which fields get which value, and for each rule what passed, with file, line
    and column of the manifest. In Markdown it is the comment for a pull request: empty when
    nothing changes and nothing is refused (`holdfast ci comment`). Nothing is written to the
    cluster. A stream of events comes from a plain `pulumi`; keep it from others, its debug messages
    hold whatever the program holds.

    \b
    Examples:
      holdfast policy report -s prod
      holdfast policy report -s prod -o markdown --output-file c.md --report sarif=p.sarif
      export PULUMI_ENABLE_STREAMING_JSON_PREVIEW=1
      pulumi preview -s prod --json --policy-pack policy-pack | \\
        holdfast policy report -s prod --events - -o html --output-file policy.html

    \b
    Exit codes: 0 nothing is refused   5 a mandatory rule is broken
      1 incomplete: the preview failed, or no pack judged it   2 bad input   6 no such stack
    """
    check_files(wanted)
    state = _state_of(stack, is_needed=events is None)
    error = None
    if events is not None:
        result = _saved(events)
    else:
        assert state is not None  # noqa: S101  (asked for above)
        result, error = _previewed(state, pack, config)
    report = engine_report(
        EngineRun(
            stack,
            state.policy_profile if state else str(environment_of(stack)),
            result,
            failure=error.message if error else "",
            is_mandatory=_levels(state, stack, config),
            place_of=_places(state),
            place_near=None if wanted.is_for_files else _places_of_agents(state),
            observed_at=utc_now(),
        )
    )
    write_all(partial(_written, report, wanted.runbook), wanted)
    if error is not None:
        raise error
    return report.exit_code


def _written(report: PolicyReport, pages: str, chosen: str, *, colour: bool) -> str:
    return write_policy(report, chosen, RULES, pages=pages, colour=colour)


def _state_of(stack: str, *, is_needed: bool) -> StackContext | None:
    """The stack in its project; None where events alone are read, outside of any."""
    try:
        return StackContext(find_project_root(), stack)
    except InputError:
        if is_needed:
            raise
        return None


def _previewed(
    state: StackContext, pack: Path | None, config: Path | None
) -> tuple[RunResult, RunFailedError | None]:
    """The preview's result, and its error unless that is a mandatory rule's."""
    folder = pack or state.root / PACK_FOLDER
    if not (folder / "PulumiPolicy.yaml").is_file():
        raise InputError(f"{folder}: no policy pack", remedy="name it with --policy-pack")
    if config is not None and not config.is_file():
        raise InputError(f"{config}: no such file", remedy="name a JSON file of rules to levels")
    stack = StackContext(state.root, state.name).engine()
    try:
        return stack.preview(policy_pack=folder, policy_config=config), None
    except RunFailedError as error:
        return error.result, None if error.result.mandatory_violations else error


def _saved(events: Path) -> RunResult:
    """The result that a saved stream holds.

    Raises:
        InputError: it cannot be read, or holds no events.
    """
    try:
        text = sys.stdin.buffer.read() if str(events) == "-" else events.read_bytes()
    except OSError as error:
        raise InputError(f"{events}: {error.strerror or error}", remedy="name a file") from error
    result = read_result("preview", text.splitlines())
    if not (result.has_ended or result.resources or result.judged):
        raise InputError(
            f"{events}: no events of the engine",
            remedy="write them with PULUMI_ENABLE_STREAMING_JSON_PREVIEW=1 and "
            "`pulumi preview --json --policy-pack ...`",
        )
    return result


def _levels(state: StackContext | None, stack: str, config: Path | None) -> Callable[[str], bool]:
    """Whether a rule refuses, by the stack's profile, its own settings and the config file."""
    rules = dict(state.fleet.environment.policy.rules) if state else {}
    try:
        rules |= load_config(config) if config else {}
        profile = profile_of(state.policy_profile if state else stack, rules)
    except PolicyConfigError as error:
        raise InputError("\n".join(error.faults), remedy="run `holdfast policy lint`") from error
    mandatory = {each.rule.id for each in profile.rulings if each.level.refuses}
    return mandatory.__contains__


def _places(state: StackContext | None) -> Callable[[ObjectRef, FieldPath], SourceLocation | None]:
    if state is None:
        return lambda _ref, _path: None
    origins = Origins(state.fleet, state.name)

    def place_of(ref: ObjectRef, path: FieldPath) -> SourceLocation | None:
        return origins.declared_at(ref, path) or origins.fleet.setting_location()

    return place_of


def _places_of_agents(state: StackContext | None) -> Callable[[str], SourceLocation | None] | None:
    """Places that are known at once: a person at a terminal waits for no others."""
    return partial(place_of_agent, state.fleet) if state else None
