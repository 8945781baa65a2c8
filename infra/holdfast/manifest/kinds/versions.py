"""Versions of the manifests' schema: which are read, until when, and how an older one is written.

A version is data: the fields that have another place in the next one. Reading, errors in a file's
own words (`conversion`) and rewriting a file (`rewriting`) all follow from that.

The rule: a version that another one replaced is read for at least `SHORTEST_NOTICE` more. Until its
last day a file of it is told; from then on `holdfast validate` refuses it. What is deployed never
breaks by a date alone: loading knows no clock, and a version ends for good when a release takes its
entry out of `OLDER_VERSIONS`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from holdfast.manifest.agent.agent import AGENT_KIND, API_VERSION
from holdfast.manifest.kinds.kinds import AGENT_TEAM_KIND, MCP_SERVER_KIND

SHORTEST_NOTICE: Final = timedelta(days=180)

FieldPath = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """A field that has another name or place in the next version; keys only, no items of lists."""

    old: FieldPath
    new: FieldPath


@dataclass(frozen=True, slots=True)
class OlderVersion:
    """A version that is read, but no longer written.

    Attributes:
        api_version: What stands in `apiVersion`.
        next_version: The version that its moves lead to: the newest, or another older one.
        deprecated: Day on which the next version replaced it.
        last_day: Last day on which it is valid.
        moves: Kind to its fields that moved; a kind without any is missing.
    """

    api_version: str
    next_version: str
    deprecated: date
    last_day: date
    moves: Mapping[str, tuple[Move, ...]]


def _with_team(moves: tuple[Move, ...]) -> dict[str, tuple[Move, ...]]:
    """The moves of an agent's fields, in what a team hands down as well."""
    below = (tuple(("spec", "defaults", *path[1:]) for path in (m.old, m.new)) for m in moves)
    return {AGENT_KIND: moves, AGENT_TEAM_KIND: tuple(Move(old, new) for old, new in below)}


_DRAFTS: Final = OlderVersion(
    api_version="holdfast.dev/v1alpha0",
    next_version=API_VERSION,
    deprecated=date(2026, 11, 22),
    last_day=date(2027, 5, 31),
    moves={
        **_with_team(
            (
                Move(("spec", "replicas"), ("spec", "scaling", "replicas")),
                Move(("spec", "systemMessage"), ("spec", "prompt", "systemMessage")),
            )
        ),
        MCP_SERVER_KIND: (Move(("spec", "endpoint"), ("spec", "url")),),
    },
)
"""The form of the drafts, before the first published version: three fields had other places."""

OLDER_VERSIONS: Final[Mapping[str, OlderVersion]] = {_DRAFTS.api_version: _DRAFTS}
"""By the word in `apiVersion`."""

SUPPORTED: Final = (API_VERSION, *OLDER_VERSIONS)
"""Every version that is read, the newest first."""
