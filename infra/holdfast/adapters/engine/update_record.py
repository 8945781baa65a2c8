"""One update of a stack in its history: which commit, whose, by whom, judged how.

The facts go through the engine's own history, as trailers of the update's message: access to the
backend is access to the history, and an update by a plain `pulumi up` stands beside ours.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import msgspec

from holdfast.adapters.engine.state.history import Change
from holdfast.kube.scalars import format_utc

_TRAILER = re.compile(r"^Holdfast-([A-Za-z-]+): (.*)$", re.MULTILINE)
_IN_MESSAGE: Final = (
    "identifier",
    "action",
    "commit",
    "dirty_reason",
    "author",
    "author_time",
    "pull_request",
    "operator",
    "policy",
    "reason",
)
_KEPT: Final = "Holdfast-Kept: "
_IN_ENVIRONMENT: Final = ("ci.pr.number", "ci.pr.headSHA", "github.pr.number")


DONE: Final = "done"
NOT_DONE: Final = "not done"


class UpdateRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """One update, or one attempt that was refused before the engine began.

    Attributes:
        action: `up`, `rollback`, `promote`, `automatic-rollback`, `reconcile`, or `pulumi` for a
            run of Pulumi itself; or a day-two action such as `restart`.
        outcome: `succeeded`, `failed`, or `refused` when nothing was begun; `done` and `not
            done` for an action that is no update.
        commit: Full name; empty when the files were in no repository.
        is_dirty: The files were not those of the commit.
        dirty_reason: Why that was allowed.
        author: Of the commit.
        author_time: Of the commit, RFC 3339.
        pull_request: That brought the commit; empty when none is known.
        operator: Who, or what, ran the update.
        policy: The pack's verdict: `passed`, `passed, N advisory`, `refused: RULES`, `not judged`,
            `not checked: WHY`.
        reason: Why it was done, as the caller says.
        detail: Why it failed or was refused.
        proof: What a scan after it has compared; empty without one.
        started_at: RFC 3339.
        seconds: How long it took; 0 when not known.
        changes: Operation to number of resources.
        agents: Agents of which an object was changed; None when that is not known.
        confirmed: Uids of objects that a revert has created again.
        kept: Objects that left the stack and stay in the cluster: kind, name, version, uid.
    """

    identifier: str = ""
    action: str
    stack: str
    outcome: str
    commit: str = ""
    is_dirty: bool = False
    dirty_reason: str = ""
    author: str = ""
    author_time: str = ""
    pull_request: str = ""
    operator: str = ""
    policy: str = ""
    reason: str = ""
    detail: str = ""
    proof: str = ""
    started_at: str = ""
    seconds: float = 0.0
    changes: Mapping[str, int] = {}
    agents: tuple[str, ...] | None = None
    confirmed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()

    @property
    def is_action(self) -> bool:
        """Whether it is a named action that is no update."""
        return self.outcome in (DONE, NOT_DONE)

    @property
    def is_update(self) -> bool:
        """Whether the engine has begun something."""
        return self.outcome in ("succeeded", "failed")

    @property
    def has_succeeded(self) -> bool:
        """Whether the cluster was brought to the commit."""
        return self.outcome == "succeeded"


def message_of(record: UpdateRecord) -> str:
    """The message under which the engine records an update."""
    title = f"holdfast {record.action}: {record.commit[:12] or 'no commit'}"
    lines = [f"Holdfast-{_trailer_name(name)}: {_value(record, name)}" for name in _IN_MESSAGE]
    if record.kept:
        lines.append(_KEPT + "; ".join(record.kept))
    return "\n".join([title, "", *(line for line in lines if not line.endswith(": "))])


def kept_of(change: Change) -> tuple[str, ...]:
    """What an update has left in the cluster, as its message says."""
    lines = (line for line in change.message.splitlines() if line.startswith(_KEPT))
    return tuple(each for line in lines for each in line.removeprefix(_KEPT).split("; "))


def record_of(change: Change, stack: str) -> UpdateRecord | None:
    """An update as the engine's history has it; None for what is no update, such as a refresh."""
    if change.kind not in ("update", "destroy"):
        return None
    trailers = {_field_name(name): value for name, value in _TRAILER.findall(change.message)}
    facts: dict[str, str] = {name: trailers[name] for name in _IN_MESSAGE if name in trailers}
    around = change.environment
    person, address = around.get("git.author", ""), around.get("git.author.email", "")
    numbers = (around[name] for name in _IN_ENVIRONMENT if name in around)
    known: dict[str, str] = {
        "action": "pulumi" if change.kind == "update" else "pulumi destroy",
        "commit": around.get("git.head", ""),
        "author": f"{person} <{address}>" if person else "",
        "pull_request": next(numbers, ""),
        "reason": "" if trailers else change.message,
        "policy": "" if trailers else "not judged by Holdfast",
    }
    is_dirty = bool(facts.get("dirty_reason")) if trailers else around.get("git.dirty") == "true"
    record = UpdateRecord(
        action="",
        stack=stack,
        outcome="succeeded" if change.succeeded else "failed",
        is_dirty=is_dirty,
        started_at=_rfc3339(change.start_time),
        seconds=float(max(0, change.end_time - change.start_time)),
        changes=change.resource_changes or {},
        kept=kept_of(change),
    )
    return msgspec.structs.replace(record, **(known | facts))


def identifier_of(change: Change) -> str:
    """What joins our records of an update with the engine's; empty for a plain `pulumi up`."""
    trailers: dict[str, str] = dict(_TRAILER.findall(change.message))
    return trailers.get("Identifier", "")


def _value(record: UpdateRecord, name: str) -> str:
    return " ".join(str(getattr(record, name)).split())


def _trailer_name(field: str) -> str:
    return "-".join(part.capitalize() for part in field.split("_"))


def _field_name(trailer: str) -> str:
    return trailer.lower().replace("-", "_")


def _rfc3339(seconds: int) -> str:
    return format_utc(datetime.fromtimestamp(seconds, UTC))
