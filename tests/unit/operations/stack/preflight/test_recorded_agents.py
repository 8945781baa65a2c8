"""Which objects the engine's record holds of which agent."""

from typing import Any

import msgspec
from holdfast.adapters.engine.state.checkpoint import Deployment, RecordedResource
from holdfast.operations.stack.preflight.state_ownership import RecordedAgents

HEAD = "urn:pulumi:dev::test::holdfast:index:Fleet"


def component(name: str, kind: str = "Agent", parent: str = HEAD) -> RecordedResource:
    urn = f"{HEAD}$holdfast:index:{kind}::{name}"
    return RecordedResource(urn=urn, type=f"holdfast:index:{kind}", parent=parent)


def kube(name: str, kind: str, parent: str) -> RecordedResource:
    live: dict[str, Any] = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}}
    return RecordedResource(
        urn=f"{HEAD}$kubernetes:core/v1:{kind}::{name}",
        type=f"kubernetes:core/v1:{kind}",
        custom=True,
        answer=msgspec.Raw(msgspec.json.encode(live)),
        parent=parent,
    )


def test_objects_belong_to_the_agent_that_they_stand_below_at_any_depth() -> None:
    rag, other = component("rag"), component("rag-2")
    part = component("rag", "AgentStorage", rag.urn)
    resources = (
        rag,
        other,
        part,
        kube("rag-data", "PersistentVolumeClaim", part.urn),
        kube("rag-2", "Service", other.urn),
        kube("cx", "Namespace", HEAD),
    )
    found = RecordedAgents.recorded_in(Deployment(resources))
    assert found.urns == {"rag": rag.urn, "rag-2": other.urn}
    named = {agent: [ref.name for ref in refs] for agent, refs in found.objects.items()}
    assert named == {"rag": ["rag-data"], "rag-2": ["rag-2"]}
