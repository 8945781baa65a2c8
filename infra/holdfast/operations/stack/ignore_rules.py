"""Which drift is expected: rules from beside the stacks, from manifests and from agents. Wiring."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from holdfast.drift.exemption.ignore import IgnoreRule, IgnoreRules
from holdfast.errors import SourceLocation
from holdfast.kube.paths import parse_path
from holdfast.manifest.fleet.fleet import DeclaredAgent, Fleet
from holdfast.manifest.kinds.exemptions import DriftIgnoreSpec
from holdfast.manifest.kinds.kinds import DriftIgnore
from holdfast.manifest.stack.ignore_file import IGNORE_FILE, read_ignore_file


def ignore_rules(
    file: Path | None, project_root: Path | None = None, fleet: Fleet | None = None
) -> IgnoreRules:
    """Every rule that holds for a scan, judged by today's date.

    Args:
        file: Named by the user; default the project's own, where there is one.
        project_root: Folder of Pulumi.yaml; None for plain objects.
        fleet: What the stack declares; None for plain objects.

    Raises:
        InvalidFilesError: the file is not valid.
    """
    return IgnoreRules(ignore_rules_of(file, project_root, fleet), datetime.now(UTC).date())


def ignore_rules_of(
    file: Path | None, project_root: Path | None = None, fleet: Fleet | None = None
) -> tuple[IgnoreRule, ...]:
    """The same, whatever day it is."""
    rules: list[IgnoreRule] = []
    name = str(file or IGNORE_FILE)
    if file is None and project_root is not None:
        file = project_root / IGNORE_FILE
        file = file if file.exists() else None
    if file is not None:
        for each in read_ignore_file(file, name, fleet.stack if fleet else ""):
            rules.append(_of_spec(each.entry, each.origin.value_location))
    if fleet is not None:
        rules += (_of_spec(each.spec, each.location_of("spec")) for each in fleet.of(DriftIgnore))
        rules += (rule for agent in fleet.agents for rule in _of_agent(agent))
    return tuple(rules)


def _of_spec(spec: DriftIgnoreSpec, location: SourceLocation) -> IgnoreRule:
    target = spec.target
    return IgnoreRule(
        location,
        target.group,
        target.kind,
        target.name,
        target.namespace,
        paths=tuple(parse_path(path) for path in spec.paths),
        managers=spec.managers,
        reason=spec.reason,
        owner=spec.owner,
        expires=spec.expires,
    )


def _of_agent(agent: DeclaredAgent) -> Iterator[IgnoreRule]:
    settings, owner = agent.spec.drift, agent.spec.owner or ""
    for index, each in enumerate(settings.ignore):
        yield IgnoreRule(
            agent.location_of(("spec", "drift", "ignore", index)),
            namespace=agent.namespace,
            agent=agent.name,
            paths=(parse_path(each.path),),
            reason=each.reason,
            owner=owner,
            expires=each.expires,
        )
    for index, expected in enumerate(settings.expected_managers):
        yield IgnoreRule(
            agent.location_of(("spec", "drift", "expectedManagers", index)),
            namespace=agent.namespace,
            agent=agent.name,
            paths=tuple(parse_path(path) for path in expected.paths),
            managers=(expected.manager,),
            reason=f"written by {expected.manager}",
            owner=owner,
        )
