"""The `holdfast` command: a table of verbs, loaded when called, and one place where errors end."""

import importlib
import os
import sys
from typing import Any

import click
from click.shell_completion import CompletionItem

from holdfast import __version__
from holdfast.cli.named_verbs import NamedVerbs
from holdfast.errors import ExitCode, HoldfastError, InvalidFilesError

TASKS = {
    "Declare agents": {
        "validate": "check manifests and stack files without cluster or engine",
        "explain": "say what an agent is, where each value is from, what a field or a rule means",
        "render": "print the Kubernetes objects that the manifests stand for",
        "graph": "print who calls, uses and waits for whom",
        "import": "turn workloads that others wrote into manifests",
        "schema": "print or write the JSON Schema of the manifests",
        "tools": "review what tool servers promise, and see when they change it",
    },
    "Bring them to a stack": {
        "up": "bring a stack to the checked out commit: judged, told, recorded",
        "status": "print what runs, from which commit, how it differs, and who changed it",
        "history": "print the updates of a stack or an agent: commit, author, policy, outcome",
        "diff": "say what two stacks run differently",
        "promote": "bring the commit of one stack to another, past its gates",
        "rollback": "bring a stack back to an earlier commit, and prove it equal",
        "recover": "make the lost state of a stack anew, from files and cluster",
        "agent": "do one named thing to one agent: restart, reschedule, scale, restore, ...",
    },
    "Hold the cluster to them": {
        "drift": "compare what runs with what was declared, and put it back",
        "report": "put a fleet on one page, or show a saved drift report in another format",
        "reconcile": "hold a stack to a branch, for ever",
        "pause": "let the loop do nothing to a stack",
        "resume": "let the loop act on a stack again",
        "operator": "agents as resources of a cluster: kinds, status, the operator",
    },
    "Judge, and gate": {
        "policy": "judge objects by the rules, list them, check their settings and waivers",
        "ci": "keep comments, issues and gates of a pipeline",
        "rbac": "print the rights that a scan of a stack needs, and no more",
    },
    "Run the engine and a cluster here": {
        "sandbox": "run a real local control plane, started in seconds",
        "env": "print the variables with which a plain `pulumi` works on a stack",
        "completion": "print what lets a shell complete verbs, options and stacks",
    },
}
"""What a user is about to do, to the verbs for it, each with its one-line help."""

VERBS = {verb: text for verbs in TASKS.values() for verb, text in verbs.items()}
"""Verb to its one-line help; its module is `holdfast.cli.<module_of>`, its command `command`."""


_MODULES = {
    "agent": "agent.group",
    "ci": "ci.group",
    "drift": "drift.command",
    "explain": "explain.command",
    "import": "import_verb",
    "operator": "operator.group",
    "pause": "gitops.pause",
    "policy": "policy.group",
    "reconcile": "gitops.reconcile",
    "resume": "gitops.resume",
    "sandbox": "sandbox.group",
}
"""Verbs whose module does not bear their name: nouns have a folder, `import` is Python's."""


def module_of(verb: str) -> str:
    """Name of a verb's module below `holdfast.cli`."""
    return _MODULES.get(verb, verb)


class VerbGroup(NamedVerbs):
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

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem[Any]]":
        """Complete verbs from the table, without loading them; options as click does."""
        verbs = [
            CompletionItem(verb, help=text)
            for verb, text in VERBS.items()
            if verb.startswith(incomplete)
        ]
        return verbs + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs by task from the table, without loading them."""
        width = max(map(len, VERBS))
        for task, verbs in TASKS.items():
            with formatter.section(task):
                formatter.write_dl([(verb.ljust(width), text) for verb, text in verbs.items()])


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
    if os.environ.get("_HOLDFAST_COMPLETE"):
        from holdfast.cli.completion import complete_stacks  # noqa: PLC0415  (only for a shell)

        complete_stacks()
    try:
        result = command.main(arguments, prog_name="holdfast", standalone_mode=False)
    except HoldfastError as error:
        _tell(error)
        return int(error.exit_code)
    except click.ClickException as error:
        error.show()
        return int(ExitCode.BAD_INPUT)
    except (click.Abort, KeyboardInterrupt):
        click.echo("cancelled", err=True)
        return int(ExitCode.CANCELLED)
    except BrokenPipeError:
        # The reader (head, less) has gone: nothing is left to say, not even at shutdown. What was
        # to be told is not known to anybody, so that it is not 0: that would be "in sync".
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.ERROR)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        click.echo(f"error: {place}{error.strerror or error}", err=True)
        return int(ExitCode.ERROR)
    return int(result) if isinstance(result, int) else int(ExitCode.OK)


def _tell(error: HoldfastError) -> None:
    if isinstance(error, InvalidFilesError):
        # Each fault begins its line with its place, as editors and problem matchers read it.
        click.echo("\n".join(str(each) for each in error.errors), err=True)
        click.echo(f"error: {error.message}", err=True)
    else:
        click.echo(f"error: {error}", err=True)


if __name__ == "__main__":
    main()
