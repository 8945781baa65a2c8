"""A project's files become one fleet, the same for every reader of it."""

from pathlib import Path

import pytest
from holdfast.errors import ExitCode, InputError, SourceLocation
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.stack.stack_files import read_environment

from tests.unit.manifest.projects import agent, errors_of, write


def test_agents_are_sorted_and_live_in_the_namespace_of_the_stack(tmp_path: Path) -> None:
    write(tmp_path, "agents/z.yaml", agent("beta"))
    write(tmp_path, "agents/deep/a.json", agent("alpha", metadata=", namespace: ops"))
    write(tmp_path, "stacks/Pulumi.dev.yaml", "config: {holdfast:namespace: play}")
    fleet = load_fleet(tmp_path, "dev")
    assert [(each.namespace, each.name, each.source) for each in fleet.agents] == [
        ("ops", "alpha", "agents/deep/a.json"),
        ("play", "beta", "agents/z.yaml"),
    ]
    assert fleet.environment.namespace == "play"


def test_a_stack_changes_only_what_it_names_and_each_value_knows_its_place(tmp_path: Path) -> None:
    spec = """
        container:
          env:
            - {name: MODE, value: plain}
            - {name: COLOUR, value: green}
            - {name: GONE, value: soon}
        scaling: {replicas: 1}
    """
    write(tmp_path, "agents/a.yaml", agent("alpha", spec))
    write(
        tmp_path,
        "stacks/Pulumi.dev.yaml",
        """\
        config:
          holdfast:agents:
            alpha:
              scaling: {replicas: 3}
              container:
                env:
                  - {name: COLOUR, value: blue}
                  - {name: GONE, value: null}
                  - {name: NEW, value: here}
        """,
    )
    changed = load_fleet(tmp_path, "dev").agents[0]
    assert {entry.name: entry.value for entry in changed.spec.container.env} == {
        "MODE": "plain",
        "COLOUR": "blue",
        "NEW": "here",
    }
    assert changed.spec.scaling.replicas == 3
    assert changed.location_of("spec.scaling.replicas") == SourceLocation(
        "stacks/Pulumi.dev.yaml", 4, 27
    )
    assert changed.location_of("spec.container.env[0].value").file == "agents/a.yaml"
    assert changed.location_of("spec.container.env[1].value").file == "stacks/Pulumi.dev.yaml"
    assert load_fleet(tmp_path).agents[0].spec.scaling.replicas == 1


def test_a_stack_changes_one_schedule_and_one_skill_by_their_ids(tmp_path: Path) -> None:
    runs = """
        type: Job
        job:
          schedules:
            - {id: daily, cron: "0 2 * * *", retries: 1}
            - {id: weekly, cron: "0 3 * * 1"}
    """
    write(tmp_path, "agents/a.yaml", agent("alpha", runs))
    shown = "card: {skills: [{id: find, name: Find, description: Finds, tags: [a]}]}"
    write(tmp_path, "agents/b.yaml", agent("beta", shown))
    change = """\
        config:
          holdfast:agents:
            alpha: {job: {schedules: [{id: daily, suspend: true}]}}
            beta: {card: {skills: [{id: find, tags: [b]}]}}
    """
    write(tmp_path, "stacks/Pulumi.dev.yaml", change)
    alpha, beta = load_fleet(tmp_path, "dev").agents
    schedules = [(each.id, each.cron, each.suspend) for each in alpha.spec.job.schedules]
    assert schedules == [("daily", "0 2 * * *", True), ("weekly", "0 3 * * 1", False)]
    assert [(each.name, each.tags) for each in beta.spec.card.skills] == [("Find", ("b",))]


def test_an_override_of_an_unknown_agent_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "agents/a.yaml", agent("triage"))
    write(tmp_path, "stacks/Pulumi.dev.yaml", "config: {holdfast:agents: {traige: {}}}")
    assert "'traige'; did you mean \"triage\"?" in str(errors_of(tmp_path, "dev"))


def test_all_faults_of_all_files_come_at_once(tmp_path: Path) -> None:
    write(tmp_path, "agents/a.yaml", agent("alpha", "imagee: x"))
    write(tmp_path, "agents/b.yaml", agent("beta", "container: {env: NO}\nowner: 3"))
    write(tmp_path, "stacks/Pulumi.dev.yaml", "config: {holdfast:cluster: {contxt: x}}")
    assert str(errors_of(tmp_path, "dev")).splitlines() == [
        "agents/a.yaml:7:3: spec.imagee: expected a known field, got 'imagee'; "
        'did you mean "image"?',
        "agents/b.yaml:7:20: spec.container.env: expected quotes around text, got NO (read as "
        "bool); "
        'quote it: "NO", or write false',
        'agents/b.yaml:8:10: spec.owner: expected text, got the number 3; quote it: "3"',
        'stacks/Pulumi.dev.yaml:1:29: config["holdfast:cluster"].contxt: expected a known field, '
        "got 'contxt'; did you mean \"context\"?",
        "4 errors in 3 files",
    ]


def test_an_unknown_stack_is_named_with_those_that_exist(tmp_path: Path) -> None:
    write(tmp_path, "stacks/Pulumi.staging.yaml", "config: {}")
    with pytest.raises(InputError, match='did you mean "staging"') as caught:
        read_environment(tmp_path, "stagin")
    assert caught.value.exit_code is ExitCode.NO_STACK


def test_a_fault_that_an_override_makes_names_the_override(tmp_path: Path) -> None:
    write(tmp_path, "agents/a.yaml", agent("alpha", "scaling: {replicas: 1}"))
    change = "{alpha: {scaling: {minReplicas: 1, maxReplicas: 2}}}"
    write(tmp_path, "stacks/Pulumi.dev.yaml", f"config: {{holdfast:agents: {change}}}")
    (error,) = errors_of(tmp_path, "dev").errors
    assert str(error.location) == "agents/a.yaml:7:3"
    assert error.remedy.endswith("; changed at stacks/Pulumi.dev.yaml:1:59")


def test_a_faulty_setting_does_not_hide_the_default_namespace(tmp_path: Path) -> None:
    caller = agent("alpha", "network: {egress: [{agent: {namespace: play, name: beta}}]}")
    write(tmp_path, "agents/a.yaml", caller)
    write(tmp_path, "agents/b.yaml", agent("beta", "network: {ingressFrom: [alpha]}"))
    settings = "config: {holdfast:namespace: play, holdfast:cluster: {contxt: x}}"
    write(tmp_path, "stacks/Pulumi.dev.yaml", settings)
    assert [error.path for error in errors_of(tmp_path, "dev").errors] == [
        'config["holdfast:cluster"].contxt'
    ]
    write(tmp_path, "stacks/Pulumi.dev.yaml", settings.replace("play", "Play_Ground"))
    assert len(errors_of(tmp_path, "dev").errors) == 3


def test_hidden_files_and_other_files_are_no_manifests(tmp_path: Path) -> None:
    write(tmp_path, "agents/a.yml", agent("alpha"))
    write(tmp_path, "agents/.b.yaml", "broken: [")
    write(tmp_path, "agents/.hidden/c.yaml", "broken: [")
    write(tmp_path, "agents/README.md", "broken: [")
    assert [each.name for each in load_fleet(tmp_path).agents] == ["alpha"]


def test_a_missing_folder_of_manifests_is_not_an_empty_fleet(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no folder agents/"):
        load_fleet(tmp_path)
