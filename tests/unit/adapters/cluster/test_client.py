import threading
import time
from pathlib import Path

import pytest
from holdfast.adapters.cluster.api_error import ApiError, UnreachableError
from holdfast.adapters.cluster.client import ApiClient, path_of
from holdfast.adapters.cluster.kinds import custom_types, served_kinds
from holdfast.adapters.cluster.kubeconfig import Connection
from holdfast.errors import ClusterError, LoginError

from tests.unit.adapters.cluster.fake_api import Answer, FakeApi, failure

OK = Answer({"ok": True})


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_short_failures_of_a_read_are_waited_out(api: FakeApi, status: int) -> None:
    api.on("/x", failure(status), failure(status), OK)
    assert api.client().get("/x") == b'{"ok": true}'
    assert len(api.requests) == 3


def test_a_read_is_not_repeated_without_end(api: FakeApi) -> None:
    api.on("/x", failure(503, "later"))
    with pytest.raises(ApiError, match="GET /x: 503 later"):
        api.client().get("/x")
    assert len(api.requests) == 5


def test_how_long_to_wait_is_the_servers_to_say(
    api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    client = api.client()
    monkeypatch.setattr(client.stopping, "wait", waited.append)
    api.on("/x", Answer({}, 429, {"Retry-After": "3"}), OK)
    client.get("/x")
    assert waited == [3.0]


def test_a_write_that_was_not_begun_waits_until_the_server_has_room(
    api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    client = api.client()
    monkeypatch.setattr(client.stopping, "wait", waited.append)
    api.on("/x", Answer({}, 429, {"Retry-After": "3"}), OK)
    assert client.write("PATCH", "/x", b"{}", content_type="application/json") == b'{"ok": true}'
    assert waited == [3.0]
    assert client.sent == 2
    api.on("/x", Answer({}, 429, {"Retry-After": "3"}), OK)
    with pytest.raises(ApiError, match="429"):
        client.write("POST", "/x", b"{}", content_type="application/json", is_patient=False)


def test_a_write_that_may_have_been_done_is_never_repeated(api: FakeApi) -> None:
    api.on("/x", failure(503))
    with pytest.raises(ApiError):
        api.client().write("PATCH", "/x", b"{}", content_type="application/json")
    assert len(api.requests) == 1


def test_a_wait_for_a_server_ends_when_the_process_is_to_end(api: FakeApi) -> None:
    client = api.client()
    api.on("/x", Answer({}, 429, {"Retry-After": "60"}))
    failed: list[ApiError] = []

    def read() -> None:
        try:
            client.get("/x")
        except ApiError as error:
            failed.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    client.stop_waiting()
    reader.join(5)
    assert [error.status for error in failed] == [429]


def test_nothing_is_written_once_writes_are_refused(api: FakeApi) -> None:
    client = api.client()
    client.refuse_writes("the lease was lost")
    with pytest.raises(ClusterError, match="PATCH /x is not sent: the lease was lost"):
        client.write("PATCH", "/x", b"{}", content_type="application/json")
    assert api.requests == []


def test_a_deadline_ends_a_request_that_the_server_holds(api: FakeApi) -> None:
    release, client = threading.Event(), api.client()
    client.deadline = time.monotonic() + 0.2
    api.on("/x", Answer(b"", hold=release))
    try:
        with pytest.raises(UnreachableError):
            client.get("/x")
    finally:
        release.set()


def test_a_request_that_gets_no_turn_before_its_deadline_is_not_sent(api: FakeApi) -> None:
    client = api.client()
    client.limiter.limit, client.deadline = 1, time.monotonic()
    with client.limiter.acquire(), pytest.raises(UnreachableError, match="too slowly"):
        client.get("/x")
    assert api.requests == []


def test_a_token_is_sent_and_read_again_when_it_was_replaced(api: FakeApi, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("old\n")
    client = api.client(token_file=str(file))
    file.write_text("new\n")
    api.on("/x", failure(401), OK)
    client.get("/x")
    assert api.tokens == ["Bearer old", "Bearer new"]


def test_a_token_that_expired_is_got_again_from_the_login(api: FakeApi) -> None:
    again = Connection(api.url, token="new")
    client = ApiClient(Connection(api.url, token="old"), log_in_again=lambda: again)
    api.on("/x", failure(401), OK)
    client.get("/x")
    assert api.tokens == ["Bearer old", "Bearer new"]


def test_a_login_that_gives_the_same_token_is_asked_once(api: FakeApi) -> None:
    same = Connection(api.url, token="old")
    logins: list[int] = []

    def log_in_again() -> Connection:
        logins.append(1)
        return same

    api.on("/x", failure(401))
    with pytest.raises(LoginError):
        ApiClient(same, log_in_again=log_in_again).get("/x")
    assert api.tokens == ["Bearer old"]
    assert logins == [1]


def test_refused_credentials_are_a_login_error_without_the_token(api: FakeApi) -> None:
    api.on("/x", failure(401))
    with pytest.raises(LoginError) as caught:
        api.client(token="hunter2", context="prod").get("/x")
    assert "context 'prod'" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert int(caught.value.exit_code) == 3


def test_the_servers_words_about_a_secret_are_not_repeated(api: FakeApi) -> None:
    path = "/api/v1/namespaces/cx/secrets/s"
    api.on(path, failure(422, 'data[key]: Invalid value: "hunter2"'))
    with pytest.raises(ApiError) as caught:
        api.client().write("PATCH", path, b"{}", content_type="application/json")
    assert "hunter2" not in str(caught.value)


def test_no_answer_names_the_server_and_a_remedy(api: FakeApi) -> None:
    client = api.client()
    api.on("/x", Answer(hang_up=True))
    with pytest.raises(UnreachableError, match="check that the cluster runs"):
        client.get("/x")


@pytest.mark.parametrize(
    ("api_version", "namespace", "name", "path"),
    [
        pytest.param("v1", "", "", "/api/v1/pods", id="core"),
        pytest.param("apps/v1", "cx", "", "/apis/apps/v1/namespaces/cx/pods", id="namespace"),
        pytest.param("v1", "cx", "a", "/api/v1/namespaces/cx/pods/a", id="one"),
        pytest.param("v1", "../x", "a/b", "/api/v1/namespaces/..%2Fx/pods/a%2Fb", id="escaped"),
    ],
)
def test_paths_are_those_of_the_api(api_version: str, namespace: str, name: str, path: str) -> None:
    assert path_of(api_version, "pods", namespace, name) == path


def test_built_in_kinds_cost_no_request_and_custom_groups_one(api: FakeApi) -> None:
    resources = [
        {"name": "agents", "kind": "Agent", "namespaced": True},
        {"name": "agents/status", "kind": "Agent", "namespaced": True},
        {"name": "fleets", "kind": "Fleet", "namespaced": False},
    ]
    api.on("/apis/x.example/v1", Answer({"resources": resources}))
    wanted = [("v1", "Pod"), ("x.example/v1", "Agent"), ("x.example/v1", "Fleet"), ("y/v1", "Z")]
    found = served_kinds(api.client(), wanted)
    assert {key[1]: (entry.plural, entry.is_namespaced) for key, entry in found.items()} == {
        "Pod": ("pods", True),
        "Agent": ("agents", True),
        "Fleet": ("fleets", False),
    }
    assert api.paths() == ["/apis/x.example/v1", "/apis/y/v1"]


def test_types_of_custom_resources_come_from_the_servers_documents(api: FakeApi) -> None:
    spec = {
        "type": "object",
        "properties": {
            "limit": {"type": "integer", "default": 3},
            "tools": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "properties": {"name": {"type": "string"}}},
            },
        },
    }
    schema = {
        "type": "object",
        "properties": {"spec": spec},
        "x-kubernetes-group-version-kind": [
            {"group": "x.example", "version": "v1", "kind": "Agent"}
        ],
    }
    document = {"components": {"schemas": {"example.x.v1.Agent": schema}}}
    api.on("/openapi/v3/apis/x.example/v1", Answer(document))
    (table,) = custom_types(api.client(), ["x.example/v1", "unknown/v1"])
    structure = table.structure_of("x.example/v1", "Agent")
    assert structure is not None
    assert structure.field("spec").defaults == {"limit": 3}
    assert structure.field("spec").field("tools").keys == ("name",)
