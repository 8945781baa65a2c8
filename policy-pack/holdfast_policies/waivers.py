"""Waivers: rules that one object may break, granted by a person, until a day.

They are declared as PolicyException manifests and compiled into `waivers.yaml` of the pack, which
is JSON (and so YAML as well), because the pack reads nothing else. A waived violation stays
visible: it becomes advisory and says who granted it. An ended waiver grants nothing.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

from holdfast_policies.decode.unknown import UndeterminedError
from holdfast_policies.subject import Subject

SCHEMA_VERSION = "holdfast.dev/waivers/v1"
FILE = Path(__file__).parents[1] / "waivers.yaml"
"""The pack's own waivers, where it lies in a project."""

WAIVER_EXPIRED = "waiver-expired"
WAIVER_UNUSED = "waiver-unused"

Target = tuple[str, str, str]
"""Kind, namespace and name of an object."""


class WaiverFileError(ValueError):
    """The compiled waivers cannot be used as they stand."""


@dataclass(frozen=True, slots=True)
class Waiver:
    """One waiver.

    Attributes:
        name: Name of its manifest.
        rules: Rules that may be broken.
        kind: Kind of the one object that may break them.
        namespace: Its namespace.
        object_name: Its name.
        reason: Why it has to.
        owner: Team that answers for it.
        ticket: Where it was discussed.
        approver: Who granted it.
        expires: Last day on which it holds.
    """

    name: str
    rules: tuple[str, ...]
    kind: str
    namespace: str
    object_name: str
    reason: str
    owner: str
    ticket: str
    approver: str
    expires: date

    @property
    def target(self) -> Target:
        """The object that it is for."""
        return self.kind, self.namespace, self.object_name

    @property
    def words(self) -> str:
        """Who granted it, until when and why."""
        granted = f"until {self.expires} by {self.approver} for {self.owner}"
        return f"{granted} ({self.ticket}): {self.reason}"


@dataclass(frozen=True, slots=True)
class WaiverFault:
    """A waiver that grants nothing, told at preview and by `holdfast policy check` alike.

    Attributes:
        rule: What it is called, as if it were a rule's violation.
        is_refused: Whether an update is refused for it.
        description: What it is, in a sentence.
        required: What should be there.
        got: What is.
        remedy: What to do.
    """

    rule: str
    waiver: Waiver
    is_refused: bool
    description: str
    required: str
    got: str
    remedy: str

    @classmethod
    def ended(cls, waiver: Waiver) -> "WaiverFault":
        """Its last day has passed, and nobody has cleaned up."""
        return cls(
            WAIVER_EXPIRED,
            waiver,
            is_refused=True,
            description="A waiver has ended",
            required="a waiver that holds, or none",
            got=f"it ended on {waiver.expires}",
            remedy=f"{waiver.owner} removes or renews it; `holdfast validate --write-waivers`",
        )

    @classmethod
    def unused(cls, waiver: Waiver) -> "WaiverFault":
        """Nothing needs it any more."""
        return cls(
            WAIVER_UNUSED,
            waiver,
            is_refused=False,
            description="A waiver is not needed",
            required="a waiver that something needs",
            got=f"nothing breaks {', '.join(waiver.rules)}",
            remedy=f"{waiver.owner} removes it; `holdfast validate --write-waivers`",
        )


@dataclass(frozen=True, eq=False)
class Waivers:
    """All waivers, as they hold on one day.

    Attributes:
        entries: The waivers.
        today: The day to judge them by; rules know no clock.
    """

    entries: tuple[Waiver, ...] = ()
    today: date = date.min

    @cached_property
    def by_target(self) -> Mapping[Target, tuple[Waiver, ...]]:
        """Waivers of each object."""
        index: dict[Target, list[Waiver]] = {}
        for waiver in self.entries:
            index.setdefault(waiver.target, []).append(waiver)
        return {target: tuple(waivers) for target, waivers in index.items()}

    def of(self, subject: Subject, rule: str) -> Waiver | None:
        """The waiver for a rule on an object, ended or not; of several the one that lasts."""
        target = target_of(subject) if self.entries else None
        found = (
            [each for each in self.by_target.get(target, ()) if rule in each.rules]
            if target
            else []
        )
        return max(found, key=lambda waiver: waiver.expires, default=None)

    def has_ended(self, waiver: Waiver) -> bool:
        """Whether the last day of a waiver has passed."""
        return waiver.expires < self.today

    def faults(self, seen: Iterable[Target], used: Iterable[str]) -> list[WaiverFault]:
        """Waivers whose last day has passed, then those that hold and no violation needed.

        Args:
            seen: Every object that was judged; of others nothing is known.
            used: Names of the waivers that were needed.
        """
        judged, needed = set(seen), set(used)
        holding = [each for each in self.entries if not self.has_ended(each)]
        idle = [each for each in holding if each.target in judged and each.name not in needed]
        return [
            *(WaiverFault.ended(each) for each in self.entries if self.has_ended(each)),
            *(WaiverFault.unused(each) for each in idle),
        ]


NO_WAIVERS = Waivers()


def target_of(subject: Subject) -> Target | None:
    """Kind, namespace and name of an object; None while they are not known."""
    try:
        return subject.kind.name, subject.namespace, subject.name
    except UndeterminedError:
        return None


def compiled(waivers: Iterable[Waiver]) -> str:
    """The text of `waivers.yaml`; equal waivers give equal text."""
    entries = sorted((asdict(waiver) for waiver in waivers), key=lambda entry: str(entry["name"]))
    document = {"schemaVersion": SCHEMA_VERSION, "waivers": entries}
    return json.dumps(document, indent=2, default=str, ensure_ascii=False) + "\n"


def read_waivers(file: Path) -> tuple[Waiver, ...]:
    """Compiled waivers; none where there is no file.

    Raises:
        WaiverFileError: it is not what `holdfast validate --write-waivers` writes.
    """
    if not file.exists():
        return ()
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        return tuple(_waiver(entry) for entry in document["waivers"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"{file.name}: expected compiled waivers; run `holdfast validate --write-waivers`"
        raise WaiverFileError(message) from error


def _waiver(entry: Mapping[str, Any]) -> Waiver:
    given = {
        **entry,
        "rules": tuple(entry["rules"]),
        "expires": date.fromisoformat(entry["expires"]),
    }
    return Waiver(**given)
