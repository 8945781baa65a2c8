"""The `holdfast` command, and the one place where errors end."""

import os
import sys

import click

from holdfast import __version__
from holdfast.cli.completion_answer import VARIABLE, complete
from holdfast.cli.extras import missing_extra
from holdfast.cli.help_pages import page_of
from holdfast.cli.lazy_group import LazyGroup
from holdfast.cli.terminal import guarded_terminal
from holdfast.cli.verbs import MOVED, TASKS, VERBS
from holdfast.errors import ExitCode, HoldfastError, InvalidFilesError


@click.group(
    cls=LazyGroup,
    verbs=VERBS,
    headings=TASKS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="holdfast")
def command() -> None:
    """Declare AI agents in Git, deploy them with Pulumi, and revert drift.

    \b
    Exit codes: 0 ok   1 error, or incomplete   2 bad input   3 authentication
      4 resource   5 policy   6 no such stack   7 drift   8 cancelled   9 timeout
    """


def main() -> None:
    """Run the command line; every failure that a user can cause ends in one message."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code (see `ExitCode`)."""
    with guarded_terminal():
        return _run(arguments)


def _run(arguments: list[str]) -> int:
    try:
        result = _called(arguments)
    except HoldfastError as error:
        _report(error)
        return int(error.exit_code)
    except click.ClickException as error:
        _named(error).show()
        return int(ExitCode.BAD_INPUT)
    except (click.Abort, KeyboardInterrupt):
        click.echo("cancelled", err=True)
        return int(ExitCode.CANCELLED)
    except BrokenPipeError:
        # The reader (head, less) has gone: nothing can be written any more, not even at shutdown.
        # The result did not reach its reader, so the code is not 0: that would mean "in sync".
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.ERROR)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        click.echo(f"error: {place}{error.strerror or error}", err=True)
        return int(ExitCode.ERROR)
    return int(result) if isinstance(result, int) else int(ExitCode.OK)


def _called(arguments: list[str]) -> object:
    page = page_of(arguments)
    if page is not None:
        click.echo(page, nl=False)
        return ExitCode.OK
    if VARIABLE in os.environ:
        sys.exit(complete(os.environ[VARIABLE]))
    try:
        return command.main(arguments, prog_name="holdfast", standalone_mode=False)
    except ModuleNotFoundError as error:
        raise missing_extra(error) or error from error


def _named(error: click.ClickException) -> click.ClickException:
    """The error, or one that names the verb that an option of earlier versions has become."""
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        verb = MOVED.get(f"{error.ctx.command_path.partition(' ')[2]} {error.option_name}")
        if verb:
            text = f"no such option {error.option_name}; it is `holdfast {verb}` now"
            return click.UsageError(text, error.ctx)
    return error


def _report(error: HoldfastError) -> None:
    if isinstance(error, InvalidFilesError):
        # Each fault begins its line with its place, as editors and problem matchers read it.
        click.echo("\n".join(str(each) for each in error.errors), err=True)
        click.echo(f"error: {error.message}", err=True)
    else:
        click.echo(f"error: {error}", err=True)


if __name__ == "__main__":
    main()
