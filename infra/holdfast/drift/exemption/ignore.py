"""Expected drift: rules that name an owner, a reason and an end, applied last and always counted.

An expired rule hides nothing and is a finding itself. A rule that matches nothing is reported, so
that it can be removed. Pure: the day comes from the caller.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from fnmatch import fnmatchcase
from typing import Final

from holdfast.drift.finding import DriftClass, DriftReport, Finding, IgnoredBy, Severity
from holdfast.errors import SourceLocation
from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import ItemKey, Path, Segment

ANY_ITEM: Final = "*"
"""In brackets: every item of a list."""

_RULE_KIND: Final = "DriftIgnore"
_RULE_VERSION: Final = "holdfast.dev/v1alpha1"


@dataclass(frozen=True)
class IgnoreRule:
    """Drift that is expected.

    Attributes:
        location: Where the rule is written; its name in reports.
        group: Glob for the API group, like `kind`, `name` and `namespace`.
        agent: Agent whose objects are meant; empty for any.
        paths: Fields, with everything below them; empty for any field and whole objects.
        managers: Globs for field managers: all who may have caused a finding must match one;
            empty for anybody.
        expires: Last day on which it holds; None where its agent's manifest sets no end.
    """

    location: SourceLocation
    group: str = "*"
    kind: str = "*"
    name: str = "*"
    namespace: str = "*"
    agent: str = ""
    paths: tuple[Path, ...] = ()
    managers: tuple[str, ...] = ()
    reason: str = ""
    owner: str = ""
    expires: date | None = None

    def has_expired(self, today: date) -> bool:
        """Whether its last day has passed."""
        return self.expires is not None and self.expires < today

    def matches(self, finding: Finding) -> bool:
        """Whether a finding is what the rule expects."""
        ref = finding.ref
        pairs = (
            (ref.group, self.group),
            (ref.kind, self.kind),
            (ref.name, self.name),
            (ref.namespace, self.namespace),
        )
        if not all(fnmatchcase(text, glob) for text, glob in pairs):
            return False
        if self.agent and finding.agent != self.agent:
            return False
        return self._expects_path(finding.path) and self._expects_actors(finding)

    def _expects_path(self, path: Path) -> bool:
        return not self.paths or any(covers(one, path) for one in self.paths)

    def _expects_actors(self, finding: Finding) -> bool:
        if not self.managers:
            return True
        # Who is not known is not expected.
        return bool(finding.actors) and all(
            any(fnmatchcase(actor.manager, glob) for glob in self.managers)
            for actor in finding.actors
        )


def covers(expected: Path, path: Path) -> bool:
    """Whether a path of a rule means a path or what stands around it."""
    return 0 < len(expected) <= len(path) and all(
        _is_meant(one, other) for one, other in zip(expected, path, strict=False)
    )


def _is_meant(expected: Segment, segment: Segment) -> bool:
    if expected == ANY_ITEM and not isinstance(segment, str):
        return True
    if isinstance(expected, ItemKey) and isinstance(segment, ItemKey):
        have = {key: str(value) for key, value in segment.pairs}
        return all(have.get(key) == str(value) for key, value in expected.pairs)
    return expected == segment


@dataclass(frozen=True)
class IgnoreRules:
    """All rules of a scan, and the day by which they are judged."""

    rules: Sequence[IgnoreRule]
    today: date

    def rule_for(self, finding: Finding) -> IgnoreRule | None:
        """The first rule in force that expects a finding; None when it is reported."""
        return next((rule for rule in self._in_force if rule.matches(finding)), None)

    @property
    def _in_force(self) -> list[IgnoreRule]:
        return [rule for rule in self.rules if not rule.has_expired(self.today)]

    def applied_to(self, report: DriftReport, *, is_whole: bool = True) -> DriftReport:
        """The report without what is expected, which is counted; expired rules become findings.

        Law: each finding is either reported or counted by exactly one rule.

        Args:
            report: Of a scan.
            is_whole: It is about everything, so that expired rules belong into it.
        """
        if not self.rules:
            return report
        reported: list[Finding] = []
        matched: dict[IgnoreRule, list[Finding]] = {rule: [] for rule in self._in_force}
        for finding in report.findings:
            rule = self.rule_for(finding)
            (reported if rule is None else matched[rule]).append(finding)
        if is_whole:
            reported += [_expired(rule) for rule in self.rules if rule.has_expired(self.today)]
        reported.sort(key=lambda finding: finding.sort_key)
        ignored = tuple(
            IgnoredBy(rule.location, rule.reason, rule.owner, rule.expires, tuple(found))
            for rule, found in matched.items()
        )
        return replace(report, findings=tuple(reported), ignored=ignored)


def _expired(rule: IgnoreRule) -> Finding:
    return Finding(
        ref=ObjectRef("", _RULE_KIND, str(rule.location), _RULE_VERSION),
        agent=rule.agent,
        drift_class=DriftClass.CHANGED,
        path=("spec", "expires"),
        live=str(rule.expires),
        severity=Severity.MEDIUM,
    )
