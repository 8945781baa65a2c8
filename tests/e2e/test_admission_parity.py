"""The same verdict in the pack and in the cluster: every case of every rule, in every kind.

Each case is judged by the pack, and created (dry run) on a real API server with the exported policy
of its rule in force. Where the two differ, or the API server does not take the object whatever the
policies say, it is listed here with the reason; what is listed and is not so is a failure, too.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from holdfast_policies.admission.parameters import Scope, definition, parameters_object
from holdfast_policies.admission.validating import Group, binding_object, policy_object
from holdfast_policies.evaluation.profile import Ruling
from holdfast_policies.model.kinds import POD_TEMPLATE_PATHS, kind_of
from holdfast_policies.model.rule import Environment, Level

from tests.e2e.admissible import admissible, wrapped
from tests.e2e.admission_cluster import Answer, ApiServer
from tests.e2e.live_sandbox import LiveSandbox
from tests.policies.rule_cases import Case, all_cases, is_pod, run

pytestmark = pytest.mark.e2e

SELECTING = "parity.holdfast.dev/policy"
WAIT_SECONDS = 120

ANY = "*"
_RANDOM = "that a text looks random, CEL cannot compute"
_NOT_APPLIED = "created, and not applied, a number of replicas may be a default"
UNLIKE: Mapping[tuple[str, str], str] = {
    ("min-replicas-and-spread/more-wanted", ANY): _NOT_APPLIED,
    ("min-replicas-and-spread/one", ANY): _NOT_APPLIED,
    ("no-literal-credentials/argument", ANY): _RANDOM,
    ("no-literal-credentials/argument-in-two", ANY): _RANDOM,
    ("no-literal-credentials/config-map-file", ANY): _RANDOM,
    ("no-literal-credentials/config-map-key", ANY): _RANDOM,
    ("no-literal-credentials/password", ANY): _RANDOM,
    ("no-literal-credentials/random-value-of-a-promising-name", ANY): _RANDOM,
    ("no-literal-credentials/sandbox-claim", ANY): _RANDOM,
    ("pss-volume-types/type-of-the-future", ANY): "a field that it does not know is dropped",
    ("tool-call-audit-enabled/tools-without-record", ANY): "tools stand in agent.json",
}
"""Case and kind in which the cluster judges otherwise than the pack, and why."""

_ATTACHED = "debugging containers are attached to a pod that runs"
_ALWAYS = "no object of that kind may be so"
REFUSED: Mapping[tuple[str, str], str] = {
    ("autoscaler-and-warmpool-bounds/warm-pool-of-one", ANY): "a warm pool must say how many",
    ("egress-scoped/empty-peer", ANY): _ALWAYS,
    ("egress-scoped/everything-by-another-name", ANY): _ALWAYS,
    ("gpu-governed/no-limit", ANY): "extended resources need a limit",
    ("gpu-governed/unequal", ANY): "extended resources need equal amounts",
    ("image-digest-pinned/ephemeral-container", ANY): _ATTACHED,
    ("model-and-tool-volume-pinned/image-volume-without-reference", ANY): _ALWAYS,
    ("probes-distinct-and-bounded/ephemeral-containers-cannot", ANY): _ATTACHED,
    ("probes-distinct-and-bounded/no-handler", ANY): _ALWAYS,
    ("pss-host-path/empty-host-path", ANY): _ALWAYS,
    ("pss-privileged/privileged-ephemeral-container", ANY): _ATTACHED,
    ("requests-and-limits/ephemeral-containers-cannot", ANY): _ATTACHED,
    ("resource-ceilings/a-request", ANY): "a request may not be above its limit",
}
"""Case and kind that the API server refuses by itself, before any policy, and why."""


@dataclass(frozen=True)
class ListOptions:
    """One object that both are asked about."""

    case: Case
    kind: str
    sent: dict[str, Any]
    is_violation: bool

    @property
    def place(self) -> tuple[str, str]:
        return self.case.id, self.kind


@pytest.fixture(scope="module")
def server(defined_sandbox: LiveSandbox) -> ApiServer:
    """The sandbox's API server."""
    return ApiServer.of(defined_sandbox.kubeconfig())


@pytest.fixture(scope="module")
def asked(server: ApiServer) -> list[tuple[ListOptions, Answer]]:
    """Every question with the answer of the API server."""
    policies = _Policies(server)
    questions = [question for case in all_cases() for question in _questions(case, policies)]
    _prepare(server, questions)
    policies.wait_for(next(each for each in reversed(questions) if each.is_violation))
    answers = server.create_all([each.sent for each in questions])
    return list(zip(questions, answers, strict=True))


def test_the_cluster_judges_as_the_pack_does(asked: list[tuple[ListOptions, Answer]]) -> None:
    unlike = [
        f"{question.place}: the pack {_verdict(is_denied=question.is_violation)},"
        f" the cluster {_verdict(is_denied=not answer.is_taken)}: {answer.message}"
        for question, answer in asked
        if answer.is_judged
        and question.is_violation == answer.is_taken
        and not _listed(question, UNLIKE)
    ]
    assert not unlike, "\n".join(unlike)


def test_every_denial_is_of_the_rule_and_names_the_place(
    asked: list[tuple[ListOptions, Answer]],
) -> None:
    """A policy that fails to evaluate denies, too: that would be no verdict."""
    for question, answer in asked:
        if answer.policy:
            assert f"denied request: {question.case.rule.id}: " in answer.message
            assert "resulted in error" not in answer.message
            assert not question.case.hides or question.case.hides not in answer.message


def test_what_the_api_server_refuses_by_itself_is_known(
    asked: list[tuple[ListOptions, Answer]],
) -> None:
    refused = [
        f"{question.place}: {answer.message}"
        for question, answer in asked
        if not answer.is_judged and not _listed(question, REFUSED)
    ]
    assert not refused, "\n".join(refused)


def test_what_is_listed_is_true(asked: list[tuple[ListOptions, Answer]]) -> None:
    unlike = {
        question.place
        for question, answer in asked
        if answer.is_judged and question.is_violation == answer.is_taken
    }
    refused = {question.place for question, answer in asked if not answer.is_judged}
    for listed, found in ((UNLIKE, unlike), (REFUSED, refused)):
        cases = {case for case, _ in found}
        stale = [
            (case, kind)
            for case, kind in listed
            if (case, kind) not in found and not (kind == ANY and case in cases)
        ]
        assert not stale


def test_enough_was_judged_to_say_so(
    asked: list[tuple[ListOptions, Answer]],
    record_testsuite_property: Callable[[str, object], None],
) -> None:
    counts = Counter(
        "refused" if not answer.is_judged else "taken" if answer.is_taken else "denied"
        for _, answer in asked
    )
    record_testsuite_property("verdicts", dict(counts))
    assert counts["taken"] > 1000, counts
    assert counts["denied"] > 1000, counts
    assert counts["refused"] < len(asked) / 10, counts


class _Policies:
    """One policy, its binding and its parameters for each rule and each of its settings."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        self._names: dict[tuple[str, str], str] = {}
        self._keep(definition())

    def of(self, case: Case) -> str:
        """The label of objects that are to be judged as a case wants."""
        settings = {each.name: each.value_in(Environment.PROD) for each in case.rule.parameters}
        settings |= dict(case.settings)
        key = case.rule.id, json.dumps(settings, sort_keys=True)
        if key not in self._names:
            self._names[key] = f"p{len(self._names)}"
            self._install(self._names[key], Ruling(case.rule, Level.MANDATORY, settings))
        return self._names[key]

    def wait_for(self, question: ListOptions) -> None:
        """Wait until the last policy is in force; those before it are by then."""
        until = time.monotonic() + WAIT_SECONDS
        while not self._server.create(question.sent).policy:
            assert time.monotonic() < until, "the policies did not come into force"
            time.sleep(0.5)

    def _install(self, name: str, ruling: Ruling) -> None:
        scope = Scope(name)
        group = Group(ruling.rule.id, (ruling,), ("Deny", "Audit"))
        binding = binding_object(group, scope)
        binding["spec"]["matchResources"]["objectSelector"] = {"matchLabels": {SELECTING: name}}
        for item in (parameters_object([ruling], [], scope), policy_object(group, scope), binding):
            self._keep(item)

    def _keep(self, item: dict[str, Any]) -> None:
        until = time.monotonic() + WAIT_SECONDS
        while True:
            answer = self._server.keep(item)
            if answer.is_taken:
                return
            assert time.monotonic() < until, answer
            time.sleep(0.5)


def _questions(case: Case, policies: _Policies) -> Iterator[ListOptions]:
    if case.rule.admission is None or case.rule.check is None:
        return
    objects = [(kind_of(case.kube_object).name, case.kube_object)]
    if is_pod(case):
        objects += [
            (kind.name, wrapped(case.kube_object, kind))
            for kind, steps in POD_TEMPLATE_PATHS.items()
            if steps
        ]
    for kind, kube_object in objects:
        sent = admissible(kube_object)
        labels = sent["metadata"].get("labels") or {}
        sent["metadata"]["labels"] = labels | {SELECTING: policies.of(case)}
        yield ListOptions(case, kind, sent, bool(run(case, sent).violations))


def _prepare(server: ApiServer, questions: list[ListOptions]) -> None:
    """What pods must find: their namespaces, ServiceAccounts and runtime classes."""
    namespaces, accounts, classes = set(), set(), set()
    for question in questions:
        namespace = question.sent["metadata"].get("namespace", "default")
        namespaces.add(namespace)
        if question.kind == "Pod":
            spec = question.sent["spec"]
            named = spec.get("serviceAccountName") or spec.get("serviceAccount") or "default"
            accounts.add((namespace, named))
            classes.add(spec.get("runtimeClassName"))
    for name in sorted(namespaces - {"default"}):
        server.keep({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    for namespace, name in sorted(accounts):
        metadata = {"name": name, "namespace": namespace}
        server.keep({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    for name in sorted(classes - {None}):
        metadata = {"name": name}
        kept = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": metadata}
        server.keep(kept | {"handler": name})


def _listed(question: ListOptions, table: Mapping[tuple[str, str], str]) -> bool:
    return question.place in table or (question.case.id, ANY) in table


def _verdict(*, is_denied: bool) -> str:
    return "refuses it" if is_denied else "takes it"
