"""Fleets for tests: a small one with every state, one of many agents, one that attacks."""

from dataclasses import replace

from holdfast.adapters.engine.update_record import UpdateRecord
from holdfast.adapters.git.source import Commit, Source
from holdfast.drift.finding import AgentState, DriftReport, Finding, NotChecked, Severity
from holdfast.drift.record.finding_history import FindingHistory, finding_key
from holdfast.errors import SourceLocation
from holdfast.kube.objects import ObjectRef
from holdfast.kube.workload_status import HEALTHY, Health, HealthVerdict
from holdfast.manifest.fleet.topology import Edge, Node
from holdfast.manifest.types.references import Relation
from holdfast.operations.describe.fleet import (
    FleetAgent,
    FleetReport,
    FleetStack,
    Replicas,
    open_drift,
)
from holdfast.operations.describe.topology import Graph
from holdfast.operations.policy.model import JudgedObject, PolicyFinding, PolicyReport, Verdict
from holdfast.operations.scan.scan_context import ReportContext

from tests.unit.report.reports import ALICE, CONFIG, CONTEXT, IMAGE, SIDECAR

MADE_AT = "2026-11-22T04:00:00Z"
PLACE = SourceLocation("agents/a.yaml", 3, 1)
SOURCE = Source(
    Commit("0123456789abcdef0123", "Mira <mira@example.test>", "2026-11-21T09:00:00Z", "Raise it")
)
UPDATES = (
    UpdateRecord(
        action="up",
        stack="prod",
        outcome="succeeded",
        commit="0123456789abcdef0123",
        author="Mira <mira@example.test>",
        pull_request="12",
        operator="ci-7",
        policy="passed, 2 advisory",
        reason="the sale",
        started_at="2026-11-21T10:00:00Z",
        changes={"create": 8},
        agents=("support-rag",),
    ),
    UpdateRecord(
        action="up",
        stack="prod",
        outcome="refused",
        commit="fedcba9876543210",
        operator="ci-8",
        detail="refused: image-digest-pinned",
        started_at="2026-11-21T11:00:00Z",
    ),
)
UNSEEN = NotChecked("Secret in cx", "forbidden: grant list on secrets, or leave them out")
SLOW = HealthVerdict(Health.PROGRESSING, "1 of 2 pods are ready")
BROKEN = HealthVerdict(Health.DEGRADED, "ProgressDeadlineExceeded")
NOT_SEEN = HealthVerdict(Health.UNKNOWN, "not checked")


def agent(name: str, **facts: object) -> FleetAgent:
    """One agent that is fine, but for the facts."""
    plain = FleetAgent(
        name=name,
        namespace="cx",
        type="Service",
        team="front-line",
        owner="customer-care",
        version="2.1.0",
        live_version="2.1.0",
        provider="Anthropic",
        model_name="claude-sonnet-4-6",
        replicas=Replicas(1, 3, 2, 2),
        sync=AgentState.SYNCED,
        health=HEALTHY,
        policy={"passed": 12},
        update=UPDATES[0],
    )
    return replace(plain, **facts)  # type: ignore[arg-type]  # each fact by the field's own name


def edge(source: str, target: Node, relation: Relation) -> Edge:
    """One reference of an agent of `cx`."""
    return Edge(Node("Agent", "cx", source), target, relation, ("spec",), PLACE)


def policy(*findings: PolicyFinding, agents: tuple[str, ...] = ()) -> PolicyReport:
    """What rules say; every agent named passes two."""
    ref = ObjectRef("cx", "Deployment", "a", "apps/v1")
    judged = tuple(JudgedObject(ref, name, ("job-bounds", "pss-host")) for name in agents)
    return PolicyReport("Policy of stack prod", "policy/prod", "prod", findings, judged)


def broken(rule: str, name: str, *, is_mandatory: bool = False) -> PolicyFinding:
    """A rule that an agent's declaration breaks."""
    ref = ObjectRef("cx", "Deployment", name, "apps/v1")
    return PolicyFinding(
        rule,
        Verdict.VIOLATED,
        is_mandatory,
        Severity.MEDIUM,
        ref,
        path="spec.x",
        expected="one",
        found="two",
        remedy="set it to one",
        agent=name,
        location=PLACE,
    )


def stack(name: str, agents: tuple[FleetAgent, ...], **facts: object) -> FleetStack:
    """One stack that was looked at and that has no drift, but for the facts."""
    names = tuple(each.name for each in agents)
    nodes = tuple(Node("Agent", each.namespace, each.name) for each in agents)
    plain = FleetStack(
        name=name,
        profile="prod",
        cluster="eu-west",
        looked_at="scan of the cluster",
        agents=agents,
        drift=DriftReport(objects_checked=57),
        context=replace(CONTEXT, stack=name, observed_at=MADE_AT),
        policy=policy(agents=names),
        graph=Graph("", nodes, ()),
        updates=UPDATES,
    )
    return replace(plain, **facts)  # type: ignore[arg-type]  # each fact by the field's own name


def fleet(*stacks: FleetStack) -> FleetReport:
    """A report of stacks."""
    return FleetReport("holdfast", MADE_AT, SOURCE, stacks)


DRIFT = DriftReport((CONFIG, IMAGE, SIDECAR), (), 57)
FOUND = open_drift(DRIFT, CONTEXT)["support-rag"]
MODEL = Node("ModelConfig", "cx", "gpt")
SERVER = Node("MCPServer", "tools", "product-docs")
GRAPH = Graph(
    "",
    tuple(Node("Agent", "cx", name) for name in ("coder", "support-rag", "triage")),
    (
        edge("support-rag", MODEL, "model"),
        edge("support-rag", SERVER, "tools"),
        edge("coder", Node("Agent", "cx", "support-rag"), "calls"),
        edge("triage", MODEL, "fallback"),
    ),
)
DRIFTED = stack(
    "prod",
    (
        agent("coder", sync=AgentState.UNKNOWN, health=NOT_SEEN, live_version="", update=None),
        agent(
            "support-rag",
            sync=AgentState.OUT_OF_SYNC,
            health=SLOW,
            drift=FOUND,
            live_version="2.0.0",
            policy={"warned": 1, "passed": 3},
        ),
        agent("triage", policy={"refused": 1}),
    ),
    drift=DRIFT,
    policy=policy(
        broken("pvc-approved-class", "support-rag"),
        broken("egress-scoped", "triage", is_mandatory=True),
        agents=("coder", "support-rag", "triage"),
    ),
    graph=GRAPH,
    not_checked=(UNSEEN,),
)
"""Every state at once."""

BLIND = stack(
    "staging",
    (agent("coder", sync=AgentState.UNKNOWN, health=NOT_SEEN, live_version="", update=None),),
    looked_at="",
    drift=DriftReport(objects_checked=None),
    context=ReportContext("staging"),
    updates=(),
    not_checked=(NotChecked("cluster of stack staging", "not checked: no such context"),),
)
"""Nobody has looked."""

FINE = stack("dev", (agent("coder"), agent("support-rag")))
EVERYTHING = fleet(FINE, DRIFTED, BLIND)


REFUSED = (11, 222)


def large_fleet(agents: int = 500, teams: int = 18) -> FleetReport:
    """Many agents of several teams that call one another; every tenth has something."""
    made, findings, edges = [], list[Finding](), list[Edge]()
    for number in range(agents):
        name, team = f"agent-{number:03}", f"team-{number * 7 % teams:02}"
        own: tuple[Finding, ...] = ()
        if number % 10 == 0:
            ref = ObjectRef("cx", "Deployment", name, "apps/v1")
            model = (SIDECAR, IMAGE, CONFIG)[number // 10 % 3]
            own = (replace(model, ref=ref, agent=name, actors=(ALICE,)),)
        findings += own
        sync = AgentState.OUT_OF_SYNC if own else AgentState.SYNCED
        health = {3: SLOW, 7: BROKEN}.get(number % 100, HEALTHY)
        if number % 50 == 9:
            sync, health = AgentState.UNKNOWN, NOT_SEEN
        drift = open_drift(DriftReport(own), _seen(own)).get(name, ())
        said = {"refused": int(number in REFUSED), "passed": 2}
        facts = {"sync": sync, "health": health, "drift": drift, "policy": said}
        made.append(agent(name, team=team, **facts))
        other = Node("Agent", "cx", f"agent-{(number * 13 + 5) % agents:03}")
        edges += [
            edge(name, Node("ModelConfig", "cx", f"model-{number % 6}"), "model"),
            *([edge(name, other, "egress")] if number % 4 == 0 else []),
        ]
    refused = [broken("egress-scoped", f"agent-{at:03}", is_mandatory=True) for at in REFUSED]
    warned = [broken("token-budget-declared", each.name) for each in made[::3]]
    report = DriftReport(tuple(findings), (UNSEEN,), agents * 8)
    whole = stack(
        "prod",
        tuple(made),
        drift=report,
        context=replace(_seen(tuple(findings)), stack="prod", observed_at=MADE_AT),
        policy=policy(*refused, *warned, agents=tuple(each.name for each in made)),
        graph=Graph("", tuple(Node("Agent", "cx", each.name) for each in made), tuple(edges)),
        not_checked=(UNSEEN,),
        updates=UPDATES * 40,
    )
    return fleet(whole)


def _seen(findings: tuple[Finding, ...]) -> ReportContext:
    first = "2026-11-20T04:00:00Z"
    seen = {
        finding_key(one): FindingHistory(
            one, first, first, MADE_AT, 3, age_seconds=172_800 + 600 * at
        )
        for at, one in enumerate(findings)
    }
    return replace(CONTEXT, histories=seen)


def attacked(text: str) -> FleetReport:
    """A fleet in which every text that a cluster or a manifest can choose is the given one."""
    ref = ObjectRef(text, text, text, text)
    finding = replace(SIDECAR, ref=ref, agent=text, policies=(text,), live={text: text})
    found = DriftReport((finding,), (NotChecked(text, text),), 1)
    node = Node("Agent", text, text)
    one = agent(
        text,
        namespace=text,
        type=text,
        team=text,
        owner=text,
        version=text,
        live_version=f"{text}1",
        provider=text,
        model_name=text,
        sync=AgentState.OUT_OF_SYNC,
        health=HealthVerdict(Health.DEGRADED, text),
        drift=open_drift(found, CONTEXT)[text],
        update=replace_all(UPDATES[0], text),
    )
    rule = replace(broken(text, text, is_mandatory=True), ref=ref, path=text, expected=text)
    rule = replace(rule, found=text, remedy=text, note=text)
    attacked_stack = stack(
        "prod",
        (one,),
        cluster=text,
        looked_at=text,
        drift=found,
        policy=policy(rule, agents=(text,)),
        graph=Graph(
            "", (node,), (edge(text, node, "calls"), Edge(node, MODEL, "model", (), PLACE))
        ),
        updates=(replace_all(UPDATES[0], text),),
        not_checked=(NotChecked(text, text),),
    )
    commit = Commit(text, text, text, text, text)
    return FleetReport(text, MADE_AT, Source(commit, (text,)), (attacked_stack,))


def replace_all(record: UpdateRecord, text: str) -> UpdateRecord:
    """An update whose every text is the given one."""
    return UpdateRecord(
        identifier=text,
        action=text,
        stack=record.stack,
        outcome=text,
        commit=text,
        is_dirty=True,
        dirty_reason=text,
        author=text,
        author_time=text,
        pull_request=text,
        operator=text,
        policy=text,
        reason=text,
        detail=text,
        started_at=text,
        changes={text: 1},
        agents=(text,),
    )
