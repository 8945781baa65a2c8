"""Every field of every manifest is documented, does something, and refuses what cannot be meant.

The samples in tests/golden use every field: a new field needs a place in one of them.
"""

from functools import cache
from pathlib import Path

import pytest
from holdfast.manifest.kinds.kinds import KINDS
from holdfast.manifest.publish.reference import FieldEntry, fields_of

from tests.golden.field_table import moves_of_samples, name_of, refused

ROOT = Path(__file__).parents[4]
ENTRIES = [entry for kind in KINDS for entry in fields_of(kind)]
WRITE_A_SAMPLE = "use it in a manifest of tests/golden/agents, or say in NOT_RENDERED why not"

NOT_RENDERED = {
    "Agent metadata.namespace": "the place of every object, which is part of their identity",
    "Agent spec.prompt.systemMessageFrom.file": "its text is systemMessage (test_prompt_files)",
    "Agent spec.secrets[].onChange": "whether a secret's fingerprint is read when a stack deploys",
    "Agent spec.storage.volumes[].retain": "kept by the engine: protect and retain on delete",
    "Agent spec.storage.volumes[].allowReplacement": "what the engine may delete "
    "(test_storage_changes)",
    "Agent spec.runtime": "one word, whose image is the stack's (test_skills)",
    "Agent spec.network.egress[].service.name": "a NetworkPolicy opens the namespace of a Service",
    "MCPServer spec.network.egress[].service.name": "as an agent's",
    "Agent spec.allowedNamespaces": "who may refer to it, judged when manifests are read",
    "Agent spec.model.expectResolved": "compared by the drift probe",
    "ModelConfig spec.expectResolved": "compared by the drift probe",
    "Agent spec.drift": "read by the drift scan and its probes",
    "AgentTeam": "merged under each member when manifests are read (test_teams)",
    "DriftIgnore": "read by the drift scan (test_exemptions)",
    "PolicyException": "read by the policy check (test_exemptions)",
    "ModelConfig metadata": "names what model.ref means",
    "ModelConfig spec.allowedNamespaces": "who may refer to it, judged when manifests are read",
    "MCPServer metadata": "names what serverRef means",
    "MCPServer spec.secrets[].onChange": "as an agent's",
    "MCPServer spec.toolNames": "what agents may name, judged when manifests are read",
    "MCPServer spec.allowedNamespaces": "who may refer to it, judged when manifests are read",
}
"""Field, or what its name begins with, to why no rendered object shows it."""


@cache
def moved() -> frozenset[tuple[type, str]]:
    """Model and field of everything that moves a rendered object in some sample."""
    names = moves_of_samples()
    return frozenset(entry.owner for entry in ENTRIES if name_of(entry) in names)


@cache
def refusing() -> frozenset[tuple[type, str]]:
    """Model and field of everything that refuses a value that cannot be meant."""
    names = refused()
    return frozenset(entry.owner for entry in ENTRIES if name_of(entry) in names)


def is_whole(entry: FieldEntry) -> bool:
    """Whether the field holds no further fields of its own."""
    inside = (f"{entry.path}.", f"{entry.path}[]")
    return not any(each.kind == entry.kind and each.path.startswith(inside) for each in ENTRIES)


@pytest.mark.parametrize("entry", ENTRIES, ids=name_of)
def test_a_field_has_its_line_in_the_reference(entry: FieldEntry) -> None:
    page = (ROOT / "docs" / "manifest.md").read_text(encoding="utf-8")
    section = page.partition(f"\n## {entry.kind}\n")[2].partition("\n## ")[0]
    assert f"| `{entry.path}` |" in section, "run `make schema`"
    assert entry.description, "every field has a docstring"
    assert entry.words != "any value", "say in words what may stand there: manifest/reference.py"


@pytest.mark.parametrize("entry", [each for each in ENTRIES if is_whole(each)], ids=name_of)
def test_a_field_moves_a_rendered_object(entry: FieldEntry) -> None:
    name = name_of(entry)
    if any(name.startswith(prefix) for prefix in NOT_RENDERED):
        assert name not in NOT_RENDERED or entry.owner not in moved(), "it moves something: good"
    else:
        assert entry.owner in moved(), f"{name} is accepted and does nothing: {WRITE_A_SAMPLE}"


@pytest.mark.parametrize("entry", ENTRIES, ids=name_of)
def test_a_field_refuses_what_cannot_be_meant(entry: FieldEntry) -> None:
    assert entry.owner in refusing(), f"{name_of(entry)}: {WRITE_A_SAMPLE}"
