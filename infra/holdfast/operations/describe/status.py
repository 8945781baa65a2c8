"""How a stack is: what runs, from which commit, how it differs, and who changed it."""

from holdfast.errors import ClusterError
from holdfast.operations.describe.fleet import StackStatus
from holdfast.operations.describe.fleet_agents import fleet_agents
from holdfast.operations.describe.fleet_seen import Seen
from holdfast.operations.scan.health import live_agents
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scan_context import DriftContext
from holdfast.operations.scan.scanner import Scanner
from holdfast.operations.stack.agent_stack import Suspension, read_control, stack_client
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.lookup import agent_named
from holdfast.operations.stack.update_history import update_records


def stack_status(context: StackContext, name: str = "") -> StackStatus:
    """Scan a stack and ask its cluster how its agents run; nothing is changed or recorded.

    Args:
        context: The stack.
        name: Only this agent; empty for the whole stack.

    Raises:
        InputError: the stack has no such agent.
        InvalidFilesError: the manifests are not valid.
        ClusterError: the cluster cannot be asked.
    """
    fleet = context.fleet
    chosen = (agent_named(name, fleet),) if name else fleet.workloads
    report = Scanner(ScanRequest(context.root, context.name), context=context).scan().report
    suspension, problem = _suspension(context)
    seen = Seen(
        DriftContext(context.name),
        report=report,
        sync={each.name: each.state for each in report.agents},
        live=live_agents(context),
    )
    updates = update_records(context.root, context.name)
    names = {agent.name for agent in fleet.workloads}
    return StackStatus(
        context.name,
        next((each for each in reversed(updates) if each.has_succeeded), None),
        tuple(fleet_agents(fleet, chosen, seen, updates)),
        () if name else tuple(each for each in report.drift if each.agent not in names),
        report.not_checked,
        suspension,
        problem,
    )


def _suspension(context: StackContext) -> tuple[Suspension | None, str]:
    """Why the stack's Git loop changes nothing, or why that is not known: it is no drift."""
    try:
        return read_control(stack_client(context), context.name).suspension, ""
    except ClusterError as error:
        return None, str(error)
