"""What readers of the report formats think of them: official schemas, an API server, a browser."""

import json
import shutil
import struct
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from holdfast.report.formats import write_drift, write_policy
from holdfast.report.policy_report import PolicyReport
from holdfast_policies.table import RULES

from tests.e2e.go_material import OPENREPORTS_DEFINITIONS, SARIF_SCHEMA, go_material
from tests.e2e.live_sandbox import Kubectl
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

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium on PATH: install it to see the page as a browser does"
)

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
    text = write_policy(judged_in(namespace), "openreports", RULES)
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


Browse = Callable[..., str]


@pytest.fixture
def browse(tmp_path: Path) -> Browse:
    """A headless browser, without network, on a page of the test's own."""

    def run(page: str, *arguments: str) -> str:
        file = tmp_path / "page.html"
        file.write_text(page)
        done = subprocess.run(
            [
                str(CHROMIUM),
                *("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
                *("--proxy-server=127.0.0.1:1", "--enable-logging=stderr", "--log-level=0"),
                f"--user-data-dir={tmp_path / 'profile'}",
                *arguments,
                file.as_uri(),
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        refused = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        assert refused == []
        return done.stdout

    return run


@needs_chromium
@pytest.mark.parametrize("text", ATTACKS)
def test_a_browser_finds_text_where_a_cluster_wrote_markup(browse: Browse, text: str) -> None:
    def shape(page: str) -> list[str]:
        return [part.split(">")[0].split()[0] for part in browse(page, "--dump-dom").split("<")[1:]]

    page = write_drift(attack(text), "html", CONTEXT)
    assert shape(page) == shape(write_drift(attack("harmless"), "html", CONTEXT))


@needs_chromium
@pytest.mark.parametrize("width", [360, 1280])
def test_a_page_fits_its_window(browse: Browse, tmp_path: Path, width: int) -> None:
    long_word = replace(REPORT.findings[1], desired=None, live="x" * 5000)
    page = write_drift(replace(REPORT, findings=(long_word, *REPORT.findings)), "html", CONTEXT)
    # A page's own script may not run; the measuring one is the browser's, in a frame around it.
    frame = (
        "<!doctype html><iframe id=f style='border:0;width:{width}px;height:900px' srcdoc='{page}'>"
        "</iframe><script>f.onload=()=>document.title="
        "f.contentDocument.documentElement.scrollWidth</script>"
    ).format(width=width, page=page.replace("&", "&amp;").replace("'", "&#39;"))
    dumped = browse(frame, "--dump-dom", "--virtual-time-budget=2000")
    assert f"<title>{width}</title>" in dumped


@needs_chromium
def test_a_browser_draws_the_page(browse: Browse, tmp_path: Path) -> None:
    picture = tmp_path / "page.png"
    page = write_drift(REPORT, "html", CONTEXT)
    browse(page, f"--screenshot={picture}", "--window-size=1280,900")
    assert struct.unpack(">II", picture.read_bytes()[16:24]) == (1280, 900)
