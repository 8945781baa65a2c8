"""Every format of a report: what it must hold, and that no text of a cluster breaks out of it."""

import html
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from holdfast.drift.finding import DriftReport, Severity
from holdfast.kube.objects import ObjectRef
from holdfast.operations.scan.scan_context import ReportContext
from holdfast.report.exchange.drift_notices import drift_notices, fingerprint_of
from holdfast.report.exchange.formats import DRIFT_FORMATS, NOTICE_WRITERS, write_drift
from holdfast.report.exchange.markdown import LONGEST_COMMENT_CHARACTERS
from holdfast.report.exchange.prometheus import METRICS
from prometheus_client.parser import text_string_to_metric_families

from tests.unit.report.reports import (
    ATTACKS,
    CLEAN,
    CONFIG,
    CONTEXT,
    GONE,
    IMAGE,
    INCOMPLETE,
    REMARK,
    REPORT,
    REWRITTEN,
    SIDECAR,
    STRANGER,
    attack,
)


def written(report: DriftReport, chosen: str, context: ReportContext = CONTEXT) -> str:
    return write_drift(report, chosen, context)


@pytest.mark.parametrize("chosen", [each for each in DRIFT_FORMATS if each != "json"])
@pytest.mark.parametrize("text", ATTACKS)
def test_no_text_of_a_cluster_reaches_a_file_unprintable(text: str, chosen: str) -> None:
    shown = written(attack(text), chosen)
    assert all(character.isprintable() or character == "\n" for character in shown)
    shown.encode()


@pytest.mark.parametrize("chosen", ["markdown", "html", "text"])
def test_which_detectors_ran_is_reported_to_people(chosen: str) -> None:
    shown = html.unescape(written(REWRITTEN, chosen))
    assert "layer pulumi: not asked: nothing drifted" in shown
    assert "recorded" in shown


@pytest.mark.parametrize("chosen", NOTICE_WRITERS)
def test_incomplete_is_said_in_every_format(chosen: str) -> None:
    shown = written(replace(CLEAN, not_checked=INCOMPLETE.not_checked), chosen)
    assert re.search("not.checked", shown, re.IGNORECASE)
    assert "Secret in cx" in shown


class TestSarif:
    def run(self, report: DriftReport) -> dict[str, Any]:
        document = json.loads(written(report, "sarif"))
        assert document["version"] == "2.1.0"
        (run,) = document["runs"]
        assert isinstance(run, dict)
        return run

    def test_a_result_names_rule_place_object_and_fingerprint(self) -> None:
        result = next(
            each for each in self.run(REPORT)["results"] if "[name=evil]" in str(each["locations"])
        )
        assert result["ruleId"] == "added"
        assert result["level"] == "error"
        assert result["partialFingerprints"] == {"holdfast/v1": fingerprint_of(SIDECAR)}
        (location,) = result["locations"]
        assert location["physicalLocation"] == {
            "artifactLocation": {"uri": "agents/support-rag.yaml"},
            "region": {"startLine": 14, "endLine": 14, "startColumn": 10, "endColumn": 11},
        }
        name = "Deployment cx/support-rag spec.template.spec.containers[name=evil]"
        assert location["logicalLocations"][0]["fullyQualifiedName"] == name
        assert "by: alice@example.test, kubectl-patch Update" in result["message"]["text"]

    def test_every_rule_that_a_result_names_is_described(self) -> None:
        run = self.run(REPORT)
        rules = {each["id"] for each in run["tool"]["driver"]["rules"]}
        assert {each["ruleId"] for each in run["results"]} <= rules

    def test_a_remark_is_no_failure_and_what_nobody_declares_has_no_file(self) -> None:
        results = {each["ruleId"]: each for each in self.run(REPORT)["results"]}
        assert results["recreated"]["kind"] == "informational"
        assert results["recreated"]["level"] == "none"
        assert "physicalLocation" not in results["unmanaged"]["locations"][0]

    def test_an_incomplete_scan_is_a_run_that_did_not_succeed(self) -> None:
        (invocation,) = self.run(INCOMPLETE)["invocations"]
        assert invocation["executionSuccessful"] is False
        text = invocation["toolExecutionNotifications"][0]["message"]["text"]
        assert text.startswith("not checked: Secret in cx: forbidden")

    def test_a_message_holds_no_link_of_the_clusters_making(self) -> None:
        run = self.run(attack("[click](https://evil.example)"))
        assert "](https" not in str([each["message"] for each in run["results"]])
        assert "](https" not in str(run["invocations"])


class TestJunit:
    def cases(self, report: DriftReport) -> list[ET.Element]:
        root = ET.fromstring(written(report, "junit"))  # noqa: S314  (it is our own)
        assert root.get("tests") == str(len(root.findall("testsuite/testcase")))
        assert root.get("failures") == str(len(root.findall("testsuite/testcase/failure")))
        assert root.get("errors") == str(len(root.findall("testsuite/testcase/error")))
        return root.findall("testsuite/testcase")

    def test_findings_fail_remarks_pass_and_the_unknown_is_an_error(self) -> None:
        cases = self.cases(INCOMPLETE)
        assert [len(case) for case in cases] == [1] * 7
        assert [case[0].tag for case in cases].count("failure") == 5
        assert [case[0].tag for case in cases].count("system-out") == 1
        assert cases[-1][0].tag == "error"

    def test_in_sync_is_a_passed_test_and_not_an_empty_file(self) -> None:
        (case,) = self.cases(CLEAN)
        assert list(case) == []
        assert case.get("name") == "in sync (57 objects checked)"

    @pytest.mark.parametrize("text", ATTACKS)
    def test_any_text_leaves_it_well_formed(self, text: str) -> None:
        assert len(self.cases(attack(text))) == 3


class TestMarkdown:
    def test_the_summary_stands_first_and_the_worst_is_unfolded(self) -> None:
        lines = written(REPORT, "markdown").splitlines()
        assert lines[0] == "### ⚠️ Drift of stack prod"
        assert lines[2].startswith("5 findings in 4 objects")
        folds = [line for line in lines if line.startswith("<details")]
        assert folds[0].startswith("<details open><summary>🔴 critical")
        assert folds[-1].startswith("<details><summary>⚪ info")

    def test_in_sync_is_three_lines(self) -> None:
        assert written(CLEAN, "markdown") == (
            "### ✅ Drift of stack prod\n\nin sync &#40;57 objects checked&#41;\n"
        )

    @pytest.mark.parametrize("text", ATTACKS)
    def test_text_of_a_cluster_stands_in_code_and_means_nothing(self, text: str) -> None:
        shown = written(attack(text), "markdown")
        foreign = re.findall("<code>(.*?)</code>", shown)
        assert foreign
        for each in foreign:
            assert re.fullmatch(r"(?:[\w ,;=/'+?%-]|&#\d+;|…)*", each)
            assert "_" not in each
        rest = re.sub("<code>.*?</code>", "", shown)
        assert set(re.findall("<[^>]*>", rest)) <= {
            "<details open>", "<details>", "</details>", "<summary>", "</summary>", "<br>",
        }  # fmt: skip
        rows = [line for line in rest.splitlines() if line.startswith("|")]
        assert all(line.count("|") == 4 for line in rows)

    def test_a_long_report_is_cut_at_whole_sections_the_least_severe_first(self) -> None:
        many = [
            replace(
                CONFIG,
                ref=ObjectRef("cx", "ConfigMap", f"map-{number}", "v1"),
                agent=f"agent-{number % 40}",
                severity=severity,
            )
            for number in range(2000)
            for severity in (Severity.LOW if number else Severity.CRITICAL,)
        ]
        shown = written(DriftReport(tuple(many), (), 2000), "markdown")
        assert len(shown) <= LONGEST_COMMENT_CHARACTERS
        assert shown.count("<details") == shown.count("</details>")
        assert "🔴 critical" in shown
        left_out = int(re.findall(r"\*\*(\d+) more", shown)[0])
        assert left_out + shown.count("map-") == 2000

    def test_a_thousand_things_not_checked_leave_room_for_findings(self) -> None:
        unknown = tuple(
            replace(INCOMPLETE.not_checked[0], scope=f"Secret {number}") for number in range(1000)
        )
        shown = written(DriftReport((SIDECAR,), unknown, 1), "markdown")
        assert "and 980 more" in shown
        assert "🔴 critical" in shown


class _Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


class TestPage:
    def test_it_asks_for_nothing_from_anywhere(self) -> None:
        page = _Tags(written(INCOMPLETE, "html"))
        assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "object"}
        assert not [each for _, each in page.tags if "src" in each or "style" in each]
        policy = next(each["content"] for _, each in page.tags if "http-equiv" in each)
        assert policy is not None
        assert policy.startswith("default-src 'none'")

    def test_it_tells_everything_about_a_finding(self) -> None:
        text = re.sub(r"\s+", " ", _Tags(written(REPORT, "html")).text)
        for part in (
            "Drift of stack prod",
            "2026-11-21T12:00:00Z",
            "5 findings in 4 objects: 2 critical, 2 high, 1 medium (57 objects checked)",
            "spec.template.spec.containers[name=evil]",
            '{"name":"evil","image":"x:y"}',
            "alice@example.test, kubectl-patch Update, 2026-11-21T10:45:00Z",
            "image-digest-pinned",
            "since 2026-11-19T12:00:00Z, 2d, 3 times",
            "agents/support-rag.yaml:14:10",
            "the object is not declared",
            "Holdfast's scan and Pulumi's refresh",
            "+top_k: 80",
            "-top_k: 8",
        ):
            assert part in text, part

    @pytest.mark.parametrize("text", ATTACKS)
    def test_text_of_a_cluster_is_text(self, text: str) -> None:
        harmless, hostile = (_Tags(written(attack(each), "html")) for each in ("harmless", text))
        assert [tag for tag, _ in hostile.tags] == [tag for tag, _ in harmless.tags]
        assert "49" not in hostile.text.replace("7 * 7", "")

    def test_links_lead_to_ids_or_to_the_runbook(self) -> None:
        context = replace(CONTEXT, runbook="https://docs.example/drift")
        page = _Tags(write_drift(INCOMPLETE, "html", context))
        links = {each["href"] for tag, each in page.tags if tag == "a"}
        assert "https://docs.example/drift#missing" in links
        assert "https://docs.example/drift#not-checked" in links


class TestAnnotations:
    @pytest.mark.parametrize("text", ATTACKS)
    def test_each_line_is_one_command_of_ours(self, text: str) -> None:
        lines = written(attack(text), "github").splitlines()
        assert len(lines) == 3
        for line in lines:
            assert re.match("::(error|warning|notice) (file=[^,:]*,line=14,)?title=[^:]*::", line)

    def test_a_finding_stands_at_its_line(self) -> None:
        line = written(DriftReport((IMAGE,), (), 1), "github")
        assert line == (
            "::error file=agents/support-rag.yaml,line=14,"
            "title=changed%3A Deployment cx/support-rag::"
            "spec.template.spec.containers[name=agent].image: "
            "expected registry.example/agents/support-rag@sha256:2b9f, "
            "found registry.example/agents/support-rag:hotfix [high], "
            "by kubectl-set Update, 2026-11-21T10:41:12Z (no audit entry)\n"
        )

    def test_code_quality_has_what_gitlab_demands_of_each_issue(self) -> None:
        issues = json.loads(written(INCOMPLETE, "gitlab"))
        assert len(issues) == 7
        for issue in issues:
            assert set(issue) == {
                "description", "check_name", "fingerprint", "severity", "location",
            }  # fmt: skip
            assert issue["location"]["path"]
            assert issue["location"]["lines"]["begin"] >= 1
        assert len({issue["fingerprint"] for issue in issues}) == 7


class TestOpenReports:
    def test_each_namespace_has_a_report_and_the_rest_a_cluster_report(self) -> None:
        items = json.loads(written(INCOMPLETE, "openreports"))["items"]
        places = {(each["kind"], each["metadata"].get("namespace")): each for each in items}
        assert set(places) == {("ClusterReport", None), ("Report", "cx"), ("Report", "finops")}
        wide = places["ClusterReport", None]
        assert wide["summary"] == {"pass": 0, "fail": 1, "warn": 0, "error": 1, "skip": 0}
        assert places["Report", "cx"]["summary"]["warn"] == 1
        result = places["Report", "finops"]["results"][0]
        assert result["resources"] == [
            {
                "apiVersion": "v1",
                "kind": "Service",
                "namespace": "finops",
                "name": "nightly-cost-report",
            }
        ]
        assert result["timestamp"] == {"seconds": 1_795_262_400, "nanos": 0}


def test_a_fingerprint_is_of_class_object_and_field_and_not_of_the_value() -> None:
    findings = (SIDECAR, IMAGE, CONFIG, GONE, STRANGER, REMARK)
    assert len({fingerprint_of(each) for each in findings}) == len(findings)
    assert fingerprint_of(replace(SIDECAR, live="other", actors=())) == fingerprint_of(SIDECAR)


def test_every_notice_leads_to_the_runbook() -> None:
    report = drift_notices(REPORT, CONTEXT)
    rules = {rule.name: rule for rule in report.rules}
    for notice in report.notices:
        assert rules[notice.rule].link == f"docs/drift.md#{notice.rule}"


class TestPrometheus:
    def samples(self, report: DriftReport, context: ReportContext = CONTEXT) -> dict[str, float]:
        families = text_string_to_metric_families(written(report, "prometheus", context))
        return {
            ",".join((sample.name, *sample.labels.values())): sample.value
            for family in families
            for sample in family.samples
        }

    def test_findings_are_counted_under_the_names_of_a_watch(self) -> None:
        samples = self.samples(REPORT)
        assert samples["holdfast_drift_objects,prod"] == 57
        assert samples["holdfast_drift_complete,prod"] == 1
        assert samples["holdfast_drift_findings,added,critical,prod"] == 1
        assert samples["holdfast_drift_findings,added,low,prod"] == 0
        assert samples["holdfast_drift_last_success_timestamp_seconds,prod"] == 1_795_262_400
        assert {name.partition(",")[0] for name in samples} <= set(METRICS)

    def test_an_incomplete_scan_is_no_success(self) -> None:
        samples = self.samples(INCOMPLETE)
        assert samples["holdfast_drift_complete,prod"] == 0
        assert "holdfast_drift_last_success_timestamp_seconds,prod" not in samples

    def test_ages_are_reported_where_a_history_is_kept(self) -> None:
        age = "holdfast_drift_oldest_finding_age_seconds,critical,prod"
        assert self.samples(DriftReport((SIDECAR,), (), 1))[age] == 172_800
        assert age not in self.samples(REPORT)
