"""Proposals of changes that declare what is live: never of an agent's name, always of a field."""

from pathlib import Path

from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import parse_path
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.render.provenance.adoption import proposals
from holdfast.render.provenance.origins import Origins

from tests.unit.manifest.projects import MANIFEST, STACK, agent, write


def test_a_default_that_was_changed_is_declared_where_it_belongs_and_not_as_the_name(
    tmp_path: Path,
) -> None:
    write(tmp_path, "Pulumi.yaml", "name: holdfast\n")
    write(tmp_path, MANIFEST, agent(spec="owner: sre"))
    write(tmp_path, STACK, "config: {}\n")
    fleet = load_fleet(tmp_path, "dev")
    triage = fleet.workloads[0]
    ref = ObjectRef(triage.namespace, "Deployment", "triage", "apps/v1")
    found = proposals(Origins(fleet, "dev"), triage, ref, parse_path("spec.replicas"), 3)
    fields = [each.field for each in found]
    assert fields[0][0] == "spec"
    assert ("spec", "scaling", "replicas") in fields
    assert ("metadata", "name") not in fields
