"""`holdfast policy`: the rules, what they say, their settings, and what was waived."""

from pathlib import Path

import click
import msgspec
from holdfast_policies.profile import profile_of
from holdfast_policies.waivers import compiled

from holdfast.cli.output import wants_colour
from holdfast.cli.policy_check import command as check
from holdfast.cli.policy_export import export
from holdfast.cli.policy_lint import lint_files, lint_stacks
from holdfast.cli.policy_report import command as report_verb
from holdfast.cli.project import find_project_root
from holdfast.cli.waivers import WAIVERS_FILE
from holdfast.errors import ExitCode, InputError
from holdfast.manifest.loader import load_fleet
from holdfast.manifest.stack_files import stack_names
from holdfast.render.admission import waivers_of
from holdfast.report.rule_words import rules_text
from holdfast.report.validation_report import ValidationReport, validation_text


@click.group()
def command() -> None:
    """Judge objects by the rules, list, export and check them, compile what was waived.

    \b
    Examples:
      holdfast policy check -s prod
      holdfast policy report -s prod
      holdfast policy export -s prod -o dir --to policies
      holdfast policy list --profile prod
      holdfast policy lint
      holdfast policy lint policy-pack/config/prod.json
      holdfast policy waivers --write
    """


command.add_command(check)
command.add_command(export)
command.add_command(report_verb)


@command.command("list")
@click.option("--profile", default="prod", show_default=True, help="dev, staging or prod.")
@click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def list_rules(profile: str, output: str) -> ExitCode:
    """Every rule with its level in a profile, its severity and what it is about.

    \b
    Example:
      holdfast policy list --profile dev
    """
    if profile not in ("dev", "staging", "prod"):
        raise InputError(f"no profile {profile!r}", remedy="use dev, staging or prod")
    rulings = profile_of(profile).rulings
    if output == "text":
        click.echo(rules_text(rulings, colour=wants_colour()), nl=False)
        return ExitCode.OK
    document = {
        "schemaVersion": "holdfast.dev/rules/v1",
        "profile": profile,
        "rules": [
            {
                "name": each.rule.id,
                "level": str(each.level),
                "severity": str(each.rule.severity),
                "title": each.rule.title,
                "frameworks": each.rule.frameworks,
            }
            for each in rulings
        ],
    }
    click.echo(msgspec.json.format(msgspec.json.encode(document), indent=1).decode())
    return ExitCode.OK


@command.command("lint")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, exists=True, dir_okay=False))
def lint(files: tuple[Path, ...]) -> ExitCode:
    """Find what the engine accepts in silence: unknown rules and parameters, wrong values.

    Without FILES, checks `holdfast:policy` of every stack and every JSON file of
    policy-pack/config. Also refused: parameters without a level in a config file; empty lists of
    what is allowed; parameters under "all".

    \b
    Example:
      holdfast policy lint policy-pack/config/prod.json
    """
    if files:
        report = lint_files(files)
    else:
        root = find_project_root()
        report = lint_stacks(root, stack_names(root))
    click.echo(validation_text(report, colour=wants_colour()), nl=False)
    click.echo(_verdict(report), err=True)
    return report.exit_code


def _verdict(report: ValidationReport) -> str:
    count = len(report.errors)
    return f"{count} error{'' if count == 1 else 's'}" if count else "the settings are valid"


@command.command("waivers")
@click.option("--write", is_flag=True, help=f"Write {WAIVERS_FILE}.")
def waivers(write: bool) -> ExitCode:
    """Compile the PolicyException manifests for the policy pack, which reads no manifests.

    \b
    Examples:
      holdfast policy waivers
      holdfast policy waivers --write
    """
    root = find_project_root()
    text = compiled(waivers_of(load_fleet(root, None)))
    if not write:
        click.echo(text, nl=False)
        return ExitCode.OK
    (root / WAIVERS_FILE).write_text(text, encoding="utf-8")
    click.echo(f"wrote {WAIVERS_FILE}", err=True)
    return ExitCode.OK
