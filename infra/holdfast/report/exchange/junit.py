"""Notices as JUnit XML, which every CI service shows as test results.

A finding is a failed test of its agent, a remark (or what is only advised) a passed one, as is an
object with the rules that it passed; what could not be checked is an error; a report with nothing
to say is one passed test: an empty file never means "fine".
"""

import xml.etree.ElementTree as ET
from typing import Final

from holdfast.report.exchange.notice import Notice, NoticeReport

_NO_AGENT: Final = "(no agent)"


def junit(report: NoticeReport) -> str:
    """The whole report, one document, ending in a line end."""
    failed = sum(notice.is_failure for notice in report.notices)
    cases = [_case(notice) for notice in report.notices]
    for passed in report.passed:
        name = f"{passed.ref}: {passed.words}"
        case = ET.Element("testcase", classname=passed.agent or _NO_AGENT, name=name)
        ET.SubElement(case, "system-out").text = "\n".join(passed.rules)
        cases.append(case)
    for item in report.not_checked:
        case = ET.Element("testcase", classname="not checked", name=item.scope)
        ET.SubElement(case, "error", message=item.reason, type="not-checked")
        cases.append(case)
    if not cases:
        cases.append(ET.Element("testcase", classname=report.identifier, name=report.summary))
    suites = ET.Element("testsuites", name=report.title)
    suite = ET.SubElement(suites, "testsuite", name=report.title, skipped="0")
    for element in (suites, suite):
        element.set("tests", str(len(cases)))
        element.set("failures", str(failed))
        element.set("errors", str(len(report.not_checked)))
    if report.observed_at:
        suite.set("timestamp", report.observed_at.removesuffix("Z"))
    suite.extend(cases)
    ET.indent(suites, " ")
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _case(notice: Notice) -> ET.Element:
    case = ET.Element("testcase", classname=notice.agent or _NO_AGENT, name=notice.subject)
    if notice.location is not None:
        case.set("file", notice.location.file)
        if notice.location.line:
            case.set("line", str(notice.location.line))
    lines = [f"{fact.label}: {fact.text}" for fact in notice.facts]
    body = "\n".join([f"severity: {notice.severity}", *lines, *notice.diff])
    if notice.is_failure:
        failure = ET.SubElement(case, "failure", message=notice.headline, type=notice.rule)
        failure.text = body
    else:
        ET.SubElement(case, "system-out").text = f"{notice.headline}\n{body}"
    return case
