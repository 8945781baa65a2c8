from holdfast.drift.finding import Severity
from holdfast.kube.objects import ObjectRef
from holdfast.operations.policy.heat_map import MOST_AGENTS, HeatCell, heat_map
from holdfast.operations.policy.model import JudgedObject, PolicyFinding, Verdict

REF = ObjectRef("cx", "Deployment", "a", "apps/v1")


def finding(
    rule: str, agent: str, verdict: Verdict, *, is_mandatory: bool = False
) -> PolicyFinding:
    return PolicyFinding(rule, verdict, is_mandatory, Severity.LOW, REF, agent=agent)


def judged(agent: str, *passed: str) -> JudgedObject:
    return JudgedObject(REF, agent, passed)


def test_a_cell_says_the_worst_and_how_often() -> None:
    findings = [
        finding("r", "a", Verdict.VIOLATED, is_mandatory=True),
        finding("r", "a", Verdict.VIOLATED, is_mandatory=True),
        finding("r", "a", Verdict.WAIVED),
        finding("r", "b", Verdict.UNDETERMINED),
        finding("s", "b", Verdict.VIOLATED),
    ]
    made = heat_map(findings, [judged("a", "r", "s"), judged("c", "r"), judged("c", "r")])
    assert made.agents == ("a", "b", "c")
    assert [(row.rule, row.cells) for row in made.rows] == [
        ("r", (HeatCell("refused", 2), HeatCell("undetermined", 1), HeatCell("passed", 2))),
        ("s", (HeatCell("passed", 1), HeatCell("warned", 1), HeatCell())),
    ]


def test_the_worst_agents_of_a_large_fleet_have_a_column() -> None:
    fleet = [judged(f"agent-{at:03}", "r") for at in range(200)]
    made = heat_map([finding("s", "agent-199", Verdict.VIOLATED)], fleet)
    assert len(made.agents) == MOST_AGENTS
    assert made.agents[-1] == "agent-199"
    assert made.left_out == 200 - MOST_AGENTS


def test_nothing_makes_an_empty_map() -> None:
    assert heat_map([], []).rows == ()
