"""The pages about the rules are what the rules and their cases say; every link of them holds."""

import re
from pathlib import Path

import pytest
from holdfast.drift.finding import DriftClass
from holdfast.operations.policy.model import Verdict
from holdfast.report.exchange.policy_notices import page_of
from holdfast.report.text.finding_text import NOT_CHECKED, anchor_of, runbook_link
from holdfast_policies.evaluation.waivers import WAIVER_EXPIRED, WAIVER_UNUSED
from holdfast_policies.model.rule import FRAMEWORKS, Rule
from holdfast_policies.pack.answers import REMEDIATION_LOST, UNDETERMINED
from holdfast_policies.table import RULES

from tests.policies.rule_pages import FOLDER, INDEX, frameworks_of, pages

ROOT = Path(__file__).parents[2]
PAGES = pages()
EVERY_RULE = [pytest.param(rule, id=rule.id) for rule in RULES]


def anchors(file: Path) -> set[str]:
    """Anchors of a Markdown file, as code hosts make them of its headings."""
    headings = re.findall(r"^#+ (.+)$", file.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def resolves(link: str, folder: Path = ROOT) -> bool:
    name, _, anchor = link.partition("#")
    file = folder / name
    return file.is_file() and (not anchor or anchor in anchors(file))


def test_the_pages_are_current() -> None:
    written = {file.name: file.read_text() for file in FOLDER.glob("*.md")}
    assert written == PAGES, "run: make schema"


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_every_rule_has_a_page_that_says_what_to_do(rule: Rule) -> None:
    assert resolves(f"{page_of(rule.id)}#what-to-do")
    text = (ROOT / page_of(rule.id)).read_text()
    assert rule.rationale in text
    assert rule.remedy[1:] in text
    assert "## Refused\n" in text
    assert "\n> " in text
    assert "## Accepted\n" in text


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_every_control_belongs_to_a_framework(rule: Rule) -> None:
    for control in rule.frameworks:
        assert set(frameworks_of(control)) <= FRAMEWORKS.keys(), control


@pytest.mark.parametrize(
    "link",
    [
        *(runbook_link(anchor_of(each)) for each in DriftClass),
        runbook_link(NOT_CHECKED),
        *(
            f"docs/policies/{INDEX}#{name}"
            for name in (UNDETERMINED, WAIVER_EXPIRED, WAIVER_UNUSED, REMEDIATION_LOST, NOT_CHECKED)
        ),
    ],
)
def test_every_class_of_finding_has_its_place_in_the_runbook(link: str) -> None:
    assert resolves(link)


def test_every_verdict_has_its_words() -> None:
    text = (FOLDER / INDEX).read_text()
    assert all(verdict.value in text or verdict is Verdict.WAIVED for verdict in Verdict)


@pytest.mark.parametrize("name", sorted(PAGES))
def test_every_link_within_the_project_resolves(name: str) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", PAGES[name]):
        assert "://" in link or resolves(link, FOLDER), link
