"""The model an agent thinks with: the way to it, its prompt, its budget and its guardrails."""

from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import Field

from holdfast.manifest.agent.container import KeyReference
from holdfast.manifest.text.faults import branch, chosen_by
from holdfast.manifest.types.conditions import Given, any_given, is_
from holdfast.manifest.types.manifest_model import Items, ManifestModel
from holdfast.manifest.types.names import FileName, LabelName, LabelValue, ObjectName
from holdfast.manifest.types.references import EntryOf, Reaches, RefersTo
from holdfast.manifest.types.rules import Computed, Found, OneOf, Rule, Ruled, finds
from holdfast.manifest.types.values import Duration, Text, Url, duration_milliseconds

DIRECT: Final = "direct"
"""In gatewayRef: past the stack's gateway."""


class ModelTls(Ruled):
    """How the model's certificate is judged; by default like any public one."""

    RULES = (
        Rule(
            "tls-one-way",
            is_("insecure", False).equals(Given("ca_secret")),
            "expected either caSecret or insecure: true",
            remedy="without tls, certificates are judged like any public one",
        ),
        Rule(
            "tls-key-of-secret",
            is_("ca_key", "ca.crt") | Given("ca_secret"),
            "caKey needs caSecret",
            at="ca_key",
            remedy="add caSecret, or remove caKey",
        ),
    )

    ca_secret: ObjectName | None = None
    """Secret in the agent's namespace that holds the certificate of a private authority."""
    ca_key: FileName = "ca.crt"
    """Key in that Secret; default ca.crt."""
    insecure: bool = False
    """Accept any certificate: an attacker can read and change all traffic. Default false."""


class ObjectReference(ManifestModel):
    """A reference to another declared object, in the same namespace unless one is given."""

    namespace: LabelName | None = None
    """Namespace of the object; default the referrer's."""
    name: LabelName
    """Name of the object."""


def _reference_shape(value: object) -> str | None:
    if isinstance(value, str):
        return "name"
    return "reference" if isinstance(value, dict | ObjectReference) else None


Reference = Annotated[
    Annotated[LabelName, branch("name")] | Annotated[ObjectReference, branch("reference")],
    chosen_by(_reference_shape, "expected a name or {namespace, name}"),
]
"""A bare name, or `{namespace, name}`."""


def as_reference(reference: "str | ObjectReference", namespace: str) -> tuple[str, str]:
    """Namespace and name of a reference that stands in a manifest of `namespace`."""
    if isinstance(reference, str):
        return namespace, reference
    return reference.namespace or namespace, reference.name


class ModelParameters(ManifestModel):
    """Sampling parameters; what is absent is the provider's default."""

    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """Randomness, 0–2."""
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    """Nucleus sampling, 0–1."""
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    """Longest answer, in tokens."""
    seed: int | None = None
    """Seed, where the provider supports one."""
    stop: Annotated[Items[Text], Field(min_length=1)] | None = None
    """Texts at which the answer ends."""
    reasoning_effort: Literal["low", "medium", "high"] | None = None
    """How hard the model thinks."""


class ModelChoice(Ruled):
    """One model: a ModelConfig by name, or provider and name."""

    RULES = (
        Rule(
            "model-by-ref-or-name",
            (Given("ref") & ~any_given("provider", "name"))
            | (~Given("ref") & Given("provider") & Given("name")),
            "expected either ref, or provider and name",
            remedy="write {ref}, or {provider, name}",
        ),
    )

    ref: Annotated[Reference, RefersTo("ModelConfig", "model")] | None = None
    """Name of a ModelConfig; excludes provider and name."""
    provider: Text | None = None
    """Provider, such as Anthropic."""
    name: Text | None = None
    """The provider's name of the model."""


class ModelAccess(ModelChoice):
    """A model, its parameters and the way to it."""

    RULES = (
        Rule(
            "model-one-address",
            Given("base_url").needs(~Given("gateway_ref") | is_("gateway_ref", DIRECT)),
            "gatewayRef excludes baseUrl",
            at="gateway_ref",
            remedy="remove baseUrl or gatewayRef",
        ),
    )

    parameters: ModelParameters = ModelParameters.model_construct()
    """Sampling parameters."""
    base_url: Annotated[Url, Reaches()] | None = None
    """Address of the model; its host joins the agent's egress. Default the gateway's, else the
    provider's."""
    api_key: Annotated[LabelName, EntryOf("value")] | None = None
    """Name of the entry in secrets[] that holds the key."""
    tls: ModelTls | None = None
    """How its certificate is judged; default like any public one."""
    gateway_ref: LabelName | None = None
    """Model gateway of the stack (holdfast:models) that stands before it; default the stack's own,
    `direct` for none. Excludes baseUrl."""


class Model(ModelAccess):
    """The model of an agent, and those that stand in for it."""

    fallbacks: Items[ModelAccess] = ()
    """Models tried in this order when the first fails."""
    timeout: Duration = "60s"
    """Longest wait for an answer; default 60s."""
    expect_resolved: Text | None = None
    """Model that the provider is to answer with, where name is an alias; compared by drift."""


class PromptSource(Ruled):
    """Where the system message stands: a key of a ConfigMap, or a text file of the repository."""

    RULES = (
        Rule(
            "prompt-one-source",
            (Given("file") & ~any_given("config_map", "key"))
            | (~Given("file") & Given("config_map") & Given("key")),
            "expected either file, or configMap and key",
            remedy="write {file}, or {configMap, key}",
        ),
    )

    config_map: ObjectName | None = None
    """ConfigMap in the agent's namespace."""
    key: FileName | None = None
    """Key of that ConfigMap."""
    file: Text | None = None
    """Text file, relative to the manifest; must lie inside the project."""


class Prompt(Ruled):
    """The system message."""

    RULES = (OneOf(("system_message", "system_message_from")),)

    system_message: Text | None = None
    """The text itself; taken literally, nothing in it is expanded."""
    system_message_from: PromptSource | None = None
    """Where the text stands."""
    template_sources: Items[ObjectName] = ()
    """ConfigMaps in the agent's namespace with parts that the message includes; each is mounted
    as a folder below /etc/holdfast/prompt-templates."""


class ModelConfigSpec(ManifestModel):
    """A model that several agents share through model.ref."""

    provider: Text
    """Provider, such as Anthropic."""
    name: Text
    """The provider's name of the model."""
    base_url: Url | None = None
    """Address; its host joins the egress of every consumer. Default the provider's."""
    api_key_secret_ref: KeyReference | None = None
    """Secret and key in the consumer's namespace; mounted as a file, never an env variable."""
    parameters: ModelParameters = ModelParameters.model_construct()
    """Sampling parameters; an agent's own win one by one."""
    tls: ModelTls | None = None
    """How its certificate is judged; the Secret is one of the consumer's namespace."""
    expect_resolved: Text | None = None
    """Model that the provider is to answer with, where name is an alias; compared by drift."""
    data_class: LabelValue | None = None
    """Most sensitive class of data that it may receive, such as internal; listed in agent.json."""
    allowed_namespaces: Items[LabelName] = ()
    """Other namespaces whose agents may refer to it."""


class Budget(Ruled):
    """Limits that the agent's runtime enforces; Kubernetes also ends a Job at its timeout."""

    RULES = (
        Rule(
            "budget-period-has-cost",
            Given("period").needs(Given("max_cost_usd")),
            "period needs maxCostUSD",
            remedy="say how much",
            at="period",
        ),
        Rule(
            "budget-times-in-seconds",
            Computed(why_not="CEL reads no durations in days", fields=("period", "timeout")),
            "expected a second or more",
            remedy='write "1s" or more',
        ),
    )

    max_tokens_per_run: Annotated[int, Field(ge=1)] | None = None
    """Tokens that one run may use, input and output together."""
    max_cost_usd: Annotated[float, Field(gt=0)] | None = Field(default=None, alias="maxCostUSD")
    """US dollars that may be spent in a period; without one, in a run."""
    period: Duration | None = None
    """Time after which maxCostUSD starts again from zero, such as 1d."""
    max_steps: Annotated[int, Field(ge=1, le=100_000)] = 20
    """Turns of one run: a model's answer and the tools it calls; default 20."""
    timeout: Duration = "10m"
    """Longest run; default 10m. A run of a Job is ended by Kubernetes."""
    on_exceed: Literal["stop", "pause", "warn"] = "stop"
    """What the runtime does at a limit: end the run, wait for a person, or only say so; default
    stop."""


class Guardrail(ManifestModel):
    """A policy of the model gateway that judges requests or answers."""

    ref: LabelName
    """Name of the policy, as the gateway knows it."""
    mode: Literal["preCall", "postCall"]
    """preCall: judges what is sent to the model; postCall: what it answers."""


@finds("budget-times-in-seconds")
def _times_below_a_second(budget: Budget) -> Iterator[Found]:
    for field, text in (("period", budget.period), ("timeout", budget.timeout)):
        if text is not None and duration_milliseconds(text) < 1000:  # noqa: PLR2004 - a second
            yield Found((field,), repr(text))
