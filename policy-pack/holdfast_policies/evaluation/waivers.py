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
from holdfast_policies.model.rule import Level
from holdfast_policies.model.subject import Subject

SCHEMA_VERSION = "holdfast.dev/waivers/v1"
FILE_NAME = "waivers.yaml"
"""Compiled waivers, in the folder of the pack."""

WAIVER_EXPIRED = "waiver-expired"
WAIVER_UNUSED = "waiver-unused"
WAIVER_WITHOUT_TARGET = "waiver-without-target"

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
        stacks: Only on these stacks; empty for every one.
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
    stacks: tuple[str, ...] = ()

    def is_for(self, stack: str) -> bool:
        """Whether it holds on a stack; without one, nothing is left out."""
        return not (stack and self.stacks) or stack.rpartition("/")[2] in self.stacks

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
    def without_target(cls, waiver: Waiver, *, is_refused: bool) -> "WaiverFault":
        """What it names is not there: mistyped, or removed."""
        return cls(
            WAIVER_WITHOUT_TARGET,
            waiver,
            is_refused=is_refused,
            description="A waiver names an object that does not exist",
            required="the kind, namespace and name of an object of this stack",
            got=f"no {waiver.kind} {waiver.namespace}/{waiver.object_name}",
            remedy=f"{waiver.owner} corrects or removes it, or names its stacks",
        )

    @classmethod
    def unused(cls, waiver: Waiver, *, is_refused: bool) -> "WaiverFault":
        """Nothing needs it any more."""
        return cls(
            WAIVER_UNUSED,
            waiver,
            is_refused=is_refused,
            description="A waiver is not needed",
            required="a waiver that something needs",
            got=f"nothing breaks {', '.join(waiver.rules)}",
            remedy=f"{waiver.owner} removes it, or names its stacks",
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

    def on(self, stack: str) -> "Waivers":
        """Those that hold on a stack."""
        return Waivers(tuple(each for each in self.entries if each.is_for(stack)), self.today)

    def faults(
        self,
        seen: Iterable[Target],
        used: Iterable[str],
        levels: Mapping[str, Level],
        existing: Iterable[Target] | None = None,
    ) -> list[WaiverFault]:
        """Waivers whose last day has passed, that name no object, or that no violation needed.

        One that grants nothing is refused where a rule of it is mandatory, since it would grant
        something as soon as an object of this name is there; where all of its rules are disabled
        it is left alone.

        Args:
            seen: Every object that was judged; of others it is not known what they violate.
            used: Names of the waivers that were needed.
            levels: Level in force of each rule.
            existing: Every object that there is; None where not all of them are known.
        """
        judged, needed = set(seen), set(used)
        known = None if existing is None else judged | set(existing)
        found = [WaiverFault.ended(each) for each in self.entries if self.has_ended(each)]
        for waiver in self.entries:
            asked = [level for rule in waiver.rules if (level := levels.get(rule))]
            if self.has_ended(waiver) or set(asked) <= {Level.DISABLED}:
                continue
            is_refused = any(level.refuses for level in asked)
            if known is not None and waiver.target not in known:
                found.append(WaiverFault.without_target(waiver, is_refused=is_refused))
            elif waiver.target in judged and waiver.name not in needed:
                found.append(WaiverFault.unused(waiver, is_refused=is_refused))
        return found


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
        "stacks": tuple(entry.get("stacks", ())),
        "expires": date.fromisoformat(entry["expires"]),
    }
    return Waiver(**given)
