"""What makes a loop look beside commits and drift: nodes that turn, metrics past limits. Wiring."""

import queue
import threading
from collections.abc import Callable

from holdfast.adapters.cluster.changes import Change, WatchLost
from holdfast.adapters.cluster.cluster_watch import ClusterWatch
from holdfast.adapters.cluster.json_answers import list_whole
from holdfast.adapters.cluster.reflector import WatchConfig
from holdfast.controllers.gitops.metric_watch import MetricWatch
from holdfast.controllers.gitops.reconciler import DRIFT
from holdfast.controllers.runtime.log import Log
from holdfast.controllers.runtime.node_health import NodeHealth, trigger_of, watched_nodes
from holdfast.controllers.runtime.supervisor import Supervisor
from holdfast.drift.unmanaged import stack_selector
from holdfast.kube.objects import mapping_at
from holdfast.manifest.stack.environment import Environment
from holdfast.manifest.stack.stack_files import read_stack_file
from holdfast.manifest.types.agent_label import agent_of
from holdfast.operations.scan.live import ClusterSource
from holdfast.operations.stack.context import StackContext

_REQUEST_SECONDS = 60.0

Ask = Callable[[str, str], None]
"""Takes a key of the loop, and why somebody should look."""


def watch_nodes(stack: StackContext, ask: Ask, log: Log, supervisor: Supervisor) -> None:
    """Ask for the agents with pods on a node that turns."""

    def watch(_: threading.Event) -> None:
        _follow_nodes(StackContext(stack.root, stack.name), ask, log)

    supervisor.start("nodes", watch)


def _follow_nodes(state: StackContext, ask: Ask, log: Log) -> None:
    cluster = ClusterSource.connect(state.kubeconfig, state.kube_context, _REQUEST_SECONDS)
    inbox: queue.SimpleQueue[Change] = queue.SimpleQueue()
    watch = ClusterWatch(WatchConfig(cluster.client, inbox.put, {}))
    watch.follow([watched_nodes()])
    health, last_reason = NodeHealth(), ""
    try:
        while True:
            change = inbox.get()
            if isinstance(change, WatchLost) and change.reason != last_reason:
                last_reason = change.reason
                log("watch", kind="Node", error=last_reason)
            for turn in health.take(change):
                for agent in _agents_on(cluster, state.name, turn[0]):
                    ask(agent, trigger_of(turn))
    finally:
        watch.stop()


def _agents_on(cluster: ClusterSource, stack: str, node: str) -> list[str]:
    selector = stack_selector(stack.rpartition("/")[2])
    pods = list_whole(cluster.client, "v1", "pods", "", selector)
    found = {agent_of(pod) for pod in pods if mapping_at(pod, "spec").get("nodeName") == node}
    return sorted(found - {""})


def watch_metrics(stack: StackContext, ask: Ask, log: Log, supervisor: Supervisor) -> None:
    """Ask for a look at everything when a metric of `holdfast:updates` comes past a limit."""

    def settings() -> Environment | None:
        return read_stack_file(stack.root, stack.name).environment

    def tell(metric: str, problem: str) -> None:
        log("watch", kind="metric", metric=metric, error=problem)

    watch = MetricWatch(settings, lambda trigger: ask(DRIFT, trigger), tell)
    supervisor.start("metrics", watch.run)
