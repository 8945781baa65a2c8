"""The `holdfast` command: a table of verbs, loaded when called, and one place where errors end."""

import importlib
import os
import sys

import click

from holdfast import __version__
from holdfast.errors import ExitCode, HoldfastError

VERBS = {
    "agent": "do one named thing to one agent: restart, backup, scale, fail-over, restore",
    "ci": "keep comments, issues and gates of a pipeline",
    "diff": "say what two stacks run differently",
    "drift": "compare what runs with what was declared, and put it back",
    "env": "print the variables with which a plain `pulumi` works on a stack",
    "explain": "say what an agent is, where each value is from, what a field or a rule means",
    "graph": "print who calls, uses and waits for whom",
    "history": "print the updates of a stack or an agent: commit, author, policy, outcome",
    "import": "turn workloads that others wrote into manifests",
    "operator": "agents as resources of a cluster: kinds, status, the operator",
    "pause": "let the loop do nothing to a stack",
    "policy": "judge objects by the rules, list them, check their settings and waivers",
    "promote": "bring the commit of one stack to another, past its gates",
    "rbac": "print the rights that a scan of a stack needs, and no more",
    "reconcile": "hold a stack to a branch, for ever",
    "render": "print the Kubernetes objects that the manifests stand for",
    "report": "show a saved drift report in another format",
    "resume": "let the loop act on a stack again",
    "rollback": "bring a stack back to an earlier commit, and prove it equal",
    "sandbox": "run a real local control plane, started in seconds",
    "schema": "print or write the JSON Schema of the manifests",
    "status": "print what runs, from which commit, how it differs, and who changed it",
    "tools": "review what tool servers promise, and see when they change it",
    "up": "bring a stack to the checked out commit: judged, told, recorded",
    "validate": "check manifests and stack files without cluster or engine",
}
"""Verb to its one-line help; its module is `holdfast.cli.<module_of>`, its command `command`."""


def module_of(verb: str) -> str:
    """Name of a verb's module; Python keeps `import` for itself."""
    return "import_verb" if verb == "import" else verb


class VerbGroup(click.Group):
    """Loads a verb's module when that verb is called: start-up is part of a scan's time."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name every verb."""
        return sorted(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load the command of one verb."""
        if cmd_name not in VERBS:
            return None
        command = importlib.import_module(f"holdfast.cli.{module_of(cmd_name)}").command
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs from the table, without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(VERBS.items()))


@click.group(cls=VerbGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="holdfast")
def command() -> None:
    """Declare AI agents in Git, deploy them with Pulumi, and hold the cluster to it.

    \b
    Exit codes, the same for every verb:
      0 ok   1 error or incomplete   2 bad input   3 authentication   4 resource
      5 policy   6 no such stack   7 drift   8 cancelled   9 timeout
    """


def main() -> None:
    """Run the command line; every failure that a user can cause ends in one message."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code (see `ExitCode`)."""
    try:
        result = command.main(arguments, prog_name="holdfast", standalone_mode=False)
    except HoldfastError as error:
        click.echo(f"error: {error}", err=True)
        return int(error.exit_code)
    except click.ClickException as error:
        error.show()
        return int(ExitCode.BAD_INPUT)
    except (click.Abort, KeyboardInterrupt):
        click.echo("cancelled", err=True)
        return int(ExitCode.CANCELLED)
    except BrokenPipeError:
        # The reader (head, less) has gone: nothing is left to say, not even at shutdown.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.OK)
    return int(result) if isinstance(result, int) else int(ExitCode.OK)


if __name__ == "__main__":
    main()
