"""A policy report as notices, which every file format writes."""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Final, Protocol

from holdfast_policies.evaluation.waivers import (
    WAIVER_EXPIRED,
    WAIVER_UNUSED,
    WAIVER_WITHOUT_TARGET,
)
from holdfast_policies.evaluation.weakened import NO_RULE_ASKED, RULE_WEAKENED

from holdfast.drift.finding import NotChecked, Severity
from holdfast.kube.objects import ObjectRef
from holdfast.kube.text import safe_text
from holdfast.operations.policy.heat_map import heat_map
from holdfast.operations.policy.model import PolicyFinding, PolicyReport, Verdict, summary_line
from holdfast.report.exchange.notice import Fact, Notice, NoticeReport, Passed, RuleText

PAGES: Final = "docs/policies"
"""Folder of the pages about the rules, one a rule, relative to the project."""

_LONGEST_CHARACTERS: Final = 2000
_ABOUT_SETTINGS: Final = {
    RULE_WEAKENED: (
        "settings ask less of rules than the profile of the stack",
        "Raise the levels again, or waive single objects by a PolicyException.",
    ),
    NO_RULE_ASKED: ("no rule is evaluated", "Raise the levels again."),
    WAIVER_EXPIRED: ("a waiver has expired", "Remove or renew it."),
    WAIVER_UNUSED: ("a waiver is not needed", "Remove it, or name its stacks."),
    WAIVER_WITHOUT_TARGET: (
        "a waiver names an object that does not exist",
        "Correct or remove it, or name its stacks.",
    ),
}


class DescribedRule(Protocol):
    """What is said of a rule beside its findings."""

    @property
    def id(self) -> str:
        """Its name."""

    @property
    def description(self) -> str:
        """What is wrong when it is violated."""

    @property
    def remedy(self) -> str:
        """What to change."""

    @property
    def rationale(self) -> str:
        """Why it matters."""

    @property
    def severity(self) -> str:
        """How bad a violation is."""

    @property
    def source(self) -> str:
        """Address of what the rule follows."""

    @property
    def frameworks(self) -> tuple[str, ...]:
        """Controls that it serves, `AC-6` of NIST SP 800-53 among them."""


def page_of(rule: str, pages: str = PAGES, file: str = "") -> str:
    """The page about a rule; that of an own rule lies beside its file."""
    return file.removesuffix(".py") + ".md" if file else f"{pages}/{rule}.md"


def policy_notices(
    report: PolicyReport, rules: Iterable[DescribedRule], pages: str = PAGES
) -> NoticeReport:
    """The report in the form that every file format writes.

    Args:
        report: What the rules said.
        rules: Every rule that findings may name.
        pages: Address of the pages about the rules, for links.
    """
    return NoticeReport(
        title=report.title,
        identifier=report.identifier,
        summary=summary_line(report),
        notices=tuple(_notice(each) for each in report.findings if not each.is_open),
        rules=(
            *(
                _rule_text(rule, page_of(rule.id, pages, report.known.own.get(rule.id, "")))
                for rule in rules
            ),
            *_about_settings(report, pages),
        ),
        not_checked=tuple(
            NotChecked(safe_text(item.scope), safe_text(item.reason, _LONGEST_CHARACTERS))
            for item in (*report.not_checked, *_left_open(report.findings))
        ),
        remarks=report.remarks,
        not_checked_link=f"{pages}/README.md#not-checked",
        passed=tuple(
            Passed(_printable(each.ref), safe_text(each.agent), each.passed)
            for each in report.objects
            if each.passed
        ),
        observed_at=report.observed_at,
        changes=report.changes,
        heat_map=heat_map(report.findings, report.objects),
    )


def _rule_text(rule: DescribedRule, link: str) -> RuleText:
    return RuleText(
        rule.id,
        f"{rule.description[:1].lower()}{rule.description[1:]}",
        f"{rule.remedy[:1].upper()}{rule.remedy[1:]}.",
        link,
        severity=Severity(str(rule.severity)),
        reason=f"{rule.rationale.rstrip('.')}.",
        source=rule.source,
    )


def _about_settings(report: PolicyReport, pages: str) -> Iterator[RuleText]:
    """What is said of settings and waivers, where something is: no rule of the table."""
    named = {each.rule for each in report.findings}
    for name, (meaning, remedy) in _ABOUT_SETTINGS.items():
        if name in named:
            yield RuleText(name, meaning, remedy, f"{pages}/README.md", Severity.MEDIUM)


def fingerprint_of(finding: PolicyFinding) -> str:
    """16 hexadecimal digits, equal for the same demand of a rule on a field in every run."""
    text = "\n".join((finding.rule, *finding.ref.identity, finding.path, finding.expected))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _left_open(findings: Iterable[PolicyFinding]) -> Iterator[NotChecked]:
    """What a mandatory rule could not decide: no format may take that for a pass."""
    for each in findings:
        if each.is_open:
            scope = f"{each.rule} at {each.subject} {each.path}".rstrip()
            yield NotChecked(scope, each.headline)


def _notice(finding: PolicyFinding) -> Notice:
    is_remark = finding.verdict is not Verdict.VIOLATED
    return Notice(
        rule=finding.rule,
        severity=Severity.INFO if is_remark else finding.severity,
        ref=_printable(finding.ref),
        agent=safe_text(finding.agent),
        path=safe_text(finding.path, _LONGEST_CHARACTERS),
        headline=safe_text(finding.headline, _LONGEST_CHARACTERS),
        facts=tuple(_facts(finding)),
        location=finding.location,
        fingerprint=fingerprint_of(finding),
        is_advisory=not finding.is_mandatory,
    )


def _facts(finding: PolicyFinding) -> Iterator[Fact]:
    yield Fact("level", finding.level)
    if finding.verdict is not Verdict.VIOLATED:
        yield Fact("verdict", finding.verdict.value)
    for label, text in (
        ("expected", finding.expected),
        ("found", finding.found),
        ("remedy", finding.remedy),
        ("waiver", finding.note),
    ):
        if text:
            yield Fact(label, safe_text(text, _LONGEST_CHARACTERS), is_value=label == "found")


def _printable(ref: ObjectRef) -> ObjectRef:
    """The reference, should a file have given it odd names; of the stack, that it is one."""
    if not ref.kind:
        return ObjectRef("", "Stack", "(as a whole)", "")
    return ObjectRef(
        *(safe_text(part) for part in (ref.namespace, ref.kind, ref.name, ref.api_version))
    )
