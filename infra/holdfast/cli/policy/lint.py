"""`holdfast policy lint`: what is wrong with settings of rules, with the line of each fault."""

from pathlib import Path

import click

from holdfast.cli.exit_codes import exit_code_of
from holdfast.cli.options.output import wants_colour
from holdfast.operations.policy.settings import lint_files, lint_project
from holdfast.operations.stack.project import find_project_root
from holdfast.report.text.validation_text import validation_text


@click.command("lint")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, exists=True, dir_okay=False))
def command(files: tuple[Path, ...]) -> int:
    """Find what the engine accepts in silence: unknown rules and parameters, wrong values.

    Without FILES, checks `holdfast:policy` of every stack and every JSON file of
    policy-pack/config. Also refused: parameters without a level in a config file; empty lists of
    what is allowed; parameters under "all".

    \b
    Example:
      holdfast policy lint policy-pack/config/prod.json
    """
    report = lint_files(files) if files else lint_project(find_project_root())
    click.echo(validation_text(report, colour=wants_colour()), nl=False)
    count = len(report.errors)
    said = f"{count} error{'' if count == 1 else 's'}" if count else "the settings are valid"
    click.echo(said, err=True)
    return exit_code_of(report)
