"""What networks and API servers do to a watch: no missed delete, never "in sync" while blind.

Rows 25 to 37 of the fault matrix as they concern a watch, on the real API server behind a proxy
that injects the fault.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from holdfast.adapters.cluster.reflector import SUSPICIOUS_FAILURES

from tests.e2e import proxy_faults as faults
from tests.e2e.faulty_proxy import STREAM_SECONDS, Fault, FaultyProxy, Request, faulty_proxy
from tests.e2e.live_sandbox import Kubectl, LiveSandbox
from tests.e2e.watching import Watching, watching

pytestmark = pytest.mark.e2e

SILENCE_SECONDS = 4
PATIENT_SILENCE_SECONDS = 60
"""Longer than a loaded machine keeps a stream from opening: what is silent is listed again."""


@dataclass(frozen=True)
class Watched:
    """A declaration that is deployed, a proxy, and a watch through it that said "in sync"."""

    proxy: FaultyProxy
    watch: Watching
    namespace: str
    kubectl: Kubectl

    def delete(self, name: str = "one") -> None:
        self.kubectl("delete", "configmap", name, "-n", self.namespace)

    def edit(self, name: str = "one") -> None:
        patch = json.dumps({"data": {"a": "edited"}})
        self.kubectl("patch", "configmap", name, "-n", self.namespace, f"-p={patch}")

    def put_back(self) -> None:
        listed = {"apiVersion": "v1", "kind": "List", "items": objects(self.namespace)}
        self.kubectl(
            *("apply", "--server-side", "--force-conflicts", "-f", "-"), stdin=json.dumps(listed)
        )


def objects(namespace: str) -> list[dict[str, Any]]:
    return [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": namespace},
            "data": {"a": "b"},
        }
        for name in ("one", "two")
    ]


@pytest.fixture
def watched(
    sandbox: LiveSandbox,
    kubectl: Kubectl,
    namespace: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> Iterator[Watched]:
    silence_seconds: int = getattr(request, "param", SILENCE_SECONDS)
    desired = objects(namespace)
    kubectl.apply(*desired)
    file = tmp_path / "desired.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": desired}))
    with faulty_proxy(sandbox.kubeconfig()) as proxy:
        kubeconfig = proxy.kubeconfig(tmp_path)
        options = ("--desired", str(file), "--kubeconfig", str(kubeconfig))
        limits = ("--silence", str(silence_seconds), "--request-timeout", "3")
        with watching(*options, *limits) as watch:
            watch.wait_for_status("in sync")
            proxy.await_stream()
            yield Watched(proxy, watch, namespace, kubectl)


def maps(request: Request) -> bool:
    return request.lists("configmaps")


def map_watches(request: Request) -> bool:
    return request.watches("configmaps")


def either(request: Request) -> bool:
    return request.plural == "configmaps"


def test_nothing_is_polled_between_two_readings(watched: Watched) -> None:
    time.sleep(SILENCE_SECONDS)
    assert len(watched.proxy.seen(maps)) == 1
    assert len(watched.proxy.seen(map_watches)) <= 3


def test_row_25_a_server_that_goes_down_is_unknown_until_it_is_back(watched: Watched) -> None:
    watched.proxy.on(lambda _: True, faults.hang_up)
    cut = time.monotonic()
    watched.proxy.cut_streams()
    unknown = watched.watch.wait_for_status("unknown", since=cut)
    assert unknown["notChecked"][0]["scope"] == f"ConfigMap in {watched.namespace}"
    assert "no answer" in unknown["notChecked"][0]["reason"]
    watched.delete()
    watched.proxy.heal()
    finding = watched.watch.wait_for_turn("opened", "one")["finding"]
    assert finding["class"] == "missing"
    watched.watch.wait_for_status("drift", since=cut)


def test_row_27_429_for_a_stream_is_waited_out(watched: Watched) -> None:
    watched.proxy.on(map_watches, faults.status(429, Retry_After="2"), times=1)
    watched.proxy.cut_streams()
    watched.edit()
    assert watched.watch.wait_for_turn("opened", "one")["finding"]["live"] == "edited"
    *_, refused, accepted = watched.proxy.seen(map_watches)[:3]
    assert accepted.seconds - refused.seconds >= 2


def test_row_28_a_burst_of_failures_ends_in_the_same_watch(watched: Watched) -> None:
    watched.proxy.on(either, faults.status(503), times=3)
    watched.proxy.cut_streams()
    watched.edit()
    assert watched.watch.wait_for_turn("opened", "one")["finding"]["live"] == "edited"
    watched.put_back()
    watched.watch.wait_for_turn("closed", "one")


@pytest.mark.parametrize(
    "expired",
    [
        pytest.param(faults.status(410), id="as status"),
        pytest.param(faults.expired_event, id="as event"),
    ],
)
def test_row_32_a_version_that_expired_is_listed_again_and_no_delete_is_missed(
    watched: Watched, expired: Fault
) -> None:
    gone = faults.after(watched.delete)
    watched.proxy.on(map_watches, expired, times=1)
    watched.proxy.on(maps, gone, times=1)
    watched.proxy.cut_streams()
    assert watched.watch.wait_for_turn("opened", "one")["finding"]["class"] == "missing"
    assert len(watched.proxy.seen(maps)) == 2
    watched.put_back()
    watched.watch.wait_for_turn("closed", "one")


def test_row_33_a_silent_stream_is_unknown_then_listed_again_and_no_delete_is_missed(
    watched: Watched,
) -> None:
    watched.proxy.on(map_watches, faults.silence, times=1)
    cut = time.monotonic()
    watched.proxy.cut_streams()
    deadline = time.monotonic() + STREAM_SECONDS
    while not watched.proxy.seen(lambda one: map_watches(one) and one.seconds > cut):
        assert time.monotonic() < deadline, "nothing is watched"
        time.sleep(0.05)
    watched.delete()
    unknown = watched.watch.wait_for_status("unknown", since=cut)
    assert "no data for 4 s" in unknown["notChecked"][0]["reason"]
    assert watched.watch.wait_for_turn("opened", "one")["finding"]["class"] == "missing"
    watched.watch.wait_for_status("drift", since=cut)


@pytest.mark.parametrize("watched", [PATIENT_SILENCE_SECONDS], indirect=True, ids=["patient"])
def test_row_30_a_stream_that_breaks_off_goes_on_where_it_was(watched: Watched) -> None:
    # After as many streams in a row as are suspicious it is listed again, by intention.
    for number in range(SUSPICIOUS_FAILURES - 1):
        watched.proxy.cut_streams()
        # What is undone before the stream is open again need not be seen; what stays is.
        since = time.monotonic()
        watched.edit()
        watched.put_back()
        watched.edit()
        watched.watch.wait_for_turn("opened", "one", since=since)
        undone = time.monotonic()
        watched.put_back()
        watched.watch.wait_for_status("in sync", since=undone)
        assert len(watched.proxy.seen(maps)) == 1, number
    assert "unknown" not in watched.watch.statuses[2:]


def test_row_34_made_and_deleted_while_nobody_could_watch(watched: Watched) -> None:
    watched.proxy.on(either, faults.stall)
    watched.proxy.cut_streams()
    watched.delete("one")
    watched.delete("two")
    watched.put_back()
    watched.delete("two")
    watched.proxy.heal()
    assert watched.watch.wait_for_turn("opened", "two")["finding"]["class"] == "missing"
    watched.watch.wait_for_status("drift")
    time.sleep(2)  # what came and went may be told step by step
    last = {}
    for document in watched.watch.findings:
        last[document["finding"]["object"]["name"]] = document["type"]
    assert last["two"] == "finding.opened"
    assert last.get("one") in {None, "finding.closed"}


def test_row_35_credentials_that_are_refused_are_unknown_until_they_are_accepted(
    watched: Watched,
) -> None:
    watched.proxy.on(either, faults.status(401))
    cut = time.monotonic()
    watched.proxy.cut_streams()
    unknown = watched.watch.wait_for_status("unknown", since=cut)
    assert "does not accept the credentials" in unknown["notChecked"][0]["reason"]
    watched.proxy.heal()
    watched.watch.wait_for_status("in sync", since=cut)


def test_row_36_a_right_that_was_taken_is_named(watched: Watched) -> None:
    watched.proxy.headers["Impersonate-User"] = "nobody@example.test"
    cut = time.monotonic()
    watched.proxy.cut_streams()
    unknown = watched.watch.wait_for_status("unknown", since=cut)
    (item,) = unknown["notChecked"]
    assert "grant list and watch on configmaps in namespace" in item["reason"]
    watched.proxy.headers.clear()
    watched.watch.wait_for_status("in sync", since=cut)


def test_row_37_a_kind_that_is_gone_is_not_served_and_comes_back(
    sandbox: LiveSandbox, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    definition = widgets()
    kubectl.apply(definition)
    kubectl.wait_for("condition=Established", f"crd/{definition['metadata']['name']}")
    widget = {
        "apiVersion": "watched.example/v1",
        "kind": "Widget",
        "metadata": {"name": "w", "namespace": namespace},
        "spec": {"size": 1},
    }
    kubectl.apply(widget)
    file = tmp_path / "desired.json"
    file.write_text(json.dumps(widget))
    options = ("--desired", str(file), "--kubeconfig", str(sandbox.kubeconfig()))
    with watching(*options, "--silence", "4") as watch:
        watch.wait_for_status("in sync")
        gone = time.monotonic()
        kubectl("delete", "crd", definition["metadata"]["name"])
        unknown = watch.wait_for_status("unknown", since=gone)
        assert "the server does not serve widgets" in unknown["notChecked"][0]["reason"]
        kubectl.apply(definition)
        kubectl.wait_for("condition=Established", f"crd/{definition['metadata']['name']}")
        kubectl.apply(widget)
        watch.wait_for_status("in sync", since=gone)
    kubectl("delete", "crd", definition["metadata"]["name"])


def widgets() -> dict[str, Any]:
    """Definition of a kind of our own."""
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.watched.example"},
        "spec": {
            "group": "watched.example",
            "scope": "Namespaced",
            "names": names,
            "versions": [{**version, "schema": {"openAPIV3Schema": schema}}],
        },
    }
