"""Fields that name an entry of `secrets[]`: the entry must exist, and give one value."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic_core import PydanticCustomError

from holdfast.manifest.text.faults import fault

if TYPE_CHECKING:
    from holdfast.manifest.agent.agent import AgentSpec

EntryUse = tuple[str, tuple[str | int, ...]]
"""Name of an entry, and the path below `spec` that names it."""


def faults_of_secret_entries(spec: "AgentSpec") -> Iterator[PydanticCustomError]:
    """Names of entries that do not exist, or that stand for a whole folder of values."""
    entries = {secret.name: secret for secret in spec.secrets}
    for name, path in uses_of_entries(spec):
        entry = entries.get(name)
        if entry is None:
            known = ", ".join(sorted(entries)) or "none"
            yield fault(
                "expected the name of an entry of secrets[]",
                found=f"{name!r} (there: {known})",
                at=path,
            )
        elif entry.env is None and entry.key is None:
            yield fault(
                "expected an entry with one value",
                found=f"{name!r}, which has no key",
                remedy="name the key in secrets[]",
                at=path,
            )


def uses_of_entries(spec: "AgentSpec") -> Iterator[EntryUse]:
    """Every use of an entry of `secrets[]` by the model and the tools."""
    models = [] if spec.model is None else [spec.model, *spec.model.fallbacks]
    for index, model in enumerate(models, -1):
        place: tuple[str | int, ...] = ("model",) if index < 0 else ("model", "fallbacks", index)
        if model.api_key is not None:
            yield model.api_key, (*place, "apiKey")
    for index, tool in enumerate(spec.tools):
        for number, source in enumerate(tool.mcp.headers_from if tool.mcp else ()):
            yield source.secret, ("tools", index, "mcp", "headersFrom", number, "secret")
