import json
from typing import Any

import pytest
from holdfast.kube.audit import parse_event, plurals_of


def line(**changes: Any) -> bytes:
    event = {
        "stage": "ResponseComplete",
        "verb": "patch",
        "user": {"username": "alice@example.test"},
        "userAgent": "kubectl/v1.36.3 (linux/amd64)",
        "objectRef": {
            "resource": "deployments",
            "namespace": "cx",
            "name": "support",
            "apiGroup": "apps",
            "apiVersion": "v1",
        },
        "requestURI": "/apis/apps/v1/namespaces/cx/deployments/support?fieldManager=kubectl-set",
        "responseStatus": {"code": 200},
        "requestReceivedTimestamp": "2026-11-21T10:05:00.123456Z",
    }
    return json.dumps({**event, **changes}).encode()


def test_a_write_tells_who_did_what_to_which_object() -> None:
    event = parse_event(line())
    assert event is not None
    assert (event.group, event.resource, event.namespace, event.name) == (
        "apps",
        "deployments",
        "cx",
        "support",
    )
    assert (event.user, event.manager, event.verb) == ("alice@example.test", "kubectl-set", "patch")
    assert event.time.isoformat() == "2026-11-21T10:05:00.123456+00:00"


def test_an_impersonated_user_is_the_one_who_acts() -> None:
    event = parse_event(line(impersonatedUser={"username": "bob@example.test"}))
    assert event is not None
    assert event.user == "bob@example.test"


def test_without_a_named_manager_the_client_is_the_manager() -> None:
    event = parse_event(line(requestURI="/apis/apps/v1/namespaces/cx/deployments/support/scale"))
    assert event is not None
    assert event.manager == "kubectl"


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"verb": "get"}, id="read"),
        pytest.param({"responseStatus": {"code": 409}}, id="refused"),
        pytest.param({"stage": "RequestReceived"}, id="not done yet"),
        pytest.param({"objectRef": None}, id="no object"),
        pytest.param({"requestURI": "/x?dryRun=All"}, id="dry run"),
        pytest.param({"requestReceivedTimestamp": "yesterday"}, id="no time"),
    ],
)
def test_what_changed_nothing_is_no_event(changes: dict[str, Any]) -> None:
    assert parse_event(line(**changes)) is None


@pytest.mark.parametrize("text", [b"", b"not json", b"[]", b'{"verb":7}'])
def test_a_broken_line_is_passed_over(text: bytes) -> None:
    assert parse_event(text) is None


def test_plurals_of_built_in_kinds_are_known_and_of_others_guessed() -> None:
    assert plurals_of("networking.k8s.io/v1", "NetworkPolicy") == {"networkpolicies"}
    assert "policies" in plurals_of("x.test/v1", "Policy")


POD = {"resource": "pods", "namespace": "cx", "name": "support-1", "subresource": "exec"}


@pytest.mark.parametrize(
    ("verb", "code"),
    [
        pytest.param("create", 101, id="switched protocols"),
        pytest.param("get", 101, id="over a web socket"),
        pytest.param("create", 500, id="allowed, and the node was not there"),
    ],
)
def test_a_session_in_a_pod_is_reported_when_it_was_allowed(verb: str, code: int) -> None:
    event = parse_event(line(verb=verb, objectRef=POD, responseStatus={"code": code}))
    assert event is not None
    assert event.is_session


@pytest.mark.parametrize("code", [401, 403, 404])
def test_a_session_that_was_refused_is_not_reported(code: int) -> None:
    assert parse_event(line(verb="create", objectRef=POD, responseStatus={"code": code})) is None


def test_a_session_is_reported_when_it_begins_and_a_write_when_it_ends() -> None:
    started = {"stage": "ResponseStarted", "responseStatus": {"code": 101}, "auditID": "a-1"}
    event = parse_event(line(objectRef=POD | {"subresource": "portforward"}, **started))
    assert event is not None
    assert (event.is_session, event.identifier) == (True, "a-1")
    assert parse_event(line(**started)) is None
