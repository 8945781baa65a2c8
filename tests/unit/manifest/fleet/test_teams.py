"""A team hands down what its members do not say themselves."""

from pathlib import Path

import pytest
from holdfast.errors import SourceLocation
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.kinds.kinds import AgentTeam

from tests.unit.manifest.projects import IMAGE, MANIFEST, STACK, agent, errors_of, write

TEAM = "agents/team.yaml"


def team(name: str = "care", spec: str = "", members: str = "[triage]") -> str:
    return (
        "apiVersion: holdfast.dev/v1alpha1\nkind: AgentTeam\n"
        f"metadata: {{name: {name}}}\nspec:\n  members: {members}\n{spec}"
    )


def test_a_members_own_fields_win_over_its_teams_and_the_stacks_over_both(tmp_path: Path) -> None:
    write(tmp_path, MANIFEST, agent(spec="telemetry: {logs: {level: debug}}"))
    defaults = """\
  owner: customer-care
  defaults:
    telemetry: {logs: {level: warning, format: text}}
    container: {env: [{name: REGION, value: eu}]}
    scaling: {replicas: 2}
"""
    write(tmp_path, TEAM, team(spec=defaults))
    write(
        tmp_path,
        STACK,
        "config: {holdfast:agents: {triage: {scaling: {replicas: 5}, container: null}}}",
    )
    declared = load_fleet(tmp_path).agents[0]
    assert declared.spec.owner == "customer-care"
    assert declared.spec.telemetry.logs.level == "debug"
    assert declared.spec.telemetry.logs.format == "text"
    assert declared.spec.container.env[0].name == "REGION"
    assert declared.spec.scaling.replicas == 2
    assert declared.location_of("spec.owner") == SourceLocation(TEAM, 6, 10)
    assert declared.location_of("spec.container.env[0].name").file == TEAM
    assert declared.location_of("spec.version").file == MANIFEST
    on_stack = load_fleet(tmp_path, "dev").agents[0]
    assert (on_stack.spec.scaling.replicas, on_stack.spec.container.env) == (5, ())


def test_an_agent_outside_takes_over_nothing(tmp_path: Path) -> None:
    write(tmp_path, MANIFEST, agent())
    write(tmp_path, "agents/other.yaml", agent("other"))
    write(tmp_path, TEAM, team(spec="  owner: care\n"))
    fleet = load_fleet(tmp_path)
    assert [each.spec.owner for each in fleet.agents] == [None, "care"]
    assert [(each.name, fleet.team_of(each)) for each in fleet.agents] == [
        ("other", None),
        ("triage", fleet.of(AgentTeam)[0]),
    ]


def test_a_required_field_may_come_from_the_team(tmp_path: Path) -> None:
    write(tmp_path, MANIFEST, agent().replace(f'  image: "{IMAGE}"\n', ""))
    write(tmp_path, TEAM, team(spec=f'  defaults: {{image: "{IMAGE}"}}\n'))
    assert load_fleet(tmp_path).agents[0].spec.image == IMAGE


def test_what_is_missing_is_missed_at_the_member(tmp_path: Path) -> None:
    write(tmp_path, MANIFEST, agent().replace(f'  image: "{IMAGE}"\n', ""))
    write(tmp_path, TEAM, team(spec="  defaults: {scaling: {replicas: 2}}\n"))
    (error,) = errors_of(tmp_path).errors
    assert str(error).startswith("agents/triage.yaml:4:1: spec.image: this field is required")


def test_a_faulty_default_is_reported_once_at_the_team(tmp_path: Path) -> None:
    for name in ("triage", "other"):
        write(tmp_path, f"agents/{name}.yaml", agent(name))
    text = team(spec="  defaults: {scaling: {replicas: -1}}\n", members="[triage, other]")
    write(tmp_path, TEAM, text)
    (error,) = errors_of(tmp_path).errors
    assert str(error).startswith(f"{TEAM}:6:34: spec.scaling.replicas: expected a number from 0")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(
            team(members="[triag]"),
            f"{TEAM}:5:13: spec.members[0]: expected an agent of namespace 'agents', got 'triag'; "
            'did you mean "triage"?',
            id="unknown member",
        ),
        pytest.param(
            team() + "---\n" + team("other"),
            f"{TEAM}:11:13: spec.members[0]: expected 'triage' in one team only, got a member of "
            f"'care' as well ({TEAM}:5:13); remove it from one of them",
            id="two teams",
        ),
        pytest.param(
            team(members="[triage, triage]"),
            f"{TEAM}:5:21: spec.members[1]: entries of members must be unique",
            id="twice in one team",
        ),
        pytest.param(
            team(spec="  entryPoints: [other]\n"),
            f"{TEAM}:6:17: spec.entryPoints[0]: entryPoints must be among members, got 'other'",
            id="entry point outside",
        ),
        pytest.param(
            team(spec="  owner: a\n  defaults: {owner: b}\n"),
            f"{TEAM}:7:21: spec.defaults.owner: expected the owner once",
            id="owner twice",
        ),
        pytest.param(
            team(spec="  defaults: {imagee: x}\n"),
            f"{TEAM}:6:14: spec.imagee: expected a known field, got 'imagee'",
            id="unknown default",
        ),
    ],
)
def test_a_team_that_cannot_be_meant_is_refused(tmp_path: Path, text: str, words: str) -> None:
    write(tmp_path, MANIFEST, agent())
    write(tmp_path, TEAM, text)
    errors = [str(error) for error in errors_of(tmp_path).errors]
    assert len(errors) == 1, errors
    assert errors[0].startswith(words)
