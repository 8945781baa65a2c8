"""What runs of an agent, which update brought it, how it differs: the cluster is asked. Wiring."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import ApiClient, path_of
from holdfast.adapters.cluster.whole_objects import list_whole, read_whole
from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.drift.finding import AgentState, NotChecked
from holdfast.drift.probes.workloads import pod_spec_of
from holdfast.errors import ClusterError, HoldfastError, LoginError
from holdfast.kube.objects import KubeObject, mapping_at, reference_of
from holdfast.kube.running import job_state, pod_state
from holdfast.kube.workload_status import workload_state
from holdfast.manifest.fleet.fleet import DeclaredAgent
from holdfast.manifest.types.agent_label import AGENT_LABEL, agent_of
from holdfast.operations.describe.live_agent import LiveAgent
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scanner import Scan, Scanner
from holdfast.operations.stack.update_history import update_records

VERSION_LABEL = "app.kubernetes.io/version"
METRICS_API = "metrics.k8s.io/v1beta1"
_REQUEST_SECONDS = 15.0


def live_agent(agent: DeclaredAgent, root: Path, stack: str) -> LiveAgent:
    """An agent of a stack as it is now; nothing is changed.

    Raises:
        ClusterError: the cluster cannot be asked.
        InputError: the stack's cluster is not known here.
    """
    sources = Scanner(ScanRequest(root, stack, request_timeout_seconds=_REQUEST_SECONDS))
    scan = sources.scan()
    looked = _Look(sources.cluster.client, agent)
    declared = [
        one
        for one in scan.desired.values()
        if agent_of(one) == agent.name and one["kind"] != "Job" and pod_spec_of(one)
    ]
    live = {id(one): looked.at(one, _plural(sources, one)) for one in declared}
    usage, unmeasured = looked.usage()
    pods = looked.listed("v1", "pods")
    update, no_update = _update_of(agent, root, stack)
    return LiveAgent(
        workloads=tuple(workload_state(each) for each in live.values() if each is not None),
        absent=tuple(reference_of(one) for one in declared if live[id(one)] is None),
        pods=tuple(pod_state(pod, usage.get(reference_of(pod).name)) for pod in pods),
        jobs=tuple(job_state(job) for job in looked.listed("batch/v1", "jobs")),
        unmeasured=unmeasured,
        update=update,
        no_update=no_update,
        state=_state(scan, agent),
        findings=tuple(each for each in scan.report.findings if each.agent == agent.name),
        not_checked=(*_not_checked(scan, agent), *looked.problems),
        declared_version=agent.spec.version,
        live_versions=tuple(sorted({_version(one) for one in live.values() if one} - {""})),
    )


@dataclass(frozen=True)
class _Look:
    """Asks for one agent's objects; what may not be read is kept as a problem."""

    client: ApiClient
    agent: DeclaredAgent
    problems: list[NotChecked] = field(default_factory=list)

    def at(self, declared: KubeObject, plural: str) -> KubeObject | None:
        """A declared object with its status; None when it is not there."""
        ref = reference_of(declared)
        try:
            return read_whole(
                self.client, path_of(ref.api_version, plural, ref.namespace, ref.name)
            )
        except LoginError:
            raise
        except ClusterError as error:
            if not (isinstance(error, ApiError) and error.is_absent):
                self.problems.append(NotChecked(str(ref), str(error)))
                return dict(declared)
            return None

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


def _update_of(agent: DeclaredAgent, root: Path, stack: str) -> tuple[UpdateRecord | None, str]:
    try:
        records = update_records(root, stack)
    except HoldfastError as error:
        return None, f"not known: {error}"
    brought: Iterable[UpdateRecord] = (
        each
        for each in reversed(records)
        if each.has_succeeded and (each.agents is None or agent.name in each.agents)
    )
    found = next(iter(brought), None)
    return found, "" if found else "not known: no update of the stack is recorded"


def _state(scan: Scan, agent: DeclaredAgent) -> AgentState:
    found = (each.state for each in scan.report.agents if each.name == agent.name)
    return next(found, AgentState.UNKNOWN)


def _not_checked(scan: Scan, agent: DeclaredAgent) -> Iterable[NotChecked]:
    """What could not be looked at of this agent, or of the stack as a whole."""
    own = {f"{reference_of(one)}" for one in scan.desired.values() if agent_of(one) == agent.name}
    others = {f"{reference_of(one)}" for one in scan.desired.values()} - own
    return (each for each in scan.report.not_checked if each.scope not in others)


def _version(live: KubeObject) -> str:
    # A semantic version may hold '+', a label may not.
    return str(mapping_at(live, "metadata", "labels").get(VERSION_LABEL) or "").replace("_", "+")
