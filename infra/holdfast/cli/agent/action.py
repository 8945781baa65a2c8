"""One named action on one agent: shown, agreed to, done, told in the history. Wiring."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from pathlib import Path
from typing import Any

import click
import msgspec

from holdfast.adapters.engine.update_record import DONE, NOT_DONE
from holdfast.cli.options.confirm import agree
from holdfast.cli.options.stack import STACK
from holdfast.errors import ExitCode, HoldfastError
from holdfast.manifest.fleet.fleet import DeclaredAgent
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.operations.deploy.facts import day_two_record, journal_of
from holdfast.operations.stack.lookup import agent_named
from holdfast.operations.stack.project import find_project_root
from holdfast.report.text.action_text import ActionStep, action_json, steps_text

NOTHING_TO_DO = "nothing to do"
PLANNED = "planned"


@dataclass(frozen=True)
class AgentAction:
    """What is asked for.

    Attributes:
        action: Its name, such as `restart`.
        name: Name of the agent.
        is_agreed: What is shown needs no answer.
        is_dry: It is shown and not done.
        as_json: One document on standard output; progress stays on standard error.
    """

    action: str
    name: str
    stack: str
    reason: str
    is_agreed: bool = False
    is_dry: bool = False
    as_json: bool = False

    @cached_property
    def root(self) -> Path:
        """Folder of the project."""
        return find_project_root()

    @cached_property
    def agent(self) -> DeclaredAgent:
        """The agent as it is declared for the stack.

        Raises:
            InputError: there is none of that name.
        """
        return agent_named(self.name, load_fleet(self.root, self.stack))

    def carry_out(
        self, steps: Sequence[ActionStep], what: str, do: Callable[[], object]
    ) -> ExitCode:
        """Show the steps, ask, do them, and tell the history.

        Args:
            steps: What is done, for whoever agrees to it.
            what: The same in a few words, for the history.
            do: Does it.

        Raises:
            HoldfastError: it could not be done; the history says so.
        """
        click.echo(steps_text(steps), nl=False, err=True)
        if self.is_dry:
            self.say(PLANNED, steps)
            return ExitCode.OK
        agree(f"{self.action.capitalize()} {self.name}?", is_agreed=self.is_agreed)
        with self.told(what):
            do()
        self.say(DONE, steps)
        return ExitCode.OK

    def say(self, outcome: str, steps: Sequence[ActionStep], **more: str) -> None:
        """Write the document, where one is asked for."""
        if self.as_json:
            text = action_json(
                self.action, self.name, self.stack, outcome, steps, reason=self.reason, **more
            )
            click.echo(text, nl=False)

    @contextmanager
    def told(self, what: str) -> Iterator[None]:
        """Record in the history what is done inside, or why it was not."""
        try:
            yield
        except HoldfastError as error:
            self._add(NOT_DONE, f"{what}: {error.message}")
            raise
        self._add(DONE, what)

    def _add(self, outcome: str, detail: str) -> None:
        record = day_two_record(self.action, self.stack, self.reason)
        told = msgspec.structs.replace(record, agents=(self.name,), detail=detail, outcome=outcome)
        journal_of(self.root, self.stack).add(told)


def _reason(*, is_required: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    words = "Why, for the history."
    # A default, be it empty, would count as given.
    if is_required:
        return click.option("--reason", required=True, help=words)
    return click.option("--reason", default="", help=words)


def takes_action(
    action: str, *, is_reason_required: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add what every action on an agent takes; the command gets an `AgentAction` first."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @click.argument("name")
        @click.option(
            "-s", "--stack", type=STACK, required=True, help="Stack that the agent runs on."
        )
        @_reason(is_required=is_reason_required)
        @click.option("--yes", is_flag=True, help="Agree to what is shown.")
        @click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
        @click.option(
            "-o",
            "--output",
            type=click.Choice(["text", "json"]),
            default="text",
            show_default=True,
        )
        @wraps(function)
        def with_action(
            *arguments: Any,  # noqa: ANN401  (click's own)
            name: str,
            stack: str,
            reason: str,
            **options: Any,  # noqa: ANN401  (click's own)
        ) -> Any:  # noqa: ANN401  (click's own)
            asked = AgentAction(action, name, stack, reason)
            asked = replace(
                asked,
                is_agreed=options.pop("yes"),
                is_dry=options.pop("dry_run"),
                as_json=options.pop("output") == "json",
            )
            return function(asked, *arguments, **options)

        return with_action

    return decorate
