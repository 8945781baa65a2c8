"""Objects of an agent deleted and made again as declared; what holds data stays. Wiring."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import click

from holdfast.adapters.cluster.writing import Writer, apply_object, delete_object, read_object
from holdfast.drift.plan.replacement import NEVER_REPLACED
from holdfast.errors import ClusterError, InputError
from holdfast.kube.managed_fields import FIELD_MANAGER
from holdfast.kube.objects import KubeObject, mapping_at, reference_of
from holdfast.kube.structure import KindEntry
from holdfast.operations.actions.pods import HEALTHY_SECONDS, LOOK_SECONDS, AgentPods
from holdfast.operations.stack.context import StackContext
from holdfast.render.plan.marks import REVISION, RenderedObject

_RUNS_PODS = frozenset({"Deployment", "StatefulSet", "DaemonSet", "Rollout", "Sandbox", "CronJob"})
_LEFT_ALONE = NEVER_REPLACED | {"Job"}
"""A Job is a run: made again it would run again."""


@dataclass(frozen=True)
class Recreation:
    """Deletes and makes again.

    Attributes:
        pods: Those that the agent has.
        declared: Objects to make again, with their namespaces.
    """

    pods: AgentPods
    declared: tuple[KubeObject, ...]

    @classmethod
    def of(cls, pods: AgentPods, *, is_whole: bool) -> "Recreation":
        """What is made again: what runs the agent's pods, or everything that holds no data.

        Raises:
            InputError: nothing of that kind is declared.
        """
        rendered = StackContext(pods.root, pods.stack).rendered
        own = [item for item in rendered if item.agent == pods.agent and _may_go(item)]
        chosen = [item for item in own if is_whole or item.manifest["kind"] in _RUNS_PODS]
        if not chosen:
            raise InputError(
                f"{pods.agent} declares nothing that can be made again", remedy="add --all"
            )
        return cls(pods, tuple(pods.cluster.placed([item.manifest for item in chosen])))

    def live(self) -> list[KubeObject | None]:
        """Each of them as it is now; None where it does not exist.

        Raises:
            InputError: what runs is not what the files declare: this would be an update.
        """
        cluster = self.pods.cluster
        found = []
        for one in self.declared:
            ref = reference_of(one)
            live = read_object(cluster.client, ref, cluster.kinds[ref.api_version, ref.kind])
            if live is not None and _revision(live) != _revision(one):
                raise InputError(
                    f"{ref} runs another revision than the files here declare",
                    remedy=f"check out what runs (`holdfast status -s {self.pods.stack}`), or run "
                    "`holdfast up` first",
                )
            found.append(live)
        return found

    def do(self, live: Sequence[KubeObject | None]) -> None:
        """Delete, wait until objects and pods are gone, make again, wait until it is healthy.

        Raises:
            ClusterError: the server refused, or something does not go.
        """
        before = self.pods.find(self._namespace)
        for one in live:
            if one is not None:
                entry = self._entry(one)
                delete_object(
                    self.pods.cluster.client, entry, one, is_orphaning=False, is_trial=False
                )
        deadline = time.monotonic() + HEALTHY_SECONDS
        for one in live:
            while one is not None and self._is_there(one):
                self._pause(deadline, f"{reference_of(one)} was deleted and does not go")
        runs_pods = any(one["kind"] in _RUNS_PODS for one in self.declared)
        if runs_pods:
            # A pod that still holds a volume must not meet its successor.
            gone = {str(pod["metadata"]["uid"]) for pod in before}
            while gone & self._pods_now():
                self._pause(deadline, f"pods of {self.pods.agent} do not go")
        for one in self.declared:
            ref = reference_of(one)
            writer = Writer(FIELD_MANAGER)
            apply_object(self.pods.cluster.client, self._entry(one), ref, one, writer)
            click.echo(f"made again: {ref}", err=True)
        self.pods.wait_until_healthy(deadline)

    @property
    def _namespace(self) -> str:
        return reference_of(self.declared[0]).namespace

    def _entry(self, one: KubeObject) -> KindEntry:
        ref = reference_of(one)
        return self.pods.cluster.kinds[ref.api_version, ref.kind]

    def _is_there(self, one: KubeObject) -> bool:
        now = read_object(self.pods.cluster.client, reference_of(one), self._entry(one))
        return now is not None and now["metadata"]["uid"] == one["metadata"]["uid"]

    def _pods_now(self) -> set[str]:
        return {str(pod["metadata"]["uid"]) for pod in self.pods.find(self._namespace)}

    def _pause(self, deadline: float, problem: str) -> None:
        if time.monotonic() > deadline:
            raise ClusterError(
                problem,
                remedy="see what its finalizers wait for; `holdfast drift --revert` makes again "
                "what is gone",
            )
        time.sleep(LOOK_SECONDS / 4)


def _may_go(item: RenderedObject) -> bool:
    return (
        item.manifest["kind"] not in _LEFT_ALONE and not item.is_protected and not item.is_retained
    )


def _revision(one: KubeObject) -> str:
    return str(mapping_at(one, "metadata", "annotations").get(REVISION) or "")
