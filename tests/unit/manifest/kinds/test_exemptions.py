"""Exemptions say who, why and until when, or they are none."""

from datetime import date
from pathlib import Path

import pytest
from holdfast.errors import ManifestError
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.kinds.expiry import faults_of_exemptions
from holdfast.manifest.kinds.kinds import DriftIgnore, PolicyException

from tests.unit.manifest.projects import EXCEPTION, MANIFEST, Bad, agent, assert_refused, bad, write

TODAY = date(2026, 3, 1)
RULES = ("egress-scoped", "no-public-exposure")
FILE = "agents/exemptions.yaml"
IGNORE = """\
apiVersion: holdfast.dev/v1alpha1
kind: DriftIgnore
metadata: {name: mesh}
spec:
  target: {group: apps, kind: Deployment, namespace: "agents-*"}
  paths: ['spec.template.metadata.annotations["mesh.example/injected"]']
  reason: the mesh marks what it has injected
  owner: platform
  expires: "2026-12-31"
"""


def faults(root: Path, *texts: str, today: date = TODAY) -> list[ManifestError]:
    write(root, MANIFEST, agent())
    write(root, FILE, "---\n".join(texts))
    return list(faults_of_exemptions(load_fleet(root), today=today, rules=RULES))


def test_exemptions_are_part_of_the_fleet(tmp_path: Path) -> None:
    assert faults(tmp_path, EXCEPTION, IGNORE) == []
    fleet = load_fleet(tmp_path)
    assert fleet.of(PolicyException)[0].spec.expires == date(2026, 5, 30)
    rule = fleet.of(DriftIgnore)[0].spec
    assert (rule.target.group, rule.target.name, rule.target.namespace) == (
        "apps",
        "*",
        "agents-*",
    )
    assert rule.paths == ('spec.template.metadata.annotations["mesh.example/injected"]',)


@pytest.mark.parametrize(
    "field",
    ["rules", "target", "reason", "owner", "ticket", "approver", "expires"],
)
def test_every_field_of_an_exception_is_required(tmp_path: Path, field: str) -> None:
    lines = [line for line in EXCEPTION.splitlines() if not line.startswith(f"  {field}:")]
    case = Bad("\n".join(lines), "4:1", (f"spec.{field}: this field is required",), FILE)
    assert_refused(tmp_path, case)


@pytest.mark.parametrize(
    "case",
    [
        bad("no rule", EXCEPTION.replace("[egress-scoped]", "[]"), "5:10", "at least 1", file=FILE),
        bad(
            "no object",
            EXCEPTION.replace("kind: NetworkPolicy,", "kind: 'Network*',"),
            "6:18",
            "spec.target.kind: expected a kind such as Deployment",
            "names exactly one object",
            file=FILE,
        ),
        bad(
            "pattern for a name",
            EXCEPTION.replace("name: triage,", 'name: "tri*",'),
            "6:39",
            "spec.target.name",
            file=FILE,
        ),
        bad(
            "day that is none",
            EXCEPTION.replace("2026-05-30", "2026-02-30"),
            "11:12",
            "spec.expires: expected a day such as \"2026-03-31\", got '2026-02-30'",
            file=FILE,
        ),
        bad(
            "everything ignored",
            IGNORE.replace('{group: apps, kind: Deployment, namespace: "agents-*"}', "{}"),
            "5:3",
            "spec.target: expected a kind, a name or a namespace",
            file=FILE,
        ),
        bad(
            "paths and managers",
            IGNORE + "  managers: [mesh]\n",
            "4:1",
            "spec: expected either paths or managers, got both; say which changes are meant",
            file=FILE,
        ),
        bad(
            "path with an open bracket",
            IGNORE.replace("\"]'", "'").replace("['spec", "['spec"),
            "6:11",
            "spec.paths[0]: expected a field path with every bracket closed, got",
            file=FILE,
        ),
        bad(
            "ignored without end",
            IGNORE.replace('  expires: "2026-12-31"\n', ""),
            "4:1",
            "spec.expires: this field is required",
            file=FILE,
        ),
    ],
)
def test_an_exemption_that_cannot_be_meant_is_refused(tmp_path: Path, case: Bad) -> None:
    assert_refused(tmp_path, case)


def test_the_last_day_still_counts_and_the_next_does_not(tmp_path: Path) -> None:
    assert faults(tmp_path, EXCEPTION, today=date(2026, 5, 30)) == []
    (fault,) = faults(tmp_path, EXCEPTION, today=date(2026, 5, 31))
    assert str(fault) == (
        f"{FILE}:11:12: spec.expires: expected 2026-05-31 or later, "
        "got 2026-05-30: it has ended; remove it, or let sre renew it"
    )
    (fault,) = faults(tmp_path, IGNORE, today=date(2027, 1, 1))
    assert fault.path == "spec.expires"


def test_an_exception_lasts_ninety_days_at_most_a_rule_on_drift_longer(tmp_path: Path) -> None:
    assert faults(tmp_path, EXCEPTION, IGNORE, today=date(2026, 3, 1)) == []
    (fault,) = faults(tmp_path, EXCEPTION, IGNORE, today=date(2026, 2, 28))
    assert str(fault).endswith(
        "spec.expires: expected a day at most 90 days ahead, got 2026-05-30; "
        "write 2026-05-29 or earlier, and renew the exception when it ends"
    )


def test_an_exception_names_rules_that_exist(tmp_path: Path) -> None:
    (fault,) = faults(tmp_path, EXCEPTION.replace("egress-scoped", "egress-scope"))
    assert str(fault) == (
        f"{FILE}:5:11: spec.rules[0]: expected the name of a rule, got 'egress-scope'; "
        'did you mean "egress-scoped"?'
    )
