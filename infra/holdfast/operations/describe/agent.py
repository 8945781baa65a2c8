"""One agent on one stack: what is declared for it, who decided each value, and what runs of it."""

from dataclasses import dataclass

from holdfast.errors import HoldfastError
from holdfast.manifest.fleet.effective_config import EffectiveValue, effective_values
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.operations.describe.live import LiveAgent, live_agent
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.lookup import agent_named


@dataclass(frozen=True, slots=True)
class Explanation:
    """One agent on one stack.

    Attributes:
        agent: As it is declared for the stack.
        fleet: What it is declared among.
        values: Every value that holds.
        live: What its cluster shows; None where it was not asked, or did not answer.
        no_live: Why the cluster did not answer; empty where it was not asked.
    """

    agent: DeclaredAgent
    fleet: Fleet
    values: tuple[EffectiveValue, ...]
    live: LiveAgent | None = None
    no_live: str = ""


def explain_agent(
    context: StackContext, name: str, *, asks_cluster: bool, must_answer: bool = False
) -> Explanation:
    """What an agent is on a stack; nothing is changed.

    Args:
        context: The stack.
        name: Of an agent, or of a tool server that the stack runs.
        asks_cluster: Also say what runs.
        must_answer: A cluster that does not answer is an error, not a remark.

    Raises:
        InputError: the stack has no such agent.
        InvalidFilesError: the manifests are not valid.
        HoldfastError: the cluster must answer, and does not.
    """
    agent = agent_named(name, context.fleet)
    values = effective_values(agent, context.fleet)
    if not asks_cluster:
        return Explanation(agent, context.fleet, values)
    try:
        return Explanation(agent, context.fleet, values, live_agent(agent, context))
    except HoldfastError as error:
        if must_answer:
            raise
        return Explanation(agent, context.fleet, values, no_live=str(error))
