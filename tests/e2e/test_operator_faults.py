"""What networks and API servers do to the operator: no missed delete, no write on what is not seen.

Rows 25 to 37 of the fault matrix as they concern it, on the real API server behind a proxy that
injects the fault. The agent is expanded by the operator, so that no engine is needed.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from holdfast.controllers.operator.agent_view import PAUSED

from tests.e2e import proxy_faults as faults
from tests.e2e.faulty_proxy import Fault, FaultyProxy, Request, faulty_proxy
from tests.e2e.live_sandbox import Kubectl, LiveSandbox
from tests.e2e.operated_agents import expanded_plan
from tests.e2e.operating import Operating, eventually, operating

pytestmark = pytest.mark.e2e

SILENCE_SECONDS = 6
IMAGE = f"registry.example/held@sha256:{'1' * 64}"
AGENT = f"""\
---
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata: {{name: held, namespace: made}}
spec:
  version: 1.0.0
  image: {IMAGE}
  drift: {{mode: revert}}
"""


@dataclass(frozen=True)
class Held:
    """An agent that an operator holds, a proxy between it and the server, and our own kubectl."""

    proxy: FaultyProxy
    operator: Operating
    kubectl: Kubectl
    declare: Callable[[str], None]

    def exists(self, what: str) -> bool:
        return not self.kubectl.run("get", what, "-n", "made").returncode

    def condition(self, name: str) -> tuple[str, str]:
        conditions = self.kubectl.get("agent/held", "-n", "made")["status"]["conditions"]
        (found,) = [each for each in conditions if each["type"] == name]
        return found["status"], found["reason"]

    def is_in_sync(self) -> bool:
        return self.condition("Drifted") == ("False", "InSync")

    def delete(self, what: str) -> None:
        self.kubectl("delete", what, "-n", "made", "--wait=false")

    def set_image(self, image: str) -> None:
        self.kubectl("set", "image", "-n", "made", "deployment/held", f"agent={image}")

    def image(self) -> str:
        spec = self.kubectl.get("deployment/held", "-n", "made")["spec"]["template"]["spec"]
        return str(spec["containers"][0]["image"])

    def writes(self, since: float) -> list[Request]:
        """Writes to objects of the agent, status and Events of its resource left out."""
        return self.proxy.seen(
            lambda one: (
                one.is_write
                and one.seconds > since
                and "/holdfast.dev/" not in one.path
                and "/events" not in one.path
            )
        )


@pytest.fixture(scope="module")
def held(sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Held]:
    done = sandbox.run("up", "--with", "holdfast")
    assert done.returncode == 0, done.stderr
    folder = tmp_path_factory.mktemp("made")
    plan = expanded_plan(folder, sandbox, AGENT)
    kubectl = Kubectl(sandbox)
    kubectl.apply(*(item.manifest for item in plan.namespace_objects()))
    kubectl.apply(*(item.manifest for item in plan.resource_objects()))

    def declare(agent: str) -> None:
        newer = expanded_plan(tmp_path_factory.mktemp("newer"), sandbox, agent)
        kubectl.apply(*(item.manifest for item in newer.resource_objects()))

    with faulty_proxy(sandbox.kubeconfig()) as proxy:
        options = ("--silence", str(SILENCE_SECONDS), "--resync", "86400")
        with operating(proxy.kubeconfig(folder), "made", *options) as operator:
            yield Held(proxy, operator, kubectl, declare)


@pytest.fixture(autouse=True)
def _in_sync(held: Held) -> Iterator[None]:
    """Every test begins and ends with all as declared, and no fault planned."""
    held.proxy.heal()
    # Image after image is put back here, which would be a fight.
    settled = f"holdfast.dev/settled={time.monotonic()}"
    held.kubectl("annotate", "--overwrite", "agent/held", "-n", "made", settled)

    def is_ready() -> bool:
        found = held.kubectl.run("get", "agent/held", "-n", "made", "-o", "json").stdout
        return "Drifted" in found and held.is_in_sync() and held.operator.ask("/readyz")[0] == 200

    eventually(is_ready, "the agent as declared")
    held.proxy.await_stream()
    yield
    held.proxy.heal()
    eventually(is_ready, "all as declared again")


def services(request: Request) -> bool:
    return request.plural == "services" and not request.is_write


def service_watches(request: Request) -> bool:
    return request.watches("services")


def everything(_: Request) -> bool:
    return True


@pytest.mark.parametrize(
    "expired",
    [
        pytest.param(faults.status(410), id="as status"),
        pytest.param(faults.expired_event, id="as event"),
    ],
)
def test_row_32_a_version_that_expired_misses_no_delete(held: Held, expired: Fault) -> None:
    gone = faults.after(lambda: held.delete("service/held"))
    held.proxy.on(service_watches, expired, times=1)
    held.proxy.on(lambda one: one.lists("services"), gone, times=1)
    held.proxy.cut_streams()
    eventually(lambda: not held.proxy.has_planned(gone), "the list was read anew")
    eventually(lambda: held.exists("service/held"), "made again")


def test_row_33_a_silent_stream_is_unknown_and_misses_no_delete(held: Held) -> None:
    held.proxy.on(service_watches, faults.silence, times=1)
    # While the list after the silence is refused, too, nothing good may be said.
    held.proxy.on(lambda one: one.lists("services"), faults.status(503))
    held.proxy.cut_streams()
    time.sleep(1)
    held.delete("service/held")
    eventually(lambda: held.condition("Drifted") == ("Unknown", "CannotSee"), "unknown")
    assert held.operator.ask("/readyz")[0] == 503
    assert not held.exists("service/held"), "nothing is written on what is not seen"
    held.proxy.heal()
    eventually(lambda: held.exists("service/held"), "made again")


def test_row_36_a_kind_that_may_not_be_read_stops_writes_and_is_named(held: Held) -> None:
    held.proxy.on(services, faults.status(403))
    held.proxy.cut_streams()
    eventually(lambda: held.condition("Drifted") == ("Unknown", "CannotSee"), "unknown")
    assert held.condition("Ready")[0] in {"True", "Unknown"}
    # Streams that were cut often in a row are opened after a pause: until then that is the reason.
    missing = "Service: forbidden: grant list and watch on services in the whole cluster"
    eventually(lambda: missing in held.operator.ask("/readyz")[1], "the missing right is named")
    assert held.operator.ask("/readyz")[0] == 503
    begun = time.monotonic()
    held.set_image("registry.example/evil:1")
    time.sleep(3)
    assert held.writes(begun) == []
    assert held.image() == "registry.example/evil:1"
    held.proxy.heal()
    eventually(lambda: held.image() == IMAGE, "put back when it can be seen again")


def test_row_35_credentials_that_are_refused_for_a_while_end_nothing(held: Held) -> None:
    held.proxy.on(everything, faults.status(401))
    held.proxy.cut_streams()
    eventually(lambda: held.operator.ask("/readyz")[0] == 503, "not ready")
    held.delete("service/held")
    held.set_image("registry.example/evil:1")
    held.proxy.heal()
    eventually(lambda: held.exists("service/held"), "made again")
    eventually(lambda: held.image() == IMAGE, "put back")


def test_row_25_a_server_that_restarts_misses_no_delete(held: Held) -> None:
    held.proxy.on(everything, faults.hang_up)
    held.proxy.cut_streams()
    held.delete("service/held")
    held.delete("serviceaccount/held")
    eventually(lambda: held.operator.ask("/readyz")[0] == 503, "not ready")
    held.proxy.heal()
    eventually(lambda: held.exists("service/held"), "made again")
    eventually(lambda: held.exists("serviceaccount/held"), "made again")


def test_row_25_an_operator_that_begins_while_the_server_is_away_waits_for_it(
    held: Held, tmp_path: Path
) -> None:
    held.proxy.on(everything, faults.hang_up)
    with operating(held.proxy.kubeconfig(tmp_path), "made") as another:
        another.wait_for(phase="wait", level="warning")
        assert another.ask("/healthz")[0] == 200
        assert another.ask("/readyz")[0] == 503
        held.proxy.heal()
        eventually(lambda: another.ask("/readyz")[0] == 200, "it has begun")


@pytest.mark.parametrize(
    ("fault", "times"),
    [
        pytest.param(faults.status(429, Retry_After="1"), 5, id="429"),
        pytest.param(faults.status(503), 5, id="503"),
        pytest.param(faults.reset_in_the_middle, 2, id="reset"),
        pytest.param(faults.short_body, 2, id="short body"),
        pytest.param(faults.bad_json, 2, id="bad JSON"),
    ],
)
def test_rows_27_to_30_a_burst_of_failures_ends_in_the_declared_state(
    held: Held, fault: Fault, times: int
) -> None:
    held.proxy.on(lambda one: not one.is_watch, fault, times=times)
    held.set_image("registry.example/evil:1")
    eventually(lambda: held.image() == IMAGE, "put back")


def deployment_writes(request: Request) -> bool:
    return request.is_write and request.path.endswith("/deployments/held")


def test_what_was_written_since_it_was_read_is_not_overwritten_unseen(held: Held) -> None:
    label: Callable[[], Any] = lambda: held.kubectl(  # noqa: E731  (done at the fault's moment)
        "label", "deployment/held", "-n", "made", "seen=between"
    )
    begun = time.monotonic()
    held.proxy.on(deployment_writes, faults.after(label), times=1)
    held.set_image("registry.example/evil:1")
    eventually(lambda: held.image() == IMAGE, "put back")
    eventually(
        lambda: (
            "seen" not in held.kubectl.get("deployment/held", "-n", "made")["metadata"]["labels"]
        ),
        "the label, too",
    )
    assert len([one for one in held.writes(begun) if deployment_writes(one)]) >= 2


def test_a_write_whose_answer_is_lost_is_checked_again(held: Held) -> None:
    held.proxy.on(deployment_writes, faults.lost_answer, times=1)
    held.set_image("registry.example/evil:1")
    eventually(lambda: held.image() == IMAGE, "put back")
    made = held.kubectl.get("deployments", "-n", "made")["items"]
    assert [each["metadata"]["name"] for each in made] == ["held"]
    assert json.dumps(made).count(IMAGE) >= 1


def paused_status_writes(request: Request) -> bool:
    """Those that tell of the pause; what the test before did may be told even now."""
    is_status = request.is_write and request.path.endswith("/agents/held/status")
    return is_status and msgspec.json.decode(request.body)["status"]["phase"] == "Paused"


def test_a_version_that_the_answer_to_a_status_overtakes_is_not_missed(held: Held) -> None:
    """The answer holds what was declared meanwhile; the watch tells of that only afterwards."""

    def declare_newer() -> None:
        held.proxy.cut_streams()
        held.declare(AGENT.replace("1.0.0", "1.1.0"))
        held.kubectl("annotate", "agent/held", "-n", "made", f"{PAUSED}-")

    held.proxy.on(lambda one: one.watches("agents"), faults.late(2))
    overtaken = faults.after(declare_newer)
    held.proxy.on(paused_status_writes, overtaken, times=1)
    held.kubectl("annotate", "agent/held", "-n", "made", f"{PAUSED}=true")
    eventually(lambda: not held.proxy.has_planned(overtaken), "it says that it is paused")

    def version() -> str:
        labels = held.kubectl.get("deployment/held", "-n", "made")["metadata"]["labels"]
        return str(labels["app.kubernetes.io/version"])

    eventually(lambda: version() == "1.1.0", "the newer version")
