"""Manifests of older versions: read as the newest, told in their own words, rewritten in place."""

from collections import Counter
from pathlib import Path

import pytest
from holdfast.errors import InvalidFilesError, ManifestError, SourceLocation
from holdfast.kube.paths import ABSENT, format_path, value_at
from holdfast.manifest.agent.agent import API_VERSION
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.kinds.kinds import AGENT_TEAM_KIND, KINDS
from holdfast.manifest.kinds.rewriting import rewritten
from holdfast.manifest.kinds.version_upgrade import converted, in_own_words
from holdfast.manifest.kinds.versions import OLDER_VERSIONS, SHORTEST_NOTICE, SUPPORTED, Move
from holdfast.manifest.text.documents import read_documents

from tests.unit.manifest.projects import IMAGE, MANIFEST, agent, errors_of, write

OLDER = (Path(__file__).parent / "older_versions" / "v1alpha0.yaml").read_text(encoding="utf-8")
NEWEST = (Path(__file__).parent / "older_versions" / "v1alpha1.yaml").read_text(encoding="utf-8")


def drafted(spec: str = "", name: str = "triage") -> str:
    """An agent of the oldest version; `spec` begins on line 7."""
    return agent(name, spec).replace(API_VERSION, "holdfast.dev/v1alpha0")


def data_of(text: str) -> list[object]:
    return [each.data for each in read_documents(text, "f").documents]


def test_the_fixture_of_an_older_version_is_the_fleet_that_the_newest_declares(
    tmp_path: Path,
) -> None:
    fleets = []
    for name, text in (("older", OLDER), ("newest", NEWEST)):
        write(tmp_path / name, MANIFEST, text)
        fleets.append(load_fleet(tmp_path / name))
    older, newest = fleets
    assert [(each.name, each.agent) for each in older.agents] == [
        (each.name, each.agent) for each in newest.agents
    ]
    assert [each.spec for each in older.mcp_servers] == [each.spec for each in newest.mcp_servers]
    assert [each.spec for each in older.agent_teams] == [each.spec for each in newest.agent_teams]
    assert len(older.older) == 4
    assert newest.older == ()


def test_the_fixture_has_every_field_that_moved() -> None:
    seen = Counter[tuple[object, object]]()
    for document in read_documents(OLDER, "f").documents:
        version = OLDER_VERSIONS[document.data["apiVersion"]]
        for move in version.moves[document.data["kind"]]:
            has = value_at(document.data, move.old) is not ABSENT
            seen[document.data["kind"], move.old] += has
    assert all(seen.values())
    assert len(seen) == sum(
        len(moves) for version in OLDER_VERSIONS.values() for moves in version.moves.values()
    )


@pytest.mark.parametrize("text", [OLDER, NEWEST, drafted("replicas: 2"), agent()])
def test_converting_what_was_converted_changes_nothing(text: str) -> None:
    documents = read_documents(text, "f").documents
    before = [repr(each.data) for each in documents]
    once = converted(documents)
    twice = converted(once.documents)
    assert list(twice.documents) == list(once.documents)
    assert not twice.older
    assert not twice.errors
    assert [repr(each.data) for each in documents] == before


def test_documents_of_the_newest_version_are_not_touched() -> None:
    documents = read_documents(NEWEST, "f").documents
    assert converted(documents).documents is documents


def test_every_older_version_leads_to_the_newest_and_is_read_long_enough() -> None:
    for name, version in OLDER_VERSIONS.items():
        assert version.api_version == name
        assert version.last_day - version.deprecated >= SHORTEST_NOTICE
        assert set(version.moves) <= set(KINDS)
        steps = [name]
        while steps[-1] in OLDER_VERSIONS:
            steps.append(OLDER_VERSIONS[steps[-1]].next_version)
            assert len(steps) == len(set(steps))
        assert steps[-1] == API_VERSION
    assert SUPPORTED[0] == API_VERSION


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        pytest.param(
            "replicas: two",
            "7:13: spec.replicas: expected an integer, got the text 'two'",
            id="a moved field",
        ),
        pytest.param(
            "replicas: 2\nscaling: {minReplicas: 2, maxReplicas: 4}",
            "8:3: spec.scaling: replicas excludes minReplicas, maxReplicas, metrics, behavior and "
            "idleSeconds",
            id="a moved field and what it went to",
        ),
        pytest.param(
            "scaling: {replicas: 2}",
            "7:13: spec.scaling.replicas: expected a known field of holdfast.dev/v1alpha0, "
            "got 'replicas'",
            id="a name of the next version",
        ),
        pytest.param(
            "replicas: 2\nscaling: many",
            "8:3: spec.scaling: expected a mapping",
            id="no place to go to",
        ),
        pytest.param(
            "replica: 2",
            "7:3: spec.replica: expected a known field, got 'replica'",
            id="a name that no version has",
        ),
        pytest.param(
            "replicas: 2\nreplicas: 3",
            "8:3: spec.replicas: expected each key once, got key 'replicas' given twice, "
            "lines 7 and 8",
            id="a moved field given twice",
        ),
        pytest.param(
            'description: on\nsystemMessage: ""',
            "7:16: spec.description: expected quotes around text, got on (read as bool)",
            id="a field that stayed",
        ),
    ],
)
def test_a_fault_is_told_under_the_path_and_at_the_line_that_were_written(
    tmp_path: Path, spec: str, text: str
) -> None:
    write(tmp_path, MANIFEST, drafted(spec))
    assert text in [
        str(error).removeprefix(f"{MANIFEST}:").partition(";")[0]
        for error in errors_of(tmp_path).errors
    ]


MOVES = [
    pytest.param(version.api_version, kind, move, id=f"{version.api_version} {kind} {move.old}")
    for version in OLDER_VERSIONS.values()
    for kind, moves in version.moves.items()
    for move in moves
    if kind != AGENT_TEAM_KIND  # judged at its members: see below
]


@pytest.mark.parametrize(("version", "kind", "move"), MOVES)
def test_every_field_that_moved_is_told_as_it_was_written(
    tmp_path: Path, version: str, kind: str, move: Move
) -> None:
    head = agent().replace("kind: Agent", f"kind: {kind}").replace(API_VERSION, version)
    depths = enumerate(move.old[1:], start=1)
    lines = "".join(f"{'  ' * depth}{name}:\n" for depth, name in depths)
    write(tmp_path, MANIFEST, f"{head.rstrip()}\n{lines.rstrip()} [[1]]\n")
    line = 6 + len(move.old[1:])
    told = [each for each in errors_of(tmp_path).errors if each.location.line == line]
    assert [each.path for each in told] == [format_path(move.old)]
    assert format_path(move.new) not in {each.path for each in errors_of(tmp_path).errors}


@pytest.mark.parametrize(
    ("spec", "remedy"),
    [
        pytest.param("replica: 2", 'did you mean "replicas"?', id="a slip in an old name"),
        pytest.param(
            "scaling: {replicas: 2}",
            "write spec.replicas, or apiVersion: holdfast.dev/v1alpha1",
            id="a new name",
        ),
    ],
)
def test_a_remedy_speaks_of_the_version_that_was_written(
    tmp_path: Path, spec: str, remedy: str
) -> None:
    write(tmp_path, MANIFEST, drafted(spec))
    [error] = errors_of(tmp_path).errors
    assert error.remedy == remedy


def test_a_tool_server_is_told_in_its_own_words_too(tmp_path: Path) -> None:
    server = "apiVersion: holdfast.dev/v1alpha0\nkind: MCPServer\nmetadata: {name: s}\n"
    write(tmp_path, MANIFEST, f"{server}spec: {{endpoint: 3}}\n")
    [error] = errors_of(tmp_path).errors
    assert (str(error.location), error.path) == (f"{MANIFEST}:4:18", "spec.endpoint")


def test_a_field_that_is_missing_is_asked_for_under_its_old_name() -> None:
    found = converted(read_documents(drafted("replicas: 2"), MANIFEST).documents)
    place = SourceLocation(MANIFEST, 7, 3)
    missing = ManifestError(
        place, "spec.scaling.replicas", expected="this field is required", remedy="add replicas"
    )
    told = in_own_words(missing, found.older)
    assert (told.location, told.path, told.remedy) == (place, "spec.replicas", "add replicas")
    missing = ManifestError(place, "spec.url", expected="this field is required", remedy="add url")
    assert in_own_words(missing, found.older).remedy == "add url"
    server = drafted().replace("kind: Agent", "kind: MCPServer")
    found = converted(read_documents(server, MANIFEST).documents)
    assert in_own_words(missing, found.older).remedy == "add endpoint"


def test_what_a_team_hands_down_is_told_in_the_words_of_the_team(tmp_path: Path) -> None:
    team = (
        "apiVersion: holdfast.dev/v1alpha0\nkind: AgentTeam\nmetadata: {name: t}\n"
        "spec: {owner: sre, members: [triage], defaults: {replicas: two}}\n"
    )
    write(tmp_path, "agents/team.yaml", team)
    write(tmp_path, MANIFEST, agent())
    [error] = errors_of(tmp_path).errors
    assert str(error.location) == "agents/team.yaml:4:60"
    assert error.path == "spec.replicas"


def test_only_the_older_document_of_a_file_is_told_in_old_words(tmp_path: Path) -> None:
    newest = agent("other", "scaling: {replicas: two}")
    write(tmp_path, MANIFEST, f"{drafted('replicas: two')}---\n{newest}")
    assert [error.path for error in errors_of(tmp_path).errors] == [
        "spec.replicas",
        "spec.scaling.replicas",
    ]


def test_an_unknown_version_is_refused_with_all_that_are_read(tmp_path: Path) -> None:
    write(tmp_path, MANIFEST, agent().replace("v1alpha1", "v1beta7"))
    [error] = errors_of(tmp_path).errors
    assert str(error) == (
        f"{MANIFEST}:1:13: apiVersion: expected holdfast.dev/v1alpha1 or holdfast.dev/v1alpha0, "
        "got the text 'holdfast.dev/v1beta7'" + f"; {error.remedy}"
    )
    assert error.remedy == 'did you mean "holdfast.dev/v1alpha1"?'


def test_a_stack_changes_an_older_agent_in_the_words_of_the_newest(tmp_path: Path) -> None:
    write(tmp_path, MANIFEST, drafted("replicas: 2"))
    change = "config: {'holdfast:agents': {triage: {scaling: {replicas: 5}}}}"
    write(tmp_path, "stacks/Pulumi.dev.yaml", change)
    [only] = load_fleet(tmp_path, "dev").agents
    assert only.spec.scaling is not None
    assert only.spec.scaling.replicas == 5
    assert str(only.location_of("spec.scaling.replicas")).startswith("stacks/Pulumi.dev.yaml:1:")


def test_the_fixture_rewritten_is_the_newest_to_the_byte() -> None:
    assert rewritten(OLDER, "f.yaml") == NEWEST


def test_a_text_of_the_newest_version_comes_back_to_the_byte() -> None:
    assert rewritten(NEWEST, "f.yaml") == NEWEST


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        pytest.param("replicas: 2", "scaling:\n    replicas: 2", id="a mapping is made"),
        pytest.param(
            "scaling: {metrics: []}\nreplicas: 2",
            "scaling: {metrics: [], replicas: 2}",
            id="a mapping that is there",
        ),
        pytest.param(
            "systemMessage: |\n  one\n\n    two\nowner: sre  # of us",
            "prompt:\n    systemMessage: |\n      one\n\n        two\n  owner: sre  # of us",
            id="a block of text",
        ),
        pytest.param("replicas: null", "scaling:\n    replicas: null", id="null"),
    ],
)
def test_a_field_moves_with_its_text(spec: str, text: str) -> None:
    after = rewritten(drafted(spec), "f.yaml")
    assert after == agent().rstrip("\n") + f"\n  {text}\n"
    assert data_of(after) == [
        each.data for each in converted(read_documents(drafted(spec), "f").documents).documents
    ]


def test_json_stays_json() -> None:
    text = (
        '{"apiVersion": "holdfast.dev/v1alpha0", "kind": "Agent", '
        f'"spec": {{"replicas": 2, "image": "{IMAGE}"}}}}\n'
    )
    assert rewritten(text, "a.json") == text.replace("v1alpha0", "v1alpha1").replace(
        '"replicas": 2', '"scaling": {"replicas": 2}'
    )


def test_json_that_would_be_none_is_left_to_a_person() -> None:
    text = (
        '{"apiVersion": "holdfast.dev/v1alpha0", "kind": "Agent", '
        '"spec": {"replicas": 2, "scaling": {}}}'
    )
    with pytest.raises(ManifestError, match="can be moved"):
        rewritten(text, "a.json")


def test_what_is_no_document_of_its_version_is_not_rewritten() -> None:
    with pytest.raises(InvalidFilesError, match="expected a known field of holdfast"):
        rewritten(drafted("scaling: {replicas: 2}"), "f.yaml")
