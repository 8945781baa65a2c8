"""A stack as a resource: written when something is news, by who leads, and never in the way."""

import json
from dataclasses import dataclass, field
from typing import Any, cast

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.git.source import Commit
from holdfast.controllers.gitops import stack_report
from holdfast.controllers.gitops.loop_conditions import LoopConditions
from holdfast.controllers.gitops.loop_events import EventRecord
from holdfast.controllers.gitops.stack_report import HeldStack, StackReport, status_writer_rbac
from holdfast.drift.reader_role import Reader
from holdfast.errors import ClusterError

FIRST = Commit("1" * 40, "Ann <ann@example.test>", "", "first")
SECOND = Commit("2" * 40, "Ann <ann@example.test>", "", "second")
HELD = HeldStack("acme/My_Stack", "https://git.example/fleet.git", "main", ".", "machine")
PLACE = "/apis/holdfast.dev/v1alpha1/agentstacks/my-stack"


@dataclass
class Server:
    """An API server of one resource."""

    writes: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    stored: dict[str, Any] = field(default_factory=dict)
    problem: ClusterError | None = None
    problem_at: str = ""

    def write(self, method: str, path: str, body: bytes, **_: Any) -> bytes:
        if self.problem is not None and self.problem_at in path:
            raise self.problem
        sent = json.loads(body)
        self.writes.append((path, sent))
        if method == "POST":
            return body
        metadata = {"name": "my-stack", "uid": "u", "generation": 1}
        self.stored = self.stored | sent | {"metadata": metadata}
        return json.dumps(self.stored).encode()

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.writes]


class Bench:
    """A report on such a server."""

    def __init__(self, *, is_leading: bool = True) -> None:
        self.server, self.conditions = Server(), LoopConditions()
        self.log: list[str] = []
        self.report = StackReport(
            HELD,
            self.conditions,
            lambda: cast("ApiClient", self.server),
            lambda phase, **told: self.log.append(f"{phase}: {told['problem']}"),
        )
        self.report.leads(is_leading)

    def look(self, commit: Commit, running: str) -> None:
        for listener in (self.conditions, self.report):
            listener.observed(commit, running)
        self.report.reconciled("commit", "unchanged", 0.1)


def absent() -> ApiError:
    error = ApiError("PATCH: 404")
    error.status = 404
    return error


def test_a_status_is_written_when_it_changes_and_not_otherwise() -> None:
    bench = Bench()
    for _ in range(10):
        bench.look(FIRST, FIRST.name)
    assert bench.server.paths == [PLACE, f"{PLACE}/status"]
    bench.look(SECOND, FIRST.name)
    assert bench.server.paths[2:] == [f"{PLACE}/status"]
    status = bench.server.stored["status"]
    assert (status["wantedCommit"], status["commit"]) == (SECOND.name, FIRST.name)
    synced = status["conditions"][0]
    assert (synced["status"], synced["reason"]) == ("False", "Behind")
    assert synced["observedGeneration"] == status["observedGeneration"] == 1


def test_what_happened_is_reported_once_of_the_resource() -> None:
    bench = Bench()
    bench.report.record(EventRecord("Updated", "commit 1", is_warning=False))
    bench.look(FIRST, FIRST.name)
    bench.look(FIRST, FIRST.name)
    (event,) = [body for path, body in bench.server.writes if path.endswith("/events")]
    assert event["metadata"]["namespace"] == "default"
    assert event["regarding"] == {
        "apiVersion": "holdfast.dev/v1alpha1",
        "kind": "AgentStack",
        "name": "my-stack",
        "uid": "u",
    }


def test_who_does_not_lead_writes_nothing() -> None:
    bench = Bench(is_leading=False)
    bench.look(FIRST, FIRST.name)
    bench.report.end()
    assert bench.server.writes == []


def test_a_cluster_without_the_kind_is_reported_once_with_what_to_do(monkeypatch: Any) -> None:
    monkeypatch.setattr(stack_report, "AGAIN_SECONDS", 0.0)
    bench = Bench()
    bench.server.problem = absent()
    for _ in range(3):
        bench.look(FIRST, FIRST.name)
    assert bench.log == [
        "status: the cluster does not serve AgentStack; run `holdfast operator install`, and the "
        "state of the stack can be read there, too"
    ]
    bench.server.problem = None
    bench.look(FIRST, FIRST.name)
    assert bench.server.paths == [PLACE, f"{PLACE}/status"]


def test_a_resource_that_somebody_deleted_is_recreated() -> None:
    bench = Bench()
    bench.look(FIRST, FIRST.name)
    write, bench.server.stored = bench.server.write, {}

    def gone(method: str, path: str, body: bytes, **options: Any) -> bytes:
        if path.endswith("/status") and not bench.server.stored:
            raise absent()
        return write(method, path, body, **options)

    bench.server.write = gone  # type: ignore[method-assign]  # as a server without it answers
    bench.look(SECOND, SECOND.name)
    assert bench.server.paths[2:] == [PLACE, f"{PLACE}/status"]
    assert bench.log == []


def test_events_that_may_not_be_written_do_not_keep_the_status_back() -> None:
    bench = Bench()
    bench.server.problem, bench.server.problem_at = ClusterError("no Events"), "/events"
    bench.report.record(EventRecord("Updated", "commit 1", is_warning=False))
    bench.look(FIRST, FIRST.name)
    bench.look(SECOND, SECOND.name)
    assert bench.server.stored["status"]["commit"] == SECOND.name
    assert bench.log == ["status: no Events"]


def test_what_cannot_be_written_is_left_for_a_while() -> None:
    bench = Bench()
    bench.server.problem = ClusterError("no answer")
    bench.look(FIRST, FIRST.name)
    bench.server.problem = None
    bench.look(FIRST, FIRST.name)
    assert bench.server.writes == []
    assert bench.log == ["status: no answer"]


def test_the_end_of_a_loop_says_that_nothing_is_known() -> None:
    bench = Bench()
    bench.look(FIRST, FIRST.name)
    bench.report.end()
    conditions = bench.server.stored["status"]["conditions"]
    assert {(each["status"], each["reason"]) for each in conditions} == {("Unknown", "LoopEnded")}


def test_conflicts_are_in_the_status_since_they_were_first_recorded() -> None:
    bench = Bench()
    field = ("Deployment loop/mover", "spec.replicas")
    bench.conditions.conflicts_are([field])
    bench.look(FIRST, FIRST.name)
    [recorded] = bench.server.stored["status"]["conflicts"]
    assert (recorded["object"], recorded["path"]) == field
    bench.server.stored["status"]["conflicts"][0]["since"] = "2026-01-02T00:00:00Z"
    bench.report._live = bench.server.stored
    bench.look(SECOND, FIRST.name)
    assert bench.server.stored["status"]["conflicts"][0]["since"] == "2026-01-02T00:00:00Z"
    bench.conditions.conflicts_are([])
    bench.look(SECOND, SECOND.name)
    assert "conflicts" not in bench.server.writes[-1][1]["status"]


def test_only_the_resource_of_the_stack_and_new_events_may_be_written() -> None:
    objects = status_writer_rbac(
        "acme/My_Stack", Reader("holdfast-reconcile-prod", "ci@example.test")
    )
    places = [(one["kind"], one["metadata"].get("namespace", "")) for one in objects]
    assert places == [
        ("ClusterRole", ""),
        ("ClusterRoleBinding", ""),
        ("Role", "default"),
        ("RoleBinding", "default"),
    ]
    rules = [rule for one in objects for rule in one.get("rules", ())]
    assert [(rule["resources"], rule.get("resourceNames"), rule["verbs"]) for rule in rules] == [
        (["agentstacks", "agentstacks/status"], ["my-stack"], ["create", "patch"]),
        (["agentstacks"], ["my-stack"], ["get", "list", "watch"]),
        (["events"], None, ["create"]),
    ]
    assert {one["subjects"][0]["name"] for one in objects if "subjects" in one} == {
        "ci@example.test"
    }
