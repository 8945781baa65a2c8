"""What networks and API servers do to a scan: never half a page, never a false clean.

Rows 25 to 37 of the fault matrix, on the real API server behind a proxy that injects the fault.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import proxy_faults as faults
from tests.e2e.faulty_proxy import KUBECONFIG, Fault, FaultyProxy, Request, faulty_proxy
from tests.e2e.live_sandbox import Kubectl, LiveSandbox, run_holdfast

pytestmark = pytest.mark.e2e

MAPS = 40


@dataclass(frozen=True)
class Scanned:
    """A declaration that is deployed and in sync, and a scan of it through the proxy."""

    proxy: FaultyProxy
    desired: Path
    kubeconfig: Path
    namespace: str

    def drift(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        done = run_holdfast(
            *("drift", "--desired", str(self.desired), "--kubeconfig", str(self.kubeconfig)),
            *("-o", "json", *arguments),
        )
        if not done.stdout:
            return done.returncode, {"error": done.stderr}
        report: dict[str, Any] = json.loads(done.stdout)
        return done.returncode, report

    @property
    def is_in_sync(self) -> bool:
        code, report = self.drift()
        return code == 0 and report["complete"] and report["findings"] == []


def objects(namespace: str) -> list[dict[str, Any]]:
    def of(api_version: str, kind: str, name: str, **body: Any) -> dict[str, Any]:
        metadata = {"name": name, "namespace": namespace}
        return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}

    maps = [of("v1", "ConfigMap", f"m{number:02}", data={"a": "b"}) for number in range(MAPS)]
    return [*maps, of("v1", "ServiceAccount", "runner"), of("v1", "Service", "web", spec={
        "selector": {"app": "web"}, "ports": [{"name": "http", "port": 80}],
    })]  # fmt: skip


@pytest.fixture
def scanned(
    sandbox: LiveSandbox, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> Iterator[Scanned]:
    desired = objects(namespace)
    kubectl.apply(*desired)
    file = tmp_path / "desired.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": desired}))
    with faulty_proxy(sandbox.kubeconfig()) as proxy:
        yield Scanned(proxy, file, proxy.kubeconfig(tmp_path), namespace)


def maps(request: Request) -> bool:
    return request.lists("configmaps")


def anything(_: Request) -> bool:
    return True


def test_without_faults_it_is_in_sync(scanned: Scanned) -> None:
    assert scanned.is_in_sync


def test_row_25_a_server_that_is_down_is_unreachable(scanned: Scanned) -> None:
    scanned.proxy.on(anything, faults.hang_up)
    code, report = scanned.drift()
    assert code == 1
    assert "no answer from http://127.0.0.1" in report["error"]
    assert "missing" not in report["error"]


def test_row_26_a_server_that_dies_after_a_page_leaves_finished_kinds_and_the_rest_unknown(
    scanned: Scanned,
) -> None:
    scanned.proxy.on(lambda request: not request.lists("serviceaccounts"), faults.hang_up)
    code, report = scanned.drift()
    assert code == 1
    assert not report["complete"]
    assert report["findings"] == []
    scopes = {item["scope"] for item in report["notChecked"]}
    assert scopes == {f"ConfigMap in {scanned.namespace}", f"Service in {scanned.namespace}"}


def test_row_27_429_is_waited_out_as_long_as_the_server_asks(scanned: Scanned) -> None:
    scanned.proxy.on(maps, faults.status(429, Retry_After="2"), times=1)
    assert scanned.is_in_sync
    first, second = scanned.proxy.seen(maps)
    assert second.seconds - first.seconds >= 2


@pytest.mark.parametrize("code", [500, 502, 503, 504])
def test_row_28_bursts_of_failures_are_waited_out(scanned: Scanned, code: int) -> None:
    scanned.proxy.on(maps, faults.status(code), times=3)
    assert scanned.is_in_sync


def test_row_28_a_server_that_never_recovers_leaves_the_kind_unknown(scanned: Scanned) -> None:
    scanned.proxy.on(maps, faults.status(503))
    code, report = scanned.drift()
    assert (code, report["complete"], report["findings"]) == (1, False, [])
    assert len(scanned.proxy.seen(maps)) <= 5


@pytest.mark.parametrize("fault", [faults.trickle, faults.stall], ids=["a byte", "nothing"])
def test_row_29_what_is_late_is_given_up_and_unknown(scanned: Scanned, fault: Fault) -> None:
    scanned.proxy.on(maps, fault)
    started = time.monotonic()
    code, report = scanned.drift("--request-timeout", "2")
    assert (code, report["complete"], report["findings"]) == (1, False, [])
    assert time.monotonic() - started < 30
    assert "no answer" in report["notChecked"][0]["reason"]


BROKEN = [
    pytest.param(faults.reset_in_the_middle, id="reset"),
    pytest.param(faults.short_body, id="short"),
    pytest.param(faults.bad_gzip, id="gzip"),
    pytest.param(faults.bad_json, id="json"),
]


@pytest.mark.parametrize("fault", BROKEN)
def test_row_30_a_broken_answer_is_asked_for_again(scanned: Scanned, fault: Fault) -> None:
    scanned.proxy.on(maps, fault, times=1)
    assert scanned.is_in_sync
    assert len(scanned.proxy.seen(maps)) == 2


@pytest.mark.parametrize("fault", BROKEN)
def test_row_30_half_a_page_is_never_taken_for_a_whole_one(scanned: Scanned, fault: Fault) -> None:
    scanned.proxy.on(maps, fault)
    code, report = scanned.drift()
    assert (code, report["complete"], report["findings"]) == (1, False, [])


class TestPages:
    """Lists of several pages: the page is made small."""

    @pytest.fixture(autouse=True)
    def _small_pages(self, scanned: Scanned) -> None:
        scanned.proxy.page_objects = 10

    @staticmethod
    def second_page(request: Request) -> bool:
        return maps(request) and "continue" in request.query

    def test_all_pages_are_read(self, scanned: Scanned) -> None:
        assert scanned.is_in_sync
        assert len(scanned.proxy.seen(maps)) == 5  # 41 with the cluster's own

    def test_row_31_a_list_that_expired_begins_again(self, scanned: Scanned) -> None:
        scanned.proxy.on(self.second_page, faults.status(410), times=1)
        assert scanned.is_in_sync

    def test_row_31_what_was_deleted_before_the_second_beginning_is_missing(
        self, scanned: Scanned, kubectl: Kubectl
    ) -> None:
        delete = ("delete", "configmap", "m00", "-n", scanned.namespace)
        scanned.proxy.on(self.second_page, faults.status(410), times=1)
        scanned.proxy.on(
            lambda request: maps(request) and len(scanned.proxy.seen(maps)) == 3,
            faults.after(lambda: kubectl(*delete)),
            times=1,
        )
        code, report = scanned.drift()
        assert code == 7
        (finding,) = report["findings"]
        assert (finding["class"], finding["object"]["name"]) == ("missing", "m00")

    def test_row_34_an_object_made_between_pages_is_not_missing(
        self, scanned: Scanned, kubectl: Kubectl
    ) -> None:
        kubectl("delete", "configmap", "m00", "-n", scanned.namespace)
        made_again = objects(scanned.namespace)[0]
        scanned.proxy.on(self.second_page, faults.after(lambda: kubectl.apply(made_again)), times=1)
        assert scanned.is_in_sync

    def test_row_34_an_object_deleted_between_pages_is_no_error(
        self, scanned: Scanned, kubectl: Kubectl
    ) -> None:
        delete = ("delete", "configmap", "m39", "-n", scanned.namespace)
        scanned.proxy.on(self.second_page, faults.after(lambda: kubectl(*delete)), times=1)
        code, report = scanned.drift()
        # The pages are one snapshot: it was there at its time.
        assert (code, report["complete"]) == (0, True)

    def test_row_26_half_the_pages_are_not_a_list(self, scanned: Scanned) -> None:
        scanned.proxy.on(self.second_page, faults.hang_up)
        code, report = scanned.drift()
        assert (code, report["complete"], report["findings"]) == (1, False, [])


def test_row_35_a_token_that_was_replaced_is_read_again(
    sandbox: LiveSandbox, scanned: Scanned, kubectl: Kubectl, tmp_path: Path
) -> None:
    token_file = tmp_path / "token"
    kubectl("create", "clusterrolebinding", scanned.namespace, "--clusterrole=cluster-admin",
            f"--serviceaccount={scanned.namespace}:runner")  # fmt: skip

    def token() -> str:
        return kubectl("create", "token", "runner", "-n", scanned.namespace)

    token_file.write_text(token())
    server = scanned.proxy.connection.server
    authority = tmp_path / "ca.crt"
    authority.write_text(scanned.proxy.connection.authority)
    direct = tmp_path / "token.kubeconfig"
    direct.write_text(
        KUBECONFIG.format(server=server, user=f'tokenFile: "{token_file}"').replace(
            f'server: "{server}"', f'server: "{server}", certificate-authority: "{authority}"'
        )
    )
    scan = Scanned(scanned.proxy, scanned.desired, direct, scanned.namespace)
    assert scan.is_in_sync
    kubectl("delete", "serviceaccount", "runner", "-n", scanned.namespace)
    kubectl.apply(
        next(one for one in objects(scanned.namespace) if one["kind"] == "ServiceAccount")
    )
    deadline = time.monotonic() + 30
    while (code := scan.drift()[0]) != 3 and time.monotonic() < deadline:
        time.sleep(1)  # the server believes a token for some seconds after its account has gone
    assert code == 3
    assert "does not accept the credentials" in scan.drift()[1]["error"]
    token_file.write_text(token())
    assert scan.is_in_sync
    kubectl("delete", "clusterrolebinding", scanned.namespace)


def test_row_36_a_kind_that_may_not_be_read_is_named_with_the_right_that_is_missing(
    scanned: Scanned, kubectl: Kubectl
) -> None:
    kubectl("create", "role", "reader", "-n", scanned.namespace, "--verb=get,list,watch",
            "--resource=configmaps,services")  # fmt: skip
    kubectl("create", "rolebinding", "reader", "-n", scanned.namespace, "--role=reader",
            "--user=carol@example.test")  # fmt: skip
    scanned.proxy.headers["Impersonate-User"] = "carol@example.test"
    code, report = scanned.drift()
    assert (code, report["complete"], report["findings"]) == (1, False, [])
    (item,) = report["notChecked"]
    assert item["scope"] == f"ServiceAccount in {scanned.namespace}"
    assert (
        f"grant get and list on serviceaccounts in namespace {scanned.namespace}" in item["reason"]
    )


def test_row_37_a_kind_that_is_not_served_is_not_deleted(scanned: Scanned) -> None:
    other = json.loads(scanned.desired.read_text())
    metadata = {"name": "x", "namespace": scanned.namespace}
    other["items"].append({"apiVersion": "gone.example/v1", "kind": "Widget", "metadata": metadata})
    scanned.desired.write_text(json.dumps(other))
    code, report = scanned.drift()
    assert (code, report["complete"], report["findings"]) == (1, False, [])
    (item,) = report["notChecked"]
    assert item["reason"] == "the server does not serve gone.example/v1"
