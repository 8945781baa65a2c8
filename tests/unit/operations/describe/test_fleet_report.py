"""A fleet in data and in a sentence: the worst first, and nothing fine that nobody has seen."""

from dataclasses import replace

import pytest
from holdfast.drift.finding import AgentState, Finding, NotChecked, Severity
from holdfast.kube.objects import ObjectRef
from holdfast.operations.describe.fleet import FleetAgent, FleetReport, grouped, worst_first
from holdfast.operations.policy.heat_map import policy_rows
from holdfast.report.text.fleet_summary import fleet_text, verdict_of

from tests.unit.report.fleets import (
    BLIND,
    BROKEN,
    DRIFT,
    DRIFTED,
    EVERYTHING,
    FINE,
    FOUND,
    NOT_SEEN,
    SLOW,
    UNSEEN,
    agent,
    broken,
    fleet,
    policy,
    stack,
)
from tests.unit.report.reports import STRANGER


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(agent("a"), (), id="fine"),
        pytest.param(agent("a", sync=AgentState.OUT_OF_SYNC), ("drift",), id="drifted"),
        pytest.param(agent("a", health=SLOW), ("health",), id="progressing"),
        pytest.param(agent("a", health=BROKEN), ("health",), id="degraded"),
        pytest.param(agent("a", policy={"refused": 1}), ("policy",), id="refused"),
        pytest.param(agent("a", policy={"warned": 1}), (), id="only advised"),
        pytest.param(agent("a", sync=AgentState.UNKNOWN), ("unknown",), id="sync not known"),
        pytest.param(agent("a", health=NOT_SEEN), ("unknown",), id="health not known"),
    ],
)
def test_an_agent_has_the_concerns_that_somebody_should_look_at(
    given: FleetAgent, expected: tuple[str, ...]
) -> None:
    assert given.concerns == expected


def test_the_worst_agent_comes_first_and_its_team_with_it() -> None:
    drifted = agent("z", team="late", sync=AgentState.OUT_OF_SYNC, drift=FOUND)
    given = [agent("a"), agent("m", health=BROKEN), agent("n", health=SLOW), drifted]
    assert [each.name for each in worst_first(given)] == ["z", "m", "n", "a"]
    assert [name for name, _ in grouped(given)] == ["late", "front-line"]
    assert drifted.worst is Severity.CRITICAL
    assert drifted.oldest is not None
    assert drifted.oldest.age == "2d"
    assert drifted.newly_broken == 2


@pytest.mark.parametrize(
    ("given", "word", "sentence"),
    [
        pytest.param(fleet(FINE), "In sync", "All 2 agents are in sync", id="fine"),
        pytest.param(
            fleet(DRIFTED),
            "Drifted",
            "1 of 3 agents drifted, the worst critical, and not everything could be checked",
            id="drifted",
        ),
        pytest.param(
            fleet(replace(FINE, drift=replace(DRIFT, findings=(STRANGER,)))),
            "Drifted",
            "The fleet drifted, the worst critical",
            id="what belongs to no agent",
        ),
        pytest.param(
            fleet(replace(FINE, policy=policy(broken("x", "coder", is_mandatory=True)))),
            "Not compliant",
            "1 mandatory rule broken by what is declared",
            id="refused",
        ),
        pytest.param(
            fleet(stack("dev", (agent("a", health=SLOW),))),
            "Not healthy",
            "1 of 1 agent not healthy",
            id="not healthy",
        ),
        pytest.param(fleet(BLIND), "Not known", "1 of 1 agent not known", id="blind"),
        pytest.param(
            fleet(replace(FINE, not_checked=(UNSEEN,))),
            "Not known",
            "Not everything could be checked",
            id="a part was not seen",
        ),
        pytest.param(fleet(stack("dev", ())), "Empty", "No agent is declared", id="empty"),
    ],
)
def test_one_sentence_says_what_comes_first(given: FleetReport, word: str, sentence: str) -> None:
    verdict = verdict_of(given.stacks)
    assert (verdict.word, verdict.tone == "fine") == (word, word == "In sync")
    assert verdict.sentence.startswith(sentence)


@pytest.mark.parametrize(
    "spoiled",
    [
        pytest.param(lambda one: replace(one, sync=AgentState.UNKNOWN), id="sync"),
        pytest.param(lambda one: replace(one, health=NOT_SEEN), id="health"),
    ],
)
def test_one_agent_that_is_not_known_keeps_a_fleet_from_being_fine(spoiled: object) -> None:
    assert callable(spoiled)
    agents = (agent("a"), spoiled(agent("b")))
    assert verdict_of([stack("dev", agents)]).tone == "unknown"


def test_the_text_names_what_needs_a_look_and_what_was_not_seen() -> None:
    text = fleet_text(EVERYTHING)
    assert text.startswith("holdfast: 1 of 6 agents drifted, the worst critical")
    assert "stack prod: 3 agents: 1 Synced, 1 OutOfSync, 1 Unknown; 1 Healthy" in text
    assert "  cx/support-rag: OutOfSync, Progressing, 3 findings, the worst critical" in text
    assert "  not checked: Secret in cx: forbidden" in text
    assert "  drift: not checked\n" in text
    assert "cx/coder: Unknown, Unknown" in text


def test_texts_of_a_cluster_cannot_move_the_terminal() -> None:
    evil = NotChecked("a\x1b[2J", "b\ncluster: fine")
    text = fleet_text(fleet(replace(BLIND, not_checked=(evil,))))
    assert "\x1b" not in text
    assert "\ncluster: fine" not in text


def test_rules_are_reported_by_what_refuses_then_by_what_runs_breaks() -> None:
    said = policy(broken("advised", "a"), broken("refused", "a", is_mandatory=True))
    rows = policy_rows(said, DRIFT)
    assert [(row.rule, row.state, row.count) for row in rows] == [
        ("refused", "refused", 1),
        ("image-digest-pinned", "drifted", 2),
        ("advised", "warned", 1),
    ]
    assert rows[1].example is None


def test_what_runs_stands_in_the_heat_map_beside_what_is_declared() -> None:
    made = DRIFTED.heat_map()
    cells = {row.rule: dict(zip(made.agents, row.cells, strict=True)) for row in made.rows}
    assert cells["image-digest-pinned"]["support-rag"].state == "drifted"
    assert cells["egress-scoped"]["triage"].state == "refused"
    by_team = DRIFTED.heat_map(by_group=True)
    assert by_team.agents == ("front-line",)


def test_a_finding_of_an_agent_that_is_not_declared_belongs_to_no_column_of_a_team() -> None:
    other = replace(DRIFT.findings[2], agent="gone", ref=ObjectRef("x", "Deployment", "gone", "v1"))
    assert isinstance(other, Finding)
    made = replace(FINE, drift=replace(DRIFT, findings=(other,))).heat_map(by_group=True)
    assert made.agents == ("", "front-line")
