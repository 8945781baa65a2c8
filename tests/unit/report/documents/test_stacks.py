"""Several stacks in one report: as people and as programs read it."""

import json
from dataclasses import replace

import jsonschema
from holdfast.drift.cause.stack_causes import StackDrift
from holdfast.drift.finding import (
    Actor,
    AgentState,
    AgentStatus,
    Cause,
    DriftClass,
    DriftReport,
    Finding,
    NotChecked,
    Severity,
)
from holdfast.kube.objects import ObjectRef
from holdfast.kube.workload_status import HEALTHY, Health, HealthVerdict
from holdfast.report.documents.stacks import stacks_json, stacks_schema
from holdfast.report.text.stacks_text import stacks_text

ALICE = Actor("kubectl-set", "Update", time="2026-11-21T10:00:00Z", user="alice")
REF = ObjectRef("cx", "Deployment", "support", "apps/v1")
CHANGED = Finding(
    REF, "support", DriftClass.CHANGED, ("spec", "image"), "a:1", "x:1",
    severity=Severity.CRITICAL, policies=("image-digest-pinned",), actors=(ALICE,),
)  # fmt: skip
LABEL = replace(
    CHANGED, path=("metadata", "labels", "x"), live="\x1b[2J", desired=None, policies=(),
    severity=Severity.LOW, drift_class=DriftClass.ADDED, actors=(),
)  # fmt: skip
WAITING = replace(CHANGED, ref=replace(REF, name="intake"), agent="intake", actors=())
OUT = AgentStatus("support", "cx", AgentState.OUT_OF_SYNC, 2)
UNKNOWN = AgentStatus("support", "ops", AgentState.UNKNOWN)
STACKS = (
    StackDrift("dev", DriftReport((CHANGED, LABEL), objects_checked=4, agents=(OUT,)),
               {"support": HealthVerdict(Health.DEGRADED, "it does not exist")}),
    StackDrift("prod", DriftReport((CHANGED, WAITING), objects_checked=4, agents=(OUT,),
                                   causes=(Cause("not deployed", (WAITING,), "run up"),)),
               {"support": HEALTHY}),
    StackDrift("lab", DriftReport((), (NotChecked("stack lab", "no answer"),), 0,
                                  agents=(UNKNOWN,))),
)  # fmt: skip


def test_what_is_shared_is_reported_once_and_the_rest_where_it_is() -> None:
    assert stacks_text(STACKS) == (
        "one cause: changed spec.image in 2 objects of kind Deployment by alice through kubectl-set"
        " on 2 stacks, 2026-11-21T10:00:00Z: x:1\n"
        "  dev: Deployment cx/support\n"
        "  prod: Deployment cx/support\n"
        "  breaks image-digest-pinned\n"
        "\n"
        "stack dev: 2 findings in 1 object: 1 critical, 1 low (4 objects checked)\n"
        "  AGENT    SYNC       HEALTH    REASON\n"
        "  support  OutOfSync  Degraded  it does not exist\n"
        "  low       Deployment cx/support  metadata.labels.x was added but is not declared:"
        " \\e[2J\n"
        "\n"
        "stack prod: 2 findings in 2 objects: 2 critical (4 objects checked)\n"
        "  AGENT    SYNC       HEALTH   REASON\n"
        "  support  OutOfSync  Healthy\n"
        "  one cause: not deployed: Deployment cx/intake; run up\n"
        "\n"
        "stack lab: no drift seen (0 objects checked); INCOMPLETE: 1 thing not checked\n"
        "  AGENT    SYNC     HEALTH   REASON\n"
        "  support  Unknown  Unknown  it was not checked\n"
        "  not checked: stack lab: no answer\n"
        "\n"
        "3 stacks, 3 agents: 2 OutOfSync, 1 Unknown; 1 Healthy, 1 Unknown, 1 Degraded\n"
        "  team cx: 2 OutOfSync; 1 Healthy, 1 Degraded\n"
        "  team ops: 1 Unknown; 1 Unknown\n"
        "INCOMPLETE: not everything could be checked on lab\n"
    )


def test_programs_read_the_same_by_a_schema() -> None:
    document = json.loads(stacks_json(STACKS))
    jsonschema.validate(document, stacks_schema())
    assert document["complete"] is False
    assert document["causes"][0]["stacks"] == ["dev", "prod"]
    assert document["counts"]["sync"] == {"Synced": 0, "OutOfSync": 2, "Unknown": 1}
    assert document["teams"]["cx"]["health"] == {
        "Healthy": 1, "Progressing": 0, "Unknown": 0, "Degraded": 1
    }  # fmt: skip
    assert [each["stack"] for each in document["stacks"]] == ["dev", "prod", "lab"]
