"""Several stacks side by side: how each is, and what one source did on several of them. Pure.

Two findings on two stacks are one change when they are the same in kind, field and value, by the
same source, and follow each other within a quarter of an hour.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from holdfast.drift.cause.causes import ChangeSource, source_of
from holdfast.drift.finding import HEALTH_NOT_CHECKED, AgentStatus, DriftReport, Finding
from holdfast.kube.objects import canonical_json
from holdfast.kube.scalars import format_utc
from holdfast.kube.workload_status import HealthVerdict

SAME_TIME: Final = timedelta(minutes=15)
"""Long enough to go through the stacks by source, short enough not to join two days of work."""


@dataclass(frozen=True)
class StackDrift:
    """One stack among several.

    Attributes:
        report: Of its scan; when nothing could be read, of nothing.
        health: Agent to how its workloads are, as far as they could be asked.
    """

    stack: str
    report: DriftReport
    health: Mapping[str, HealthVerdict] = field(default_factory=dict)

    @property
    def agents(self) -> tuple[AgentStatus, ...]:
        """Every declared agent.

        Law: what could not be checked is neither in sync nor healthy.
        """
        return tuple(
            replace(each, health=self.health.get(each.name, HEALTH_NOT_CHECKED))
            for each in self.report.agents
        )


@dataclass(frozen=True)
class SharedCause:
    """One change by one source on several stacks.

    Attributes:
        findings: Each with its stack, in the order in which they were made.
        first: When the first of them was made; RFC 3339.
    """

    source: ChangeSource
    findings: tuple[tuple[str, Finding], ...]
    first: str

    @property
    def stacks(self) -> tuple[str, ...]:
        """Where, by name."""
        return tuple(sorted({stack for stack, _ in self.findings}))

    @property
    def summary(self) -> str:
        """In words."""
        objects = len({(stack, finding.ref) for stack, finding in self.findings})
        return f"{self.source.words(objects)} on {len(self.stacks)} stacks"


def shared_causes(stacks: Iterable[StackDrift]) -> tuple[SharedCause, ...]:
    """What explains findings on more than one stack, the largest first.

    A finding without a known actor and time is no part of one.
    """
    groups: dict[tuple[ChangeSource, bytes], list[tuple[datetime, str, Finding]]] = {}
    for each in stacks:
        for finding in each.report.drift:
            source, made = source_of(finding), _time_of(finding)
            if source is not None and made is not None:
                key = (source, canonical_json(finding.live))
                groups.setdefault(key, []).append((made, each.stack, finding))
    causes = [
        cause
        for (source, _), found in groups.items()
        for one in _at_one_time(found)
        for cause in _shared(source, one)
    ]
    return tuple(sorted(causes, key=lambda cause: (-len(cause.findings), cause.summary)))


def _shared(
    source: ChangeSource, found: list[tuple[datetime, str, Finding]]
) -> Iterator[SharedCause]:
    if len({stack for _, stack, _ in found}) > 1:
        made, _, _ = found[0]
        first = format_utc(made)
        yield SharedCause(source, tuple((stack, finding) for _, stack, finding in found), first)


def _at_one_time(
    found: list[tuple[datetime, str, Finding]],
) -> Iterator[list[tuple[datetime, str, Finding]]]:
    """Runs of findings of which each follows the one before soon enough."""
    run: list[tuple[datetime, str, Finding]] = []
    for one in sorted(found, key=lambda each: (each[0], each[1], each[2].sort_key)):
        if run and one[0] - run[-1][0] > SAME_TIME:
            yield run
            run = []
        run.append(one)
    if run:
        yield run


def _time_of(finding: Finding) -> datetime | None:
    """When the source behind a finding wrote; None when that is not known."""
    text = finding.actors[0].time if finding.actors else ""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
