"""What every file format writes: notices about objects, from a drift scan or from policy rules.

Texts in here are printable lines (`safe_text`) and raw otherwise: each writer escapes what its own
format gives a meaning to, and nothing else does.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from holdfast.drift.finding import NotChecked, Severity
from holdfast.errors import SourceLocation
from holdfast.kube.objects import ObjectRef
from holdfast.kube.text import counted
from holdfast.operations.policy.changes import ObjectChange
from holdfast.operations.policy.heat_map import HeatMap


@dataclass(frozen=True)
class Fact:
    """One labelled line about a notice, such as `by` and who did it.

    Attributes:
        is_value: The text is a value of the object, which a diff may show in its place.
    """

    label: str
    text: str
    is_value: bool = False


@dataclass(frozen=True)
class Notice:
    """One thing that somebody should know about one object.

    Attributes:
        rule: What was broken: a class of drift such as `added`, or the name of a policy rule.
        severity: How bad it is; `info` is a remark.
        agent: Agent that the object belongs to; empty where there is none.
        path: Field of the object; empty for the whole object.
        headline: One sentence without the object.
        facts: Everything else, line by line.
        diff: Lines beginning with `+`, `-` or a space, where two long texts differ.
        location: Where the field (else its agent) is declared; None when nobody declares it.
        fingerprint: Equal for the same rule, object and field in every run.
        is_advisory: Nothing is refused for it, however bad it is.
    """

    rule: str
    severity: Severity
    ref: ObjectRef
    headline: str
    fingerprint: str
    agent: str = ""
    path: str = ""
    facts: tuple[Fact, ...] = ()
    diff: tuple[str, ...] = ()
    location: SourceLocation | None = None
    is_advisory: bool = False

    @property
    def is_finding(self) -> bool:
        """Whether it is more than a remark."""
        return self.severity is not Severity.INFO

    @property
    def is_failure(self) -> bool:
        """Whether it fails the run that it is reported in."""
        return self.is_finding and not self.is_advisory

    @property
    def annotation_severity(self) -> Severity:
        """Severity as a change is to show it: nobody is stopped by what is only advised."""
        is_too_loud = self.is_advisory and self.severity.rank < Severity.MEDIUM.rank
        return Severity.MEDIUM if is_too_loud else self.severity

    @property
    def subject(self) -> str:
        """The object, and its field where there is one."""
        return f"{self.ref} {self.path}".rstrip()


@dataclass(frozen=True)
class Passed:
    """One object, and the rules that it passed.

    Attributes:
        rules: Their names.
    """

    ref: ObjectRef
    agent: str
    rules: tuple[str, ...]

    @property
    def words(self) -> str:
        """How many."""
        return f"{counted(len(self.rules), 'rule')} passed"


@dataclass(frozen=True)
class RuleText:
    """What stands behind the rule of a notice.

    Attributes:
        name: As notices name it.
        meaning: One sentence, lower case.
        remedy: What to do when it is broken.
        link: Where the documentation says more.
        severity: How bad it is to break it; None where that differs from notice to notice.
        reason: Why it matters, in sentences; may be empty.
        source: Absolute address of what the rule follows; may be empty.
    """

    name: str
    meaning: str
    remedy: str
    link: str
    severity: Severity | None = None
    reason: str = ""
    source: str = ""


@dataclass(frozen=True)
class NoticeReport:
    """A whole report.

    Attributes:
        title: Such as `Drift of stack prod`.
        identifier: Stable name of what was checked, such as `drift/prod`.
        summary: One line: how much, how bad, whether everything was checked.
        rules: Every rule that notices may name.
        not_checked: What could not be checked; with any, the report is incomplete.
        observed_at: RFC 3339 time of the scan; empty when it is not known.
        remarks: Further lines about the whole, such as which detectors ran.
        not_checked_link: Where the documentation says what to do about it.
        passed: Objects with the rules that they passed; empty for what has no rules to pass.
        changes: What a deployment would do; None where that was not asked.
        heat_map: Rules against agents; None for what has no rules.
    """

    title: str
    identifier: str
    summary: str
    notices: tuple[Notice, ...]
    rules: tuple[RuleText, ...]
    not_checked: tuple[NotChecked, ...] = ()
    observed_at: str = ""
    remarks: tuple[str, ...] = ()
    not_checked_link: str = ""
    passed: tuple[Passed, ...] = ()
    changes: tuple[ObjectChange, ...] | None = None
    heat_map: HeatMap | None = None

    @property
    def is_empty_comment(self) -> bool:
        """Whether a change has nothing to hear: it changes nothing, and nothing is refused."""
        is_asked = self.changes is not None
        return is_asked and not (self.changes or self.not_checked or self._has_failures)

    @property
    def _has_failures(self) -> bool:
        return any(each.is_failure for each in self.notices)

    @property
    def is_complete(self) -> bool:
        """Whether everything was checked."""
        return not self.not_checked

    @property
    def worst(self) -> Severity | None:
        """Severity of the worst notice; None without any that counts."""
        counted = [each.severity for each in self.notices if each.is_finding]
        return min(counted, key=lambda each: each.rank, default=None)


Key = TypeVar("Key", str, ObjectRef)


def grouped_by(
    notices: Sequence[Notice], key: Callable[[Notice], Key]
) -> Iterator[tuple[Key, list[Notice]]]:
    """Notices with an equal key together, in the order of the keys; their own order is kept."""
    for each, group in groupby(sorted(notices, key=key), key=key):
        yield each, list(group)
