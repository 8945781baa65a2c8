"""The API server puts right what the pack does: the same values, in every kind, and nothing else.

Each case of each rule that remediates is created (dry run) with the exported policy in force, and
once more as the pack put it right, without the policy: what would be kept is the same.
"""

import copy
import json
import re
import time
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from holdfast_policies.admission.mutating import remediations
from holdfast_policies.admission.parameters import Scope
from holdfast_policies.evaluation.judge import judgement_of
from holdfast_policies.evaluation.profile import Profile, Ruling
from holdfast_policies.evaluation.waivers import NO_WAIVERS, Waiver
from holdfast_policies.model.edit import CannotEditError, with_edits
from holdfast_policies.model.kinds import POD_TEMPLATE_PATHS, SERVICE_ACCOUNT, Kind, kind_of
from holdfast_policies.model.rule import Environment, Level, Rule
from holdfast_policies.model.subject import Subject
from holdfast_policies.table import RULES, RULES_BY_ID

from tests.e2e.admissible import admissible, wrapped
from tests.e2e.admission_cluster import ApiServer
from tests.e2e.live_sandbox import LiveSandbox
from tests.policies.rule_cases import all_cases, is_pod

pytestmark = pytest.mark.e2e

SELECTING = "remediation.holdfast.dev/policy"
WAIT_SECONDS = 120
REMEDIATING = [rule for rule in RULES if rule.admission and rule.admission.patches]
DEFAULTS = {
    "owner-and-cost-labels": {
        "defaults": ["holdfast.dev/owner=platform", "holdfast.dev/cost-center=17"]
    },
}
"""Settings without which a rule does not know what to put there."""
NOT_IN_CLUSTER = {("no-token-automount", "Pod")}
"""A pod without a controller has its token before policies change it: it is refused instead."""
KINDS = [kind for kind, steps in POD_TEMPLATE_PATHS.items() if steps]
_UID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
CHOSEN_BY_SERVER = ("uid", "creationTimestamp", "managedFields", "resourceVersion", "generation")


def test_six_of_the_seven_rules_that_remediate_do_so_in_the_cluster() -> None:
    judging_only = {rule.id for rule in RULES if rule.remediate} - {rule.id for rule in REMEDIATING}
    assert judging_only == {"provenance-annotations"}, "no cluster knows the URN of a resource"


@pytest.fixture(scope="module")
def server(defined_sandbox: LiveSandbox) -> ApiServer:
    """The sandbox's API server."""
    return ApiServer.of(defined_sandbox.kubeconfig())


def ruling_of(rule: Rule, settings: dict[str, Any] | None = None) -> Ruling:
    values = {each.name: each.value_in(Environment.STAGING) for each in rule.parameters}
    return Ruling(rule, Level.REMEDIATE, values | DEFAULTS.get(rule.id, {}) | (settings or {}))


class Policies:
    """The policies of one rule with some settings, for the objects with a label."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        self._names: dict[str, str] = {}

    def label_for(self, ruling: Ruling, waivers: tuple[Waiver, ...] = ()) -> str:
        """Label of objects that are to be put right; the policy is in force when this returns."""
        key = json.dumps([ruling.rule.id, dict(ruling.settings), repr(waivers)], sort_keys=True)
        if key not in self._names:
            name = self._names[key] = f"r{len(self._names)}"
            profile = Profile(Environment.STAGING, (ruling,))
            for item in remediations(profile, Scope(name), waivers):
                if item["kind"].endswith("Binding"):
                    selector = {"matchLabels": {SELECTING: name}}
                    item["spec"]["matchResources"]["objectSelector"] = selector
                self._keep(item)
        return self._names[key]

    def _keep(self, item: dict[str, Any]) -> None:
        until = time.monotonic() + WAIT_SECONDS
        while not (answer := self._server.keep(item)).is_taken:
            assert time.monotonic() < until, answer
            time.sleep(0.5)


@pytest.fixture(scope="module")
def policies(server: ApiServer) -> Policies:
    """All of them, made when they are first asked for."""
    return Policies(server)


def sent_objects(rule: Rule) -> Iterator[tuple[str, dict[str, Any], Ruling]]:
    for case in all_cases():
        if case.rule is not rule:
            continue
        ruling = ruling_of(rule, dict(case.settings))
        yield f"{case.id} as it is", admissible(case.kube_object), ruling
        for kind in KINDS if is_pod(case) else ():
            yield f"{case.id} in {kind.name}", admissible(wrapped(case.kube_object, kind)), ruling


def put_right(sent: dict[str, Any], ruling: Ruling) -> dict[str, Any]:
    """As the pack puts it right; the object itself where it is right, or cannot be."""
    subject = Subject.of(sent)
    judged = judgement_of(subject, ruling, NO_WAIVERS) if ruling.is_about(subject) else None
    if judged is None or not judged.violations or ruling.rule.remediate is None:
        return sent
    try:
        return with_edits(sent, tuple(ruling.rule.remediate(subject, ruling.settings)))
    except CannotEditError:
        return sent


def kept(server: ApiServer, sent: dict[str, Any], label: str) -> dict[str, Any] | None:
    """What the server would keep, without what it chooses itself; None where it refuses."""
    labelled = copy.deepcopy(sent)
    labels = labelled["metadata"].get("labels") or {}
    labelled["metadata"]["labels"] = {**labels, SELECTING: label}
    answer = server.made(labelled)
    if answer is None:
        return None
    for field in CHOSEN_BY_SERVER:
        answer["metadata"].pop(field, None)
    answer["metadata"]["labels"].pop(SELECTING, None)
    text = _UID.sub("uid", json.dumps(answer))
    for volume in (answer.get("spec") or {}).get("volumes") or ():
        if volume["name"].startswith("kube-api-access-"):
            text = text.replace(volume["name"], "kube-api-access")
    result: dict[str, Any] = json.loads(text)
    result.get("spec", {}).pop("selector", None)
    return result


@pytest.mark.parametrize("rule", REMEDIATING, ids=lambda rule: rule.id)
def test_the_server_puts_right_what_the_pack_does(
    rule: Rule, server: ApiServer, policies: Policies
) -> None:
    prepare(server, rule)
    wait_until_in_force(server, policies, rule)
    changed, unlike = 0, []
    for name, sent, ruling in sent_objects(rule):
        if kind_of(sent) not in {*POD_TEMPLATE_PATHS, SERVICE_ACCOUNT}:
            continue
        if (rule.id, kind_of(sent).name) in NOT_IN_CLUSTER:
            continue
        expected = put_right(sent, ruling)
        wanted = kept(server, expected, "none")
        found = kept(server, sent, policies.label_for(ruling))
        if wanted is None:
            continue
        changed += expected != sent
        if found != wanted:
            unlike.append(name)
    assert not unlike
    assert changed, "nothing was put right"


def prepare(server: ApiServer, rule: Rule) -> None:
    """What pods must find."""
    for _, sent, _ in sent_objects(rule):
        namespace = sent["metadata"].get("namespace", "default")
        server.keep({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        spec = sent.get("spec") or {}
        account = spec.get("serviceAccountName") or spec.get("serviceAccount") or "default"
        metadata = {"name": account, "namespace": namespace}
        server.keep({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})


def wait_until_in_force(server: ApiServer, policies: Policies, rule: Rule) -> None:
    """Policies take effect some time after they are made: the last one is waited for."""
    labels = {policies.label_for(ruling): (sent, ruling) for _, sent, ruling in sent_objects(rule)}
    until = time.monotonic() + WAIT_SECONDS
    for label in labels:
        sent, ruling = broken(rule, label, policies)
        while kept(server, sent, label) != kept(server, put_right(sent, ruling), "none"):
            assert time.monotonic() < until, f"{rule.id}: {kept(server, sent, label)}"
            time.sleep(0.5)


def broken(rule: Rule, label: str, policies: Policies) -> tuple[dict[str, Any], Ruling]:
    """An object that the pack puts right with the settings of a label, else any."""
    last: tuple[dict[str, Any], Ruling] | None = None
    for _, sent, ruling in sent_objects(rule):
        if policies.label_for(ruling) == label and kind_of(sent) == Kind("apps", "Deployment"):
            last = (sent, ruling)
            if put_right(sent, ruling) != sent:
                return last
    assert last is not None
    return last


def test_what_is_waived_stays_as_it_is(server: ApiServer, policies: Policies) -> None:
    rule = RULES_BY_ID["pss-privilege-escalation"]
    ruling = ruling_of(rule)
    sent, _ = broken(rule, policies.label_for(ruling), policies)
    ref = sent["metadata"]
    waiver = Waiver(
        "one", (rule.id,), "Deployment", ref.get("namespace", "default"), ref["name"],
        "a reason", "platform", "OPS-1", "security", date(2030, 1, 1),
    )  # fmt: skip
    label = policies.label_for(ruling, (waiver,))
    until = time.monotonic() + 30
    other = copy.deepcopy(sent)
    other["metadata"]["name"] = "not-waived"
    while kept(server, other, label) == kept(server, other, "none"):
        assert time.monotonic() < until, "the policy did not come into force"
        time.sleep(0.5)
    assert kept(server, sent, label) == kept(server, sent, "none")


def test_a_second_time_changes_nothing(server: ApiServer, policies: Policies) -> None:
    for rule in REMEDIATING:
        ruling = ruling_of(rule)
        sent, ruling = broken(rule, policies.label_for(ruling), policies)
        label = policies.label_for(ruling)
        first = kept(server, sent, label)
        assert first is not None
        first["spec"]["selector"] = sent["spec"]["selector"]
        assert kept(server, first, label) == kept(server, first, "none")
