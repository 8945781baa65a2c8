"""Every verb of `holdfast` and every verb below one, in one table; each is loaded when called.

Start-up is the larger part of a short command's time: `--help` lists verbs from the table, and
loads none of them.
"""

import difflib
import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    Completions = list[CompletionItem[Any]]


@dataclass(frozen=True)
class Verb:
    """One verb.

    Attributes:
        text: Its one-line help.
        place: Module below `holdfast.cli`, and after a colon the command in it; `command` without.
        below: Its own verbs.
    """

    text: str
    place: str
    below: Mapping[str, "Verb"] = field(default_factory=dict)

    def load(self) -> click.Command:
        """The command, which loads its module."""
        module, _, name = self.place.partition(":")
        found = getattr(importlib.import_module(f"holdfast.cli.{module}"), name or "command")
        assert isinstance(found, click.Command)  # noqa: S101  (the table says so)
        return found


TASKS: Final[Mapping[str, Mapping[str, Verb]]] = {
    "Declare agents": {
        "validate": Verb("check manifests and stack files without cluster or engine", "validate"),
        "explain": Verb(
            "say what an agent is, where each value is from, what a field or a rule means",
            "explain.command",
        ),
        "render": Verb("print the Kubernetes objects that the manifests stand for", "render"),
        "graph": Verb("print who calls, uses and waits for whom", "graph"),
        "import": Verb("turn workloads that others wrote into manifests", "import_verb"),
        "schema": Verb("print or write the JSON Schema of the manifests", "schema"),
        "tools": Verb(
            "review what tool servers promise, and see when they change it",
            "tools.group",
            {
                "lock": Verb(
                    "ask servers for their tools and write agents/tools.lock", "tools.verbs:lock"
                ),
                "check": Verb(
                    "compare what servers offer with agents/tools.lock", "tools.verbs:check"
                ),
            },
        ),
    },
    "Bring them to a stack": {
        "up": Verb("deploy the checked-out commit to a stack: validated, judged, recorded", "up"),
        "status": Verb(
            "print what runs, from which commit, how it differs, and who changed it", "status"
        ),
        "history": Verb(
            "print the updates of a stack or an agent: commit, author, policy, outcome", "history"
        ),
        "diff": Verb("say what two stacks run differently", "diff"),
        "promote": Verb("bring the commit of one stack to another, past its gates", "promote"),
        "rollback": Verb("bring a stack back to an earlier commit, and prove it equal", "rollback"),
        "recover": Verb("rebuild lost Pulumi state from the manifests and the cluster", "recover"),
        "agent": Verb(
            "run a day-two operation on one agent: restart, reschedule, scale, restore, ...",
            "agent.group",
            {
                "restart": Verb(
                    "replace the pods of an agent, as `kubectl rollout restart` does",
                    "agent.restart",
                ),
                "reschedule": Verb(
                    "move an agent off nodes that are cordoned, not ready or gone",
                    "agent.reschedule",
                ),
                "recreate": Verb(
                    "delete what runs an agent, and create it again as declared", "agent.recreate"
                ),
                "backup": Verb("back an agent's volumes up now", "agent.backup"),
                "scale": Verb("declare how many replicas of an agent run", "agent.scale"),
                "reconfigure": Verb("set fields of an agent for a stack", "agent.reconfigure"),
                "fail-over": Verb(
                    "declare that the other one of primary and standby serves", "agent.fail_over"
                ),
                "restore": Verb(
                    "list the backups of an agent, or fill its volumes from one", "agent.restore"
                ),
            },
        ),
    },
    "Hold the cluster to them": {
        "drift": Verb(
            "compare what runs with what was declared, and put it back",
            "drift.command",
            {
                "history": Verb("since when findings stand, and how often seen", "drift.history"),
                "owners": Verb("which field manager owns which fields", "drift.owners"),
            },
        ),
        "report": Verb(
            "put a fleet on one page, or show a saved drift report in another format", "report"
        ),
        "reconcile": Verb("continuously reconcile a stack with a Git branch", "gitops.reconcile"),
        "pause": Verb("suspend reconciliation of a stack", "gitops.pause"),
        "resume": Verb("resume reconciliation of a stack", "gitops.resume"),
        "operator": Verb(
            "agents as resources of a cluster: kinds, status, the operator",
            "operator.group",
            {
                "run": Verb(
                    "watch a stack's agents, report their status, hold them to it", "operator.run"
                ),
                "install": Verb(
                    "give a cluster the kinds, and the operator of a stack", "operator.install"
                ),
                "manifests": Verb("print what `install` would apply", "operator.manifests"),
                "migrate": Verb(
                    "move a stack's objects from Pulumi to the operator, deleting nothing",
                    "operator.migrate",
                ),
            },
        ),
    },
    "Judge, and gate": {
        "policy": Verb(
            "judge objects by the rules, list them, check their settings and waivers",
            "policy.group",
            {
                "check": Verb("judge what is declared, written, recorded or live", "policy.check"),
                "report": Verb(
                    "preview a stack under the policy pack, and report both", "policy.report"
                ),
                "export": Verb(
                    "write the rules as policies that a cluster judges every client by",
                    "policy.export",
                ),
                "list": Verb("print every rule with its level and severity", "policy.list"),
                "lint": Verb(
                    "find unknown rules and parameters, and wrong values, in settings",
                    "policy.lint",
                ),
                "waivers": Verb("compile the PolicyException manifests", "policy.waivers"),
            },
        ),
        "ci": Verb(
            "keep comments, issues and gates of a pipeline",
            "ci.group",
            {
                "comment": Verb(
                    "keep one comment on a pull or merge request", "ci.texts:report_comment"
                ),
                "issue": Verb(
                    "keep one issue as long as something is wrong", "ci.texts:report_issue"
                ),
                "gate": Verb("check a stack's gates, then run a command", "ci.gate"),
                "gates": Verb("print the gates of a stack that were checked before", "ci.gates"),
            },
        ),
        "rbac": Verb("print the rights that a scan of a stack needs, and no more", "rbac"),
    },
    "Run the engine and a cluster here": {
        "sandbox": Verb(
            "run a real local control plane, started in seconds",
            "sandbox.group",
            {
                "up": Verb("start a sandbox, or repair it", "sandbox.up"),
                "down": Verb("stop a sandbox and delete its cluster", "sandbox.down"),
                "status": Verb("show whether a sandbox is fit for use", "sandbox.status"),
                "list": Verb("list all sandboxes", "sandbox.list"),
                "logs": Verb("print the log of a program, or of all of them", "sandbox.logs"),
                "kubeconfig": Verb("print the path of a kubeconfig", "sandbox.kubeconfig"),
            },
        ),
        "env": Verb("print the variables with which a plain `pulumi` works on a stack", "env"),
        "completion": Verb(
            "print what lets a shell complete verbs, options and stacks", "completion"
        ),
    },
}
"""What a user is about to do, to the verbs for it."""

VERBS: Final[Mapping[str, Verb]] = {
    name: verb for verbs in TASKS.values() for name, verb in verbs.items()
}
"""Every verb by name."""


class LazyGroup(click.Group):
    """Lists, completes and suggests its verbs from the table; loads the one that is called.

    With `invoke_without_command` it is a verb itself, unless its first argument names one of its
    verbs: `holdfast drift` scans, `holdfast drift history` does not.
    """

    def __init__(
        self,
        *arguments: Any,  # noqa: ANN401  (click's own)
        verbs: Mapping[str, Verb],
        headings: Mapping[str, Mapping[str, Verb]] | None = None,
        sections: Mapping[str, str] | None = None,
        **options: Any,  # noqa: ANN401  (click's own)
    ) -> None:
        """Make the group.

        Args:
            arguments: Click's own.
            verbs: Name to verb.
            headings: The same below headings, in help; default one heading.
            sections: Name of the first option of each section to the section's heading, in help.
            options: Click's own.
        """
        super().__init__(*arguments, **options)
        self.verbs = verbs
        self.headings = headings or {"Commands": verbs}
        self.sections = sections or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name every verb."""
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one verb."""
        return self.verbs[cmd_name].load() if cmd_name in self.verbs else None

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401  (click's own)
    ) -> click.Context:
        """Context of the verb below that is called, where the group is a verb itself, too."""
        if not (self.invoke_without_command and args and args[0] in self.verbs):
            return super().make_context(info_name, args, parent, **extra)
        verb = self.verbs[args[0]].load()
        return verb.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb that is called.

        Raises:
            click.UsageError: there is none of that name; says which may be meant.
        """
        name = args[0]
        if ctx.resilient_parsing or name.startswith("-"):
            return super().resolve_command(ctx, args)
        if name not in self.verbs:
            close = difflib.get_close_matches(name, self.verbs, n=1)
            remedy = f'did you mean "{close[0]}"?' if close else "--help names them all"
            raise click.UsageError(f"no such command {name!r}; {remedy}", ctx)
        if self.invoke_without_command:
            place = f"`{ctx.command_path} {name}`"
            raise click.UsageError(f"options of {name} stand behind it: {place}", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "Completions":
        """Complete verbs from the table, and options as click does."""
        found = (
            CompletionItem(name, help=verb.text)
            for name, verb in self.verbs.items()
            if name.startswith(incomplete)
        )
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options by section, and the verbs after them."""
        for heading, records in self._records(ctx).items():
            with formatter.section(heading):
                formatter.write_dl(records)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs below their headings."""
        width = max(map(len, self.verbs))
        for heading, verbs in self.headings.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), verb.text) for name, verb in verbs.items()])

    def _records(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Heading to the options below it, in words."""
        listed: dict[str, list[tuple[str, str]]] = {}
        heading = "Options"
        for parameter in self.get_params(ctx):
            if self.sections and parameter is self.get_help_option(ctx):
                heading = "Help"
            heading = self.sections.get(parameter.name or "", heading)
            record = parameter.get_help_record(ctx)
            if record is not None:
                listed.setdefault(heading, []).append(record)
        return listed


def all_verbs() -> Iterator[tuple[tuple[str, ...], Verb]]:
    """Every verb with the words that call it, those below others included."""
    for name, verb in VERBS.items():
        yield (name,), verb
        for below, part in verb.below.items():
            yield (name, below), part
