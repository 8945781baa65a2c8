"""`holdfast ci gates`: how the gates before updates of a stack have ended. Wiring only."""

import click

from holdfast.cli.ci.gate import journal_of_gates
from holdfast.cli.options.output import OUTPUT
from holdfast.cli.options.stack import stack_option
from holdfast.errors import ExitCode
from holdfast.operations.stack.project import find_project_root
from holdfast.report.documents.json_text import json_text
from holdfast.report.text.gate_report import gate_document, gates_text, read_gate


@click.command("gates")
@stack_option("Stack whose gates were asked.")
@click.option("-n", "--limit", type=click.IntRange(min=1), default=20, show_default=True)
@OUTPUT
def command(stack: str, limit: int, output: str) -> ExitCode:
    """Print how the gates of a stack have ended on this machine, the newest last.

    \b
    Example:
      holdfast ci gates -s prod -n 5
    """
    lines = journal_of_gates(find_project_root(), stack).lines()
    read = [report for line in lines if (report := read_gate(line)) is not None][-limit:]
    if output == "json":
        click.echo(json_text([gate_document(each) for each in read]), nl=False)
    else:
        click.echo(gates_text(read), nl=False)
    damaged = len(lines) - sum(read_gate(line) is not None for line in lines)
    if damaged:
        click.echo(f"note: {damaged} lines of the journal hold no gates: passed over", err=True)
    return ExitCode.OK
