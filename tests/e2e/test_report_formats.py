"""What readers of the report formats think of them: official schemas, an API server, a browser."""

import json
import struct
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from holdfast.operations.policy.model import PolicyReport
from holdfast.report.exchange.formats import write_drift, write_policy
from holdfast.report.exchange.policy_notices import PAGES
from holdfast.report.html.fleet_page import fleet_page
from holdfast_policies.table import RULES

from tests.e2e.browser import DARK, browse, measured, needs_chromium, overflow
from tests.e2e.go_material import OPENREPORTS_DEFINITIONS, SARIF_SCHEMA, go_material
from tests.e2e.live_sandbox import Kubectl
from tests.unit.report.fleets import EVERYTHING, attacked, large_fleet
from tests.unit.report.policy_runs import (
    END,
    THE_STACK,
    deployment,
    step,
    summary,
    violation,
)
from tests.unit.report.policy_runs import report as policy_report
from tests.unit.report.reports import ATTACKS, CLEAN, CONTEXT, INCOMPLETE, REPORT, attack

pytestmark = pytest.mark.e2e

EVERY_REPORT = [
    pytest.param(REPORT, id="findings"),
    pytest.param(INCOMPLETE, id="incomplete"),
    pytest.param(CLEAN, id="in sync"),
    *(pytest.param(attack(text), id=f"attack {at}") for at, text in enumerate(ATTACKS)),
]


@pytest.mark.parametrize("report", EVERY_REPORT)
def test_sarif_keeps_the_official_schema(report: object) -> None:
    schema = json.loads(go_material(*SARIF_SCHEMA).read_text())
    assert isinstance(report, type(REPORT))
    document = json.loads(write_drift(report, "sarif", CONTEXT))
    jsonschema.Draft7Validator(schema).validate(document)
    document["runs"][0]["results"] = [{"level": "no such level"}]
    assert not jsonschema.Draft7Validator(schema).is_valid(document)


def test_an_api_server_with_openreports_takes_what_we_write(
    kubectl: Kubectl, namespace: str
) -> None:
    for definition in sorted(go_material(*OPENREPORTS_DEFINITIONS).glob("*.yaml")):
        kubectl("apply", "--server-side", "-f", str(definition))
    kubectl.wait_for("condition=Established", "crd/reports.openreports.io")
    kubectl.wait_for("condition=Established", "crd/clusterreports.openreports.io")
    findings = tuple(
        replace(each, ref=replace(each.ref, namespace=each.ref.namespace and namespace))
        for each in INCOMPLETE.findings
    )
    text = write_drift(replace(INCOMPLETE, findings=findings), "openreports", CONTEXT)
    kubectl("apply", "--server-side", "--validate=strict", "-f", "-", stdin=text)
    stored = kubectl.get("reports.openreports.io/holdfast-drift-prod", "-n", namespace)
    assert stored["summary"]["fail"] == 4
    wide = kubectl.get("clusterreports.openreports.io/holdfast-drift-prod")
    assert wide["summary"] == {"pass": 0, "fail": 1, "warn": 0, "error": 1, "skip": 0}
    kubectl("delete", "clusterreports.openreports.io/holdfast-drift-prod")
    text = write_policy(judged_in(namespace), "openreports", RULES, pages=PAGES)
    kubectl("apply", "--server-side", "--validate=strict", "-f", "-", stdin=text)
    stored = kubectl.get("reports.openreports.io/holdfast-policy-prod", "-n", namespace)
    assert stored["summary"] == {"pass": 1, "fail": 1, "warn": 0, "error": 0, "skip": 0}
    kubectl("delete", "clusterreports.openreports.io/holdfast-policy-prod")


def judged_in(namespace: str) -> PolicyReport:
    """A preview in which one object of a namespace breaks a rule and passes others."""
    inputs = deployment()
    inputs["metadata"]["namespace"] = namespace
    message = "About\nspec.x: expected nothing, got true; remove it"
    return policy_report(
        step("same", inputs, inputs),
        violation(message),
        summary("job-bounds", "egress-scoped"),
        THE_STACK,
        END,
    )


@needs_chromium
@pytest.mark.parametrize("text", ATTACKS)
def test_a_browser_finds_text_where_a_cluster_wrote_markup(text: str) -> None:
    def shape(page: str) -> list[str]:
        return [part.split(">")[0].split()[0] for part in browse(page, "--dump-dom").split("<")[1:]]

    page = write_drift(attack(text), "html", CONTEXT)
    assert shape(page) == shape(write_drift(attack("harmless"), "html", CONTEXT))
    assert shape(fleet_page(attacked(text))) == shape(fleet_page(attacked("harmless")))


LONG_WORD = replace(REPORT.findings[1], desired=None, live="x" * 5000)
WRITTEN_PAGES = [
    pytest.param(
        write_drift(replace(REPORT, findings=(LONG_WORD, *REPORT.findings)), "html", CONTEXT),
        id="drift",
    ),
    pytest.param(fleet_page(EVERYTHING), id="three stacks"),
    pytest.param(fleet_page(large_fleet()), id="500 agents"),
    pytest.param(fleet_page(attacked("x" * 3000)), id="long words"),
]


@needs_chromium
@pytest.mark.parametrize("width", [360, 390, 1280, 1440])
@pytest.mark.parametrize("page", WRITTEN_PAGES)
def test_a_page_fits_its_window(page: str, width: int) -> None:
    assert overflow(page, width) == str(width)


@needs_chromium
@pytest.mark.parametrize("page", WRITTEN_PAGES)
def test_a_browser_draws_the_page_in_the_dark_too(page: str, tmp_path: Path) -> None:
    picture = tmp_path / "page.png"
    browse(page, f"--screenshot={picture}", "--window-size=1280,900", DARK)
    assert struct.unpack(">II", picture.read_bytes()[16:24]) == (1280, 900)
    ground = "getComputedStyle(it.body).backgroundColor"
    assert measured(page, 800, ground) == "rgb(245, 246, 248)"
    assert measured(page, 800, ground, DARK) == "rgb(15, 20, 26)"


@needs_chromium
def test_the_filter_shows_the_agents_it_names_folded_ones_too() -> None:
    page = fleet_page(large_fleet(60, 5))
    seen = "each => each.checkVisibility({contentVisibilityAuto: true})"
    rows = f"[...it.querySelectorAll('tr.agent')].filter({seen}).length"
    drifted = page.replace(' id="show-all" checked', ' id="show-all"').replace(
        'id="show-drift"', 'id="show-drift" checked'
    )
    assert measured(page, 1280, rows) == "11", "the most urgent; teams are folded"
    assert measured(drifted, 1280, rows) == "12", "six, among the most urgent and in their teams"
