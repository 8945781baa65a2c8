"""An agent's raw data as it is to take effect: over its team, under its stack, with its prompt."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.errors import ManifestError
from holdfast.manifest.fleet.overlay import overlay_spec
from holdfast.manifest.fleet.prompt_files import with_prompt_text
from holdfast.manifest.fleet.team_defaults import Memberships
from holdfast.manifest.stack.stack_files import StackSettings
from holdfast.manifest.text.origin import Origin


@dataclass(frozen=True, slots=True)
class ProjectInputs:
    """What every document is read with.

    Attributes:
        root: Resolved folder of the project.
        settings: The stack's, with its overrides.
        namespace: Namespace of what names none.
        memberships: Agents to their teams.
        agent_names: Names of all agents.
    """

    root: Path
    settings: StackSettings
    namespace: str
    memberships: Memberships
    agent_names: Collection[str] = ()


def effective_agent(
    data: dict[str, Any], origin: Origin, project: ProjectInputs, faulty: set[str]
) -> tuple[dict[str, Any], Origin, list[ManifestError]]:
    """A raw agent over its team's defaults, under the stack's override, with its prompt's text.

    Args:
        data: Raw data of the agent.
        origin: Where it was written.
        project: What it is read with.
        faulty: Paths whose fault is reported already; those of the team's defaults are added.
    """
    metadata = data.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name = metadata.get("name")
    namespace = metadata.get("namespace") or project.namespace
    spec, spec_origin = data.get("spec"), origin.nearest(("spec",))
    membership = project.memberships.of(namespace, name)
    if membership is not None and isinstance(spec, dict):
        spec, spec_origin = membership.under(spec, spec_origin)
        faulty |= membership.faulty_paths
    spec, spec_origin = _overridden(spec, spec_origin, name, project)
    spec, spec_origin, errors = with_prompt_text(spec, spec_origin, project.root)
    if spec is data.get("spec"):
        return data, origin, errors
    return {**data, "spec": spec}, origin.with_child("spec", spec_origin), errors


def effective_server(
    data: dict[str, Any], origin: Origin, project: ProjectInputs
) -> tuple[dict[str, Any], Origin]:
    """A raw tool server under the stack's override, if that is not an agent's of its name."""
    metadata = data.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if name in project.agent_names:
        return data, origin
    spec, spec_origin = _overridden(data.get("spec"), origin.nearest(("spec",)), name, project)
    if spec is data.get("spec"):
        return data, origin
    return {**data, "spec": spec}, origin.with_child("spec", spec_origin)


def _overridden(
    spec: Any,  # noqa: ANN401  (raw data)
    origin: Origin,
    name: object,
    project: ProjectInputs,
) -> tuple[Any, Origin]:
    change = project.settings.overrides.get(name) if isinstance(name, str) else None
    if not isinstance(change, dict) or not isinstance(spec, dict):
        return spec, origin
    return overlay_spec(
        spec, origin, change, project.settings.origin.nearest(("agents", str(name)))
    )
