"""`holdfast ci gate`: everything that must hold before an update, in order."""

import shlex
from pathlib import Path

import click

from holdfast.cli.exit_codes import exit_code_of
from holdfast.cli.options.stack import stack_option
from holdfast.errors import InputError
from holdfast.operations.describe.history import gate_journal
from holdfast.operations.stack.project import find_project_root
from holdfast.operations.validate.gates import GateRequest, GateStep, run_gates
from holdfast.report.exchange.files import write_file
from holdfast.report.text.gate_report import gate_json, gate_line, gate_summary


@click.command("gate")
@click.argument("command_line", nargs=-1, metavar="[-- COMMAND]")
@stack_option("Stack to be updated.")
@click.option("--unit", metavar="COMMAND", help='Unit tests, such as "make unit".')
@click.option("--scan", metavar="COMMAND", help="A scan of your own, such as one of images.")
@click.option(
    "--result", type=click.Path(path_type=Path, dir_okay=False), help="Write the result as JSON."
)
def command(
    command_line: tuple[str, ...],
    *,
    stack: str,
    unit: str | None,
    scan: str | None,
    result: Path | None,
) -> int:
    """Run COMMAND only if every gate holds: files, unit tests, scan, policy, preview.

    After the first gate that fails, the others and COMMAND do not run, and nothing is written to
    the cluster. The result is kept with the stack's history (`holdfast history STACK --gates`).

    \b
    Examples:
      holdfast ci gate -s prod
      holdfast ci gate -s prod --unit "make unit" --result gate.json \\
        -- holdfast up -s prod

    \b
    Exit codes: of the failed gate (2 files, 5 policy, 1 others), else of COMMAND
    """
    if result is not None and not result.parent.is_dir():
        raise InputError(f"{result}: no such folder", remedy=f"run `mkdir -p {result.parent}`")
    root = find_project_root()
    commands = [
        (name, shlex.split(text)) for name, text in (("unit", unit), ("scan", scan)) if text
    ]
    report = run_gates(GateRequest(root, stack, commands, command_line), _print_step)
    with gate_journal(root, stack).appending() as journal:
        journal.append(gate_json(report, is_one_line=True).encode())
    if result is not None:
        write_file(result, gate_json(report))
    click.echo(gate_summary(report), err=True)
    return exit_code_of(report)


def _print_step(step: GateStep) -> None:
    click.echo(gate_line(step), err=True)
