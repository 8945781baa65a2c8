"""`explain` knows every field of every kind and of stack files, by each way to write its path."""

import pytest
from holdfast.errors import InputError
from holdfast.manifest.agent.agent import AGENT_KIND
from holdfast.manifest.kinds.kinds import KINDS
from holdfast.manifest.publish.reference import STACK_FILE, entries_of, forms_of
from holdfast.operations.describe.explain import explain_field


@pytest.mark.parametrize("kind", [*KINDS, STACK_FILE])
def test_every_field_is_explained_by_its_path(kind: str) -> None:
    for entry in entries_of(kind):
        path = entry.path if kind in {AGENT_KIND, STACK_FILE} else f"{kind}.{entry.path}"
        for written in {path, path.replace("[]", "[0]"), path.replace("[]", "")}:
            explained = explain_field(written)
            assert explained.entry.path == entry.path, written
            assert explained.entry.description, f"{written} has no description"


@pytest.mark.parametrize("kind", [*KINDS, STACK_FILE])
def test_every_field_of_a_mapping_that_may_stand_for_a_text_is_explained(kind: str) -> None:
    for entry in entries_of(kind):
        for form in forms_of(entry):
            path = form.path if kind in {AGENT_KIND, STACK_FILE} else f"{kind}.{form.path}"
            assert explain_field(path).entry.description, path


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("spec.model.ref.name", "spec.model.ref.name"),
        ("spec.dependsOn.kind", "spec.dependsOn[].kind"),
        ("spec.network.ingressFrom[1].namespace", "spec.network.ingressFrom[].namespace"),
        ("AgentTeam.spec.members.name", "spec.members[].name"),
        ("mcpserver.spec.url", "spec.url"),
        ("agent.spec.scaling", "spec.scaling"),
        ("Stack.holdfast:network", "holdfast:network"),
        ("stack.network", "holdfast:network"),
    ],
)
def test_a_path_may_be_written_in_several_ways(written: str, path: str) -> None:
    assert explain_field(written).entry.path == path


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("spec.containers", "spec.container"),
        ("replicas", "spec.scaling.replicas"),
        ("env", "spec.container.env"),
        ("holdfast:netwrok", "holdfast:network"),
        ("container.env[0].valueFrom", "spec.container.env[].valueFrom"),
        ("MCPServr.spec.url", "MCPServer"),
    ],
)
def test_a_path_that_does_not_exist_names_the_nearest(written: str, meant: str) -> None:
    with pytest.raises(InputError) as refused:
        explain_field(written)
    assert meant in refused.value.remedy
