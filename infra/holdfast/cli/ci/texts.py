"""`holdfast ci comment` and `holdfast ci issue`: a report where the team talks. Wiring only."""

from pathlib import Path

import click

from holdfast.errors import ExitCode, InputError
from holdfast.operations.describe.code_host import comment_on_change, issue_of_check

_TEXT = click.argument("text", type=click.Path(path_type=Path), metavar="FILE")


@click.command("comment")
@_TEXT
@click.option("--marker", required=True, help="Identifies this comment, such as `policy/prod`.")
@click.option("--change", type=click.IntRange(min=1), help="Number of the pull or merge request.")
def report_comment(text: Path, *, marker: str, change: int | None) -> ExitCode:
    """Keep one comment on a pull or merge request: written once, then updated.

    FILE is Markdown. If it is empty, no comment is created, and an existing one is cleared.

    \b
    Needs: GITHUB_TOKEN with `pull-requests: write`, or GITLAB_TOKEN of scope api.

    \b
    Example:
      holdfast preview -s prod -o markdown --output-file comment.md
      holdfast ci comment comment.md --marker policy/prod

    \b
    Exit codes: 0 done   1 the host did not do it   2 bad input
      3 the token is refused
    """
    number, kept = comment_on_change(marker, _read(text), change)
    click.echo(f"comment on {number} {kept}", err=True)
    return ExitCode.OK


@click.command("issue")
@_TEXT
@click.option("--marker", required=True, help="Identifies this issue, such as `drift/prod`.")
@click.option("--title", required=True, help="Title of the issue.")
@click.option(
    "--code",
    type=click.IntRange(0, 255),
    required=True,
    help="Exit code of the check: 0 closes the issue, any other opens or updates it.",
)
def report_issue(text: Path, *, marker: str, title: str, code: int) -> ExitCode:
    """Keep one issue open while a check fails, and close it when the check passes.

    FILE is Markdown; it need not exist when the code is 0. A check that could not run, with any
    other code, keeps the issue open. The issue has the label `holdfast`.

    \b
    Needs: GITHUB_TOKEN with `issues: write`, or GITLAB_TOKEN of scope api.

    \b
    Example:
      code=0; holdfast drift -s prod -o markdown --output-file drift.md || code=$?
      holdfast ci issue drift.md --marker drift/prod \\
        --title "Drift of stack prod" --code "$code"

    \b
    Exit codes: 0 done   1 the host did not do it   2 bad input
      3 the token is refused
    """
    body = _read(text) if code != ExitCode.OK and text.exists() else ""
    click.echo(f"issue {issue_of_check(marker, title, body, code)}", err=True)
    return ExitCode.OK


def _read(text: Path) -> str:
    try:
        return text.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise InputError(f"{text}: {why}", remedy="name a file of Markdown") from error
