"""One agent on one stack: what is declared for it, who decided each value, and what runs of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import ApiClient, path_of
from holdfast.adapters.cluster.json_answers import list_whole, read_whole
from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.drift.finding import AgentState, Finding, NotChecked
from holdfast.drift.probes.pods import pod_spec_of
from holdfast.errors import ClusterError, HoldfastError, LoginError
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of
from holdfast.kube.running import JobState, PodState, job_state, pod_state, version_of
from holdfast.kube.workload_status import WorkloadState, workload_state
from holdfast.manifest.fleet.effective_config import EffectiveValue, effective_values
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.manifest.types.marks import AGENT_LABEL, agent_of
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scanner import Scan, Scanner
from holdfast.operations.stack.context import StackContext, agent_named
from holdfast.operations.stack.update_history import update_records

METRICS_API = "metrics.k8s.io/v1beta1"
_REQUEST_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class LiveAgent:
    """One agent as its cluster and its stack's history show it.

    Attributes:
        workloads: What runs its pods or makes its Jobs.
        absent: Workloads that are declared and not there.
        unread: Workloads that are declared and cannot be read: nothing is known of them.
        unmeasured: Why it is not known what the pods use; empty where it is.
        update: The last update that brought it here; None where none is known.
        no_update: Why none is known.
        state: Whether it is as declared.
        findings: How it differs, remarks included.
        not_checked: What could not be checked.
        declared_version: Version that the manifest declares.
        live_versions: Versions that its workloads run.
    """

    workloads: tuple[WorkloadState, ...]
    absent: tuple[ObjectRef, ...]
    pods: tuple[PodState, ...]
    jobs: tuple[JobState, ...]
    unmeasured: str
    update: UpdateRecord | None
    no_update: str
    state: AgentState
    findings: tuple[Finding, ...]
    not_checked: tuple[NotChecked, ...]
    declared_version: str = ""
    live_versions: tuple[str, ...] = ()
    unread: tuple[ObjectRef, ...] = ()


def live_agent(agent: DeclaredAgent, context: StackContext) -> LiveAgent:
    """An agent of a stack as it is now; nothing is changed.

    Raises:
        ClusterError: the cluster cannot be asked.
        InputError: the stack's cluster is not known here.
    """
    request = ScanRequest(context.root, context.name, request_timeout_seconds=_REQUEST_SECONDS)
    sources = Scanner(request, context=context)
    scan = sources.scan()
    looked = _AgentReader(sources.cluster.client, agent)
    declared = [
        one
        for one in scan.desired.values()
        if agent_of(one) == agent.name and one["kind"] != "Job" and pod_spec_of(one)
    ]
    workloads = _Workloads()
    for one in declared:
        looked.read_into(workloads, one, _plural(sources, one))
    usage, unmeasured = looked.usage()
    pods = looked.listed("v1", "pods")
    update, no_update = _update_of(agent, context)
    return LiveAgent(
        workloads=tuple(workload_state(each) for each in workloads.live),
        absent=tuple(workloads.absent),
        unread=tuple(workloads.unread),
        pods=tuple(pod_state(pod, usage.get(reference_of(pod).name)) for pod in pods),
        jobs=tuple(job_state(job) for job in looked.listed("batch/v1", "jobs")),
        unmeasured=unmeasured,
        update=update,
        no_update=no_update,
        state=_sync_state(scan, agent),
        findings=tuple(each for each in scan.report.findings if each.agent == agent.name),
        not_checked=(*_not_checked(scan, agent), *looked.problems),
        declared_version=agent.spec.version,
        live_versions=tuple(sorted({version_of(one) for one in workloads.live} - {""})),
    )


@dataclass(frozen=True)
class _Workloads:
    """Declared workloads by what could be read of them."""

    live: list[KubeObject] = field(default_factory=list)
    absent: list[ObjectRef] = field(default_factory=list)
    unread: list[ObjectRef] = field(default_factory=list)


@dataclass(frozen=True)
class _AgentReader:
    """Asks for one agent's objects; what may not be read is kept as a problem."""

    client: ApiClient
    agent: DeclaredAgent
    problems: list[NotChecked] = field(default_factory=list)

    def read_into(self, workloads: _Workloads, declared: KubeObject, plural: str) -> None:
        """A declared object with its status, as far as it is there and may be read."""
        ref = reference_of(declared)
        path = path_of(ref.api_version, plural, ref.namespace, ref.name)
        try:
            workloads.live.append(read_whole(self.client, path))
        except LoginError:
            raise
        except ClusterError as error:
            if isinstance(error, ApiError) and error.is_absent:
                workloads.absent.append(ref)
                return
            # What is declared is no substitute: it would be reported as what runs.
            workloads.unread.append(ref)
            self.problems.append(NotChecked(str(ref), str(error)))

    def listed(self, api_version: str, plural: str) -> list[KubeObject]:
        """The agent's own objects of a kind."""
        try:
            return self._list(api_version, plural)
        except LoginError:
            raise
        except ClusterError as error:
            self.problems.append(NotChecked(f"{plural} of {self.agent.name}", str(error)))
            return []

    def usage(self) -> tuple[dict[str, KubeObject], str]:
        """PodMetrics by pod, or why there are none."""
        try:
            measured = self._list(METRICS_API, "pods")
        except LoginError:
            raise
        except ClusterError as error:
            if isinstance(error, ApiError) and error.is_absent:
                return {}, "not available: the cluster serves no metrics API"
            return {}, f"not available: {error}"
        return {reference_of(each).name: each for each in measured}, ""

    def _list(self, api_version: str, plural: str) -> list[KubeObject]:
        selector = f"{AGENT_LABEL}={self.agent.name}"
        return list_whole(self.client, api_version, plural, self.agent.namespace, selector)


def _plural(sources: Scanner, one: KubeObject) -> str:
    entry = sources.cluster.kinds.get((one["apiVersion"], one["kind"]))
    return entry.plural if entry is not None else f"{one['kind'].lower()}s"


def _update_of(agent: DeclaredAgent, context: StackContext) -> tuple[UpdateRecord | None, str]:
    try:
        records = update_records(context.root, context.name)
    except HoldfastError as error:
        return None, f"not known: {error}"
    brought: Iterable[UpdateRecord] = (
        each
        for each in reversed(records)
        if each.has_succeeded and (each.agents is None or agent.name in each.agents)
    )
    found = next(iter(brought), None)
    return found, "" if found else "not known: the stack has no recorded update"


def _sync_state(scan: Scan, agent: DeclaredAgent) -> AgentState:
    found = (each.state for each in scan.report.agents if each.name == agent.name)
    return next(found, AgentState.UNKNOWN)


def _not_checked(scan: Scan, agent: DeclaredAgent) -> Iterable[NotChecked]:
    """What could not be checked of this agent, or of the stack as a whole."""
    own = {f"{reference_of(one)}" for one in scan.desired.values() if agent_of(one) == agent.name}
    others = {f"{reference_of(one)}" for one in scan.desired.values()} - own
    return (each for each in scan.report.not_checked if each.scope not in others)


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
