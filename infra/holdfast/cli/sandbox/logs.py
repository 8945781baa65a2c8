"""`holdfast sandbox logs`: what its programs have logged."""

import sys

import click

from holdfast.cli.sandbox.options import name_option, require_sandbox
from holdfast.sandbox.logs import LOG_NAMES, follow, last_lines, log_files
from holdfast.sandbox.paths import SandboxPaths

DEFAULT_LINES = 40


@click.command()
@click.argument("program", type=click.Choice(LOG_NAMES), required=False, metavar="[PROGRAM]")
@name_option
@click.option(
    "--lines",
    type=click.IntRange(min=0),
    default=DEFAULT_LINES,
    show_default=True,
    help="How many of the last lines of each log.",
)
@click.option("-f", "--follow", "is_following", is_flag=True, help="Go on until interrupted.")
def command(program: str | None, place: SandboxPaths, lines: int, is_following: bool) -> None:
    """Print the log of a program, or of all of them; `audit` is who changed what.

    PROGRAM is etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kwok or audit; with a
    real node also node, containerd, kubelet, kube-proxy or node-agent.

    \b
    Examples:
      holdfast sandbox logs kube-apiserver
      holdfast sandbox logs audit --follow
    """
    require_sandbox(place)
    files = log_files(place, program)
    width = 0 if program else max(len(name) for name in files)

    def show(name: str, line: str) -> None:
        click.echo(f"{name:<{width}} | {_shown(line)}" if width else _shown(line))

    news = follow(files) if is_following else iter(())
    for name, file in files.items():
        for line in last_lines(file, lines):
            show(name, line)
    for name, line in news:
        show(name, line)


def _shown(line: str) -> str:
    """A line as it is for programs; on a terminal nothing in it may steer the terminal."""
    if not sys.stdout.isatty():
        return line
    return "".join(c if c.isprintable() or c == "\t" else ascii(c)[1:-1] for c in line)
