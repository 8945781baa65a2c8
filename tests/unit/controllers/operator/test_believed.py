"""Only what the stack's last update has declared counts, whatever else the cluster holds."""

import copy
from typing import Any

import pytest
from holdfast.controllers.operator.believed import (
    Believed,
    ResourceFilter,
    TrustedDeclaration,
    declaration_refs,
    read_stack_declaration,
)
from holdfast.errors import InputError
from holdfast.kube.objects import KubeObject
from holdfast.manifest.kinds.kinds import KINDS

from tests.unit.controllers.operator.resources import STACK, declare_again, deployed, named

HELPER = ("ops", "k8s-helper")
KEY = "Agent ops/k8s-helper"
REFS = declaration_refs(STACK)


def declaration_in(objects: list[KubeObject]) -> TrustedDeclaration:
    by_name = {one["metadata"]["name"]: one for one in objects if one["kind"] == "StackDeclaration"}
    return read_stack_declaration(REFS, lambda ref: by_name.get(ref.name))


def sources(objects: list[KubeObject]) -> list[KubeObject]:
    return [one for one in objects if one["kind"] in {*KINDS, "ConfigMap"}]


class Cluster:
    """A stack that an update has deployed, seen once."""

    def __init__(self) -> None:
        self.objects = deployed()
        self.declaration = declaration_in(self.objects)
        self.filter = ResourceFilter()
        self.before = self.believed()

    def believed(self) -> Believed:
        return self.filter.believed(self.declaration, sources(self.objects))

    def agent(self, name: str = "k8s-helper") -> KubeObject:
        return named([one for one in self.objects if one["kind"] == "Agent"], name)

    def replace(self, one: KubeObject, other: KubeObject | None) -> None:
        self.objects = [each for each in self.objects if each is not one]
        self.objects += [other] if other is not None else []


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def spec_of(believed: Believed, name: str) -> Any:
    agents = [one for one in believed.resources if one["kind"] == "Agent"]
    return named(agents, name)["spec"]


def test_everything_that_an_update_writes_counts(cluster: Cluster) -> None:
    assert cluster.declaration.is_deployed
    assert not cluster.declaration.is_leaving
    assert len(cluster.before.resources) == len(sources(cluster.objects))
    assert not cluster.before.altered
    assert not cluster.before.strangers
    assert not cluster.before.pending


def test_without_a_declaration_nothing_counts() -> None:
    with pytest.raises(InputError, match="the declaration of the stack is not there"):
        read_stack_declaration(REFS, lambda _: None)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param("drift", {"mode": "report"}, id="drift mode"),
        pytest.param("image", "evil.example/x:1", id="image"),
        pytest.param("pod", {"security": {"automountToken": True}}, id="token"),
        pytest.param("version", "9.9.9", id="version"),
        pytest.param("command", ["sh"], id="command"),
    ],
)
def test_an_agent_that_somebody_edits_counts_as_it_was_deployed(
    cluster: Cluster, field: str, value: Any
) -> None:
    before, edited = cluster.agent(), copy.deepcopy(cluster.agent())
    edited["spec"][field] = value
    cluster.replace(before, edited)
    after = cluster.believed()
    assert spec_of(after, "k8s-helper") == before["spec"]
    assert list(after.altered) == [KEY]
    assert HELPER in after.altered_agents()


@pytest.mark.parametrize("mark", ["labels", "annotations"])
def test_a_mark_of_the_manifest_is_content_and_one_of_the_deployer_is_not(
    cluster: Cluster, mark: str
) -> None:
    before = cluster.agent()
    for key, is_content in (("tier", True), ("holdfast.dev/paused", False)):
        edited = copy.deepcopy(before)
        edited["metadata"][mark][key] = "true"
        cluster.replace(cluster.agent(), edited)
        assert (KEY in cluster.believed().altered) is is_content


def test_a_deleted_agent_counts_as_it_was_deployed(cluster: Cluster) -> None:
    before = cluster.agent()
    cluster.replace(before, None)
    after = cluster.believed()
    assert spec_of(after, "k8s-helper") == before["spec"]
    assert list(after.altered) == [KEY]


def test_nothing_is_known_of_what_was_altered_before_this_process_began(cluster: Cluster) -> None:
    edited = copy.deepcopy(cluster.agent())
    edited["spec"]["version"] = "9.9.9"
    cluster.replace(cluster.agent(), edited)
    fresh = ResourceFilter().believed(cluster.declaration, sources(cluster.objects))
    assert HELPER in fresh.strangers
    assert KEY in fresh.pending
    assert not fresh.altered


def test_an_agent_that_was_not_declared_does_not_count(cluster: Cluster) -> None:
    stranger = copy.deepcopy(cluster.agent())
    stranger["metadata"] |= {"namespace": "aaa-alice", "uid": "other"}
    cluster.objects.append(stranger)
    after = cluster.believed()
    assert ("aaa-alice", "k8s-helper") in after.strangers
    assert len(after.resources) == len(cluster.before.resources)


@pytest.mark.parametrize("kind", ["ConfigMap", "ModelConfig", "AgentTeam"])
def test_a_namesake_of_what_agents_share_does_not_count(cluster: Cluster, kind: str) -> None:
    one = next(one for one in cluster.objects if one["kind"] == kind)
    namesake = copy.deepcopy(one)
    namesake["metadata"] |= {"namespace": "aaa-alice", "uid": "other"}
    cluster.objects.insert(0, namesake)
    assert len(cluster.believed().resources) == len(cluster.before.resources)
    assert namesake not in cluster.believed().resources


@pytest.mark.parametrize(
    "spec",
    [
        {"rules": ["host-namespaces"], "target": {"kind": "Deployment", "name": "x"}},
    ],
)
def test_a_waiver_and_an_ignore_rule_of_others_do_not_count(
    cluster: Cluster, spec: dict[str, Any]
) -> None:
    for kind in ("PolicyException", "DriftIgnore"):
        metadata = {"name": "waived", "namespace": "ops", "labels": {}, "uid": kind}
        other = {"apiVersion": "holdfast.dev/v1alpha1", "kind": kind, "metadata": metadata}
        cluster.objects.append({**other, "spec": spec})
    assert len(cluster.believed().resources) == len(cluster.before.resources)


def test_settings_that_somebody_edits_count_as_they_were_deployed(cluster: Cluster) -> None:
    settings = next(one for one in cluster.objects if one["kind"] == "ConfigMap")
    edited = copy.deepcopy(settings)
    edited["data"]["environment.json"] = '{"policy": {"rules": {"all": "disabled"}}}'
    cluster.replace(settings, edited)
    after = cluster.believed()
    assert [one for one in after.resources if one["kind"] == "ConfigMap"] == [settings]


def test_an_update_is_under_way_until_it_has_reached_the_agent(cluster: Cluster) -> None:
    newer = copy.deepcopy(cluster.agent())
    newer["spec"]["version"] = "9.9.9"
    declared = [*(one for one in cluster.objects if one is not cluster.agent()), newer]
    cluster.declaration = declaration_in(declare_again(declared))
    under_way = cluster.believed()
    assert under_way.is_pending(HELPER)
    assert not under_way.is_pending(("cx", "support-rag"))
    assert not under_way.altered
    assert spec_of(under_way, "k8s-helper") == cluster.agent()["spec"]
    cluster.replace(cluster.agent(), newer)
    done = cluster.believed()
    assert not done.is_pending(HELPER)
    assert spec_of(done, "k8s-helper")["version"] == "9.9.9"


def test_an_agent_that_the_deployer_removes_keeps_its_content_while_it_goes(
    cluster: Cluster,
) -> None:
    going = copy.deepcopy(cluster.agent())
    going["metadata"]["deletionTimestamp"] = "2026-11-23T12:00:00Z"
    going["spec"]["version"] = "9.9.9"
    rest = [one for one in cluster.objects if one is not cluster.agent()]
    version = cluster.agent()["spec"]["version"]
    cluster.declaration = declaration_in(declare_again(rest))
    assert HELPER in cluster.believed().strangers, "it is declared no more, and not deleted yet"
    cluster.replace(cluster.agent(), going)
    after = cluster.believed()
    assert spec_of(after, "k8s-helper")["version"] == version
    assert HELPER not in after.strangers
    cluster.replace(cluster.agent(), None)
    assert HELPER not in cluster.believed().altered_agents()


def test_a_stack_whose_mark_of_completion_is_gone_is_being_taken_away(cluster: Cluster) -> None:
    rest = [one for one in cluster.objects if not one["metadata"]["name"].endswith(".deployed")]
    left = declaration_in(rest)
    assert left.is_leaving
    assert not left.is_deployed


@pytest.mark.parametrize(
    ("value", "kept"), [(1.0, 1), ({"a": [2.0]}, {"a": [2]}), ({"a": 0.5}, {"a": 0.5})]
)
def test_numbers_are_compared_as_the_api_server_keeps_them(
    cluster: Cluster, value: Any, kept: Any
) -> None:
    agent = cluster.agent()
    agent["spec"]["budget"] = value
    cluster.declaration = declaration_in(declare_again(cluster.objects))
    returned = copy.deepcopy(agent)
    returned["spec"]["budget"] = kept
    cluster.replace(agent, returned)
    assert KEY not in cluster.believed().pending


def test_in_mode_expand_scaling_an_agent_is_not_altering_it(cluster: Cluster) -> None:
    scaled = copy.deepcopy(cluster.agent())
    scaled["spec"].setdefault("scaling", {})["replicas"] = 3
    cluster.replace(cluster.agent(), scaled)
    after = cluster.believed()
    assert not after.altered
    assert spec_of(after, "k8s-helper")["scaling"]["replicas"] == 3
