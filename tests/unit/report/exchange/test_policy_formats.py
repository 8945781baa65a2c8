"""Reports of a preview in the formats that people read: changes first, silence without any."""

import html
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from holdfast.operations.policy.model import PolicyReport
from holdfast.report.exchange.formats import POLICY_FORMATS, write_policy
from holdfast.report.exchange.markdown import LONGEST_COMMENT_CHARACTERS
from holdfast.report.exchange.policy_notices import PAGES
from holdfast_policies.table import RULES

from tests.unit.report.policy_runs import (
    END,
    NEW_IMAGE,
    OLD_IMAGE,
    THE_STACK,
    deployment,
    report,
    step,
    summary,
    violation,
)
from tests.unit.report.reports import ATTACKS

SAME = step("same", deployment(), deployment())
CHANGED = step("update", deployment(), deployment(image=NEW_IMAGE))
MESSAGE = "A container is privileged\nspec.x: expected nothing, got true; remove it"
ADVISORY = violation(MESSAGE, enforcementLevel="advisory", severity="medium")
QUIET = report(SAME, ADVISORY, summary("job-bounds"), THE_STACK, END)
LOUD = report(CHANGED, ADVISORY, summary("job-bounds"), THE_STACK, END)
REFUSED = report(SAME, violation(MESSAGE), summary("job-bounds"), THE_STACK, END)


def written(found: PolicyReport, chosen: str) -> str:
    return write_policy(found, chosen, RULES, pages=PAGES)


def test_a_comment_names_agent_old_and_new_value_before_what_is_wrong() -> None:
    shown = html.unescape(written(LOUD, "markdown"))
    assert "Changes: 1 updated." in shown
    assert "changes · agent <code>support-rag</code> · 1 updated" in shown
    path = "spec.template.spec.containers[name=agent].image"
    assert f"- {path}: {OLD_IMAGE}\n+ {path}: {NEW_IMAGE}\n" in shown
    assert "declared at <code>agents/support-rag.yaml:22:3</code>" in shown
    assert shown.index("containers[name=agent].image") < shown.index("pss-privileged")


@pytest.mark.parametrize(
    ("found", "is_silent"),
    [
        pytest.param(QUIET, True, id="only old remarks"),
        pytest.param(LOUD, False, id="a change"),
        pytest.param(REFUSED, False, id="a refusal"),
        pytest.param(report(SAME, summary("a"), THE_STACK), False, id="incomplete"),
        pytest.param(replace(QUIET, changes=None), False, id="no preview"),
    ],
)
def test_a_comment_is_silent_when_nothing_changes_and_nothing_is_refused(
    found: PolicyReport, is_silent: bool
) -> None:
    assert (written(found, "markdown") == "") is is_silent


def test_a_comment_of_a_thousand_changes_is_cut_and_says_so() -> None:
    def one(at: int) -> Any:
        old, new = deployment(), deployment(image="i" * 300)
        for each in (old, new):
            each["metadata"]["labels"] = {"holdfast.dev/agent": f"agent-{at}"}
            each["metadata"]["name"] = f"agent-{at}"
        return step("update", old, new, urn=f"urn:pulumi:d::p::kubernetes:apps/v1:Deployment::{at}")

    shown = written(report(*map(one, range(1000)), summary("a"), THE_STACK, END), "markdown")
    assert len(shown) <= LONGEST_COMMENT_CHARACTERS
    assert re.search(r"\*\*\d+ more entries are left out here\*\*", shown)
    assert "Changes: 1000 updated." in shown


def test_the_terminal_shows_changes_as_a_diff() -> None:
    shown = written(LOUD, "text")
    assert "changes of agent support-rag\n  Deployment cx/support-rag updated\n" in shown
    assert f"      - {OLD_IMAGE}\n      + {NEW_IMAGE}\n" in shown
    assert "changes: 1 updated\n" in shown
    assert "changes: none\n" in written(QUIET, "text")


def test_the_page_shows_changes_and_rules_against_agents() -> None:
    shown = html.unescape(written(LOUD, "html"))
    assert NEW_IMAGE in shown
    (table,) = re.findall(r'<table class="heat">.*?</table>', shown, re.DOTALL)
    text = " ".join(re.sub("<[^>]+>", " ", table).split())
    assert text == (
        "rule no agent support-rag pss-privileged – ! 1 warned job-bounds – ✓ 1 passed "
        "stack-trust-zones ✓ 1 passed –"
    )
    assert "Nothing would change." in written(QUIET, "html")
    assert "<section id=" not in written(
        replace(QUIET, changes=None, objects=(), findings=()), "html"
    )


def test_programs_read_the_changes() -> None:
    document = json.loads(written(LOUD, "json"))
    (change,) = document["changes"]
    assert (change["agent"], change["operation"]) == ("support-rag", "update")
    assert change["fields"][0]["after"] == NEW_IMAGE
    assert change["fields"][0]["declaredAt"]["line"] == 22
    assert "changes" not in json.loads(written(replace(LOUD, changes=None), "json"))


@pytest.mark.parametrize("chosen", [each for each in POLICY_FORMATS if each != "json"])
@pytest.mark.parametrize("text", ATTACKS)
def test_no_text_of_a_program_breaks_out_of_a_report(text: str, chosen: str) -> None:
    def run(odd: str) -> str:
        changed = step("update", deployment(), deployment(image=odd, args=[odd, f"a\n{odd}\nb"]))
        message = f"About {odd}\nspec.x: expected {odd}, got {odd}; do {odd}"
        return written(report(changed, violation(message), summary("a"), THE_STACK, END), chosen)

    shown = run(text)
    assert all(character.isprintable() or character == "\n" for character in shown)
    if chosen == "html":
        harmless = re.sub(r"[^\n]+", "harmless", text)
        assert _tags(shown) == _tags(run(harmless))


def _tags(page: str) -> list[str]:
    tags: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            tags.append(tag)

    Reader().feed(page)
    return tags


def test_demands_of_one_rule_on_one_field_are_distinguished() -> None:
    other = MESSAGE.replace("expected nothing", "expected false")
    found = report(SAME, violation(MESSAGE), violation(other), summary("a"), THE_STACK, END)
    issues = json.loads(written(found, "gitlab"))
    assert len({each["fingerprint"] for each in issues}) == 2


def test_every_rule_of_sarif_has_a_score_an_address_and_a_full_description() -> None:
    report = PolicyReport("Policy of stack prod", "policy/prod", "prod")
    run = json.loads(write_policy(report, "sarif", RULES, pages="docs/policies"))["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert len(rules) == len(RULES)
    for each, rule in zip(rules, RULES, strict=True):
        score = float(each["properties"]["security-severity"])
        assert (score >= 9) is (str(rule.severity) == "critical"), each["id"]
        assert each["helpUri"].startswith("https://"), each["id"]
        assert len(each["fullDescription"]["text"]) > len(each["shortDescription"]["text"])
    absolute = write_policy(report, "sarif", RULES, pages="https://rules.example")
    first = json.loads(absolute)["runs"][0]["tool"]["driver"]["rules"][0]
    assert first["helpUri"] == f"https://rules.example/{RULES[0].id}.md"
