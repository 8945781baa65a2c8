"""What a verb says when nobody has the name that it was asked for."""

import difflib
from collections.abc import Sequence

from holdfast.errors import InputError
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.manifest.fleet.project_files import AGENTS_FOLDER

NOTHING_DECLARED = f"no manifest lies in {AGENTS_FOLDER}/: nothing is declared"
_MOST_NAMED = 20


def agent_named(name: str, fleet: Fleet) -> DeclaredAgent:
    """The agent, or tool server that the stack runs, of this name.

    Raises:
        InputError: there is none; names those that are there.
    """
    for agent in fleet.workloads:
        if agent.name == name:
            return agent
    raise no_such_agent(name, [agent.name for agent in fleet.workloads], fleet.stack)


def no_such_agent(name: str, names: Sequence[str], stack: str = "") -> InputError:
    """The error of an agent that is not there: the name that may be meant, else those there are.

    Args:
        name: What was asked for.
        names: Every agent, and tool server that runs, in the order in which they are told.
        stack: Stack that has no such agent; empty where several were looked at.
    """
    close = difflib.get_close_matches(name, names, n=1)
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    known = ", ".join(names[:_MOST_NAMED]) + more
    return InputError(
        f"no agent {name!r}" + (f" on stack {stack}" if stack else ""),
        remedy=f'did you mean "{close[0]}"?' if close else f"there are: {known or 'none'}",
    )
