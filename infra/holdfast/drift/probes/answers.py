"""What a card, a tool server, a Models API or a command answers, against what was reviewed. Pure.

An alias such as `claude-sonnet-4-6` is moved by its provider: the agent then runs on another model.
Commands are for what Holdfast has no kinds for: grants of a database, the policy of a bucket.

Sources: Anthropic, Models API, "Get a Model" (`id` of an alias is the model it stands for); servers
of OpenAI's API such as vLLM give `root`, the weights behind a served name.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from holdfast.drift.finding import Severity
from holdfast.drift.probes.outcome import ProbeOutcome, Subject, as_declared, differs, unknown
from holdfast.kube.objects import canonical_json
from holdfast.kube.paths import ABSENT, ItemKey, Path
from holdfast.manifest.fleet.tool_contracts import ServerContract, compare_contracts

CARD_PATH: Final = "/.well-known/agent-card.json"
CARD_KEY: Final = "agent-card.json"
"""Key of the agent's ConfigMap that holds the generated card."""

_UNSIGNED: Final = frozenset({"signatures"})
"""A signature is made at serving time and is no part of what the card says."""


def judge_card(
    subject: Subject, declared: Mapping[str, Any], served: Mapping[str, Any]
) -> ProbeOutcome:
    """One finding a field that differs. Pure."""
    outcomes = [
        differs(subject, ("card", *path), _shown(wanted), _shown(found), Severity.MEDIUM)
        for path, wanted, found in _differences(declared, served, ())
        if path[:1] and path[0] not in _UNSIGNED
    ]
    return ProbeOutcome.together(outcomes) if outcomes else as_declared()


def _shown(value: Any) -> Any:  # noqa: ANN401  (any JSON value)
    return None if value is ABSENT else value


def _differences(
    wanted: Any,  # noqa: ANN401  (any JSON value)
    found: Any,  # noqa: ANN401  (any JSON value)
    path: Path,
) -> Iterator[tuple[Path, Any, Any]]:
    """Smallest parts that differ; skills are identified by their id, other lists are whole."""
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        for key in sorted(wanted.keys() | found.keys()):
            yield from _differences(
                wanted.get(key, ABSENT), found.get(key, ABSENT), (*path, str(key))
            )
        return
    before, after = _by_id(wanted), _by_id(found)
    if before is not None and after is not None:
        for key in sorted(before.keys() | after.keys()):
            yield from _differences(
                before.get(key, ABSENT), after.get(key, ABSENT), (*path, ItemKey((("id", key),)))
            )
        return
    if wanted is ABSENT or found is ABSENT or canonical_json(wanted) != canonical_json(found):
        yield path, wanted, found


def _by_id(value: object) -> dict[str, Any] | None:
    """Items of a list by their ids, where each has one of its own."""
    if not isinstance(value, list) or not value:
        return None
    found = {
        str(item["id"]): item for item in value if isinstance(item, Mapping) and item.get("id")
    }
    return found if len(found) == len(value) else None


_WHOLE_TOOL = frozenset({"added", "removed"})


def judge_tools(
    subject: Subject,
    server: str,
    locked: ServerContract | None,
    live: ServerContract | str,
) -> ProbeOutcome:
    """One finding a tool, text, schema or annotation that changed.

    Args:
        subject: An agent that may call the server.
        server: Its key in the lock.
        locked: What was reviewed; None when nothing was.
        live: What the server says now, or why it says nothing.
    """
    what = f"tools of {server}"
    if isinstance(live, str):
        return unknown(subject, what, live)
    if locked is None:
        return unknown(subject, what, "not reviewed yet: run `holdfast mcp lock`")
    outcomes = []
    for change in compare_contracts(locked, live):
        aspect = () if change.aspect in _WHOLE_TOOL else (change.aspect,)
        tool = () if change.aspect == "instructions" else (change.tool,)
        path = ("tools", server, *tool, *aspect)
        outcomes.append(differs(subject, path, change.locked, change.live, Severity.HIGH))
    return ProbeOutcome.together(outcomes) if outcomes else as_declared()


DEFAULT_ADDRESSES: Final = {
    "anthropic": "https://api.anthropic.com/v1",
    "openai": "https://api.openai.com/v1",
}
"""Where the Models API of a provider is when the manifest names no `baseUrl`."""


@dataclass(frozen=True)
class ExpectedModel:
    """A model by name, and what the name should stand for.

    Attributes:
        provider: As declared, such as `Anthropic`.
        name: The provider's name of the model.
        expected: What `expectResolved` says.
        base_url: As declared; empty for the provider's own.
    """

    provider: str
    name: str
    expected: str
    base_url: str = ""

    @property
    def address(self) -> str:
        """Address of the model in the Models API; empty where that is not known."""
        base = self.base_url or DEFAULT_ADDRESSES.get(self.provider.lower(), "")
        if not base:
            return ""
        base = base.rstrip("/")
        versioned = base if base.endswith("/v1") else f"{base}/v1"
        return f"{versioned}/models/{quote(self.name, safe='')}"


def judge_model(subject: Subject, model: ExpectedModel, answer: object) -> ProbeOutcome:
    """Compare an answer of the Models API with what was expected. Pure."""
    fields = answer if isinstance(answer, dict) else {}
    resolved = fields.get("root") or fields.get("id")
    if not isinstance(resolved, str):
        return unknown(subject, f"model {model.name}", "the answer names neither root nor id")
    if resolved == model.expected:
        return as_declared()
    return differs(subject, ("model", "resolved"), model.expected, resolved, Severity.HIGH)


@dataclass(frozen=True)
class CommandCheck:
    """One command, and what it should print.

    Attributes:
        name: Name of the probe.
        command: Program and arguments.
        digest: `sha256:<64 hex digits>` over its standard output.
        reviewed: The output of which that is the digest; None when only the digest is kept.
        timeout_seconds: Longest run.
        severity: Of a finding.
    """

    name: str
    command: tuple[str, ...]
    digest: str
    reviewed: str | None = None
    timeout_seconds: float = 30.0
    severity: Severity = Severity.HIGH


def digest_of(output: bytes) -> str:
    """`sha256:<64 hex digits>`, as `COMMAND | sha256sum` prints them."""
    return f"sha256:{hashlib.sha256(output).hexdigest()}"


def judge_output(subject: Subject, probe: CommandCheck, output: bytes) -> ProbeOutcome:
    """Compare an output with the reviewed one. Pure.

    With the reviewed text the finding shows both texts, else both digests.
    """
    found = digest_of(output)
    if found == probe.digest:
        return as_declared()
    path = (ItemKey((("name", probe.name),)),)
    if probe.reviewed is None:
        return differs(subject, (*path, "digest"), probe.digest, found, probe.severity)
    text = output.decode("utf-8", "replace")
    return differs(subject, (*path, "output"), probe.reviewed, text, probe.severity)
