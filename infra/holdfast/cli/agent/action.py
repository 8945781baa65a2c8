"""What every verb of `holdfast agent` does: show a plan, ask, apply it, print what was done."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, Final

import click

from holdfast.cli.options.confirm import confirm
from holdfast.cli.options.output import OUTPUT, TerminalProgress
from holdfast.cli.options.stack import stack_option
from holdfast.cli.options.words import AGENT
from holdfast.errors import ExitCode
from holdfast.manifest.fleet.fleet import DeclaredAgent
from holdfast.operations.actions.action import ActionPlan, ActionRequest, PlanT, execute
from holdfast.operations.progress import Progress
from holdfast.operations.stack.context import StackContext, agent_named
from holdfast.operations.stack.project import find_project_root
from holdfast.report.text.action_text import action_json, steps_text

_NOTHING_TO_DO: Final = "nothing to do"
_PLANNED: Final = "planned"
_DONE: Final = "done"


@dataclass(frozen=True)
class AgentAction:
    """What is asked for on the command line.

    Attributes:
        action: Its name, such as `restart`.
        name: Name of the agent.
        is_agreed: The plan needs no answer.
        is_dry: The plan is shown and not applied.
        as_json: One document on standard output; progress stays on standard error.
    """

    action: str
    name: str
    stack: str
    reason: str
    is_agreed: bool
    is_dry: bool
    as_json: bool
    progress: TerminalProgress = field(default_factory=TerminalProgress)

    @cached_property
    def context(self) -> StackContext:
        """The stack, in the project of the working directory."""
        return StackContext(find_project_root(), self.stack)

    @cached_property
    def agent(self) -> DeclaredAgent:
        """The agent as it is declared for the stack.

        Raises:
            InputError: there is none of that name.
        """
        return agent_named(self.name, self.context.fleet)

    @property
    def message(self) -> str:
        """Message of a commit that declares it."""
        return f"{self.action.capitalize()} {self.name} on {self.stack}: {self.reason}"

    def execute_plan(
        self,
        plan: PlanT,
        apply: Callable[[StackContext, PlanT, Progress], None],
        *,
        file: str = "",
        diff: str = "",
        asks: bool = True,
    ) -> ExitCode:
        """Show a plan, ask, apply it, and print what was done.

        Args:
            plan: The plan.
            apply: Applies it.
            file: File that it changes, for the document.
            diff: Change of that file.
            asks: Whether a person has to agree; what only changes a file is no reason to ask.

        Raises:
            HoldfastError: it could not be done; the history says so.
        """
        more = {"reason": self.reason} | ({"file": file, "diff": diff} if file else {})
        if not plan.steps:
            self.progress.note(f"{self.name} is declared like that already")
            return self._print(_NOTHING_TO_DO, plan, more)
        if diff and not self.as_json:
            click.echo(diff, nl=False)
        if asks:
            click.echo(steps_text(plan.steps), nl=False, err=True)
        if self.is_dry:
            return self._print(_PLANNED, plan, more)
        if asks:
            confirm(f"{self.action.capitalize()} {self.name}?", is_confirmed=self.is_agreed)
        request = ActionRequest(self.action, (self.name,), self.reason)
        execute(self.context, request, plan, apply, self.progress)
        return self._print(_DONE, plan, more)

    def _print(self, outcome: str, plan: ActionPlan, more: dict[str, str]) -> ExitCode:
        if self.as_json:
            text = action_json(self.action, self.name, self.stack, outcome, plan.steps, **more)
            click.echo(text, nl=False)
        return ExitCode.OK


def takes_action(
    action: str, *, is_reason_required: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add what every action on an agent takes; the command gets an `AgentAction` first."""
    # A default, be it empty, would count as given.
    default: dict[str, Any] = {"required": True} if is_reason_required else {"default": ""}

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @click.argument("name", type=AGENT)
        @stack_option("Stack that the agent runs on.")
        @click.option("--reason", help="Why, for the history.", **default)
        @click.option("-y", "--yes", is_flag=True, help="Confirm without asking.")
        @click.option("--dry-run", is_flag=True, help="Show the plan, and stop.")
        @OUTPUT
        @wraps(function)
        def with_action(
            *arguments: Any,  # noqa: ANN401  (click's own)
            name: str,
            stack: str,
            reason: str,
            **options: Any,  # noqa: ANN401  (click's own)
        ) -> Any:  # noqa: ANN401  (click's own)
            asked = AgentAction(
                action,
                name,
                stack,
                reason,
                is_agreed=options.pop("yes"),
                is_dry=options.pop("dry_run"),
                as_json=options.pop("output") == "json",
            )
            return function(asked, *arguments, **options)

        return with_action

    return decorate


on_branch: Final = click.option(
    "--branch", metavar="NAME", help="Commit on a new branch; default: change the file here."
)
"""The option of actions that change what is declared."""
