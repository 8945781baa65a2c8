"""Which model stands behind a name: the provider's own answer against the expected one.

An alias such as `claude-sonnet-4-6` is moved by its provider; what the agent then runs on is
another program. Sources: Anthropic, Models API, "Get a Model" (`id` of an alias is the model it
stands for); servers of OpenAI's API such as vLLM give `root`, the weights behind a served name.
"""

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from holdfast.drift.finding import Severity
from holdfast.drift.probes.outcome import Outcome, Subject, as_declared, differs, unknown

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
        """Address of the model in the Models API; empty when nobody knows where that is."""
        base = self.base_url or DEFAULT_ADDRESSES.get(self.provider.lower(), "")
        if not base:
            return ""
        base = base.rstrip("/")
        versioned = base if base.endswith("/v1") else f"{base}/v1"
        return f"{versioned}/models/{quote(self.name, safe='')}"


def judge_model(subject: Subject, model: ExpectedModel, answer: object) -> Outcome:
    """Compare an answer of the Models API with what was expected. Pure."""
    fields = answer if isinstance(answer, dict) else {}
    resolved = fields.get("root") or fields.get("id")
    if not isinstance(resolved, str):
        return unknown(subject, f"model {model.name}", "the answer names neither root nor id")
    if resolved == model.expected:
        return as_declared()
    return differs(subject, ("model", "resolved"), model.expected, resolved, Severity.HIGH)
