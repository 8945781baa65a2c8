"""The model an agent thinks with: the way to it, its prompt, its budget and its guardrails."""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from holdfast.manifest.agent.runtime import KeyReference
from holdfast.manifest.text.faults import branch, chosen_by, fault
from holdfast.manifest.types.choices import Choosing, OneOf
from holdfast.manifest.types.references import EntryOf, Reaches, RefersTo
from holdfast.manifest.types.values import (
    Duration,
    FileName,
    Items,
    LabelName,
    LabelValue,
    ManifestModel,
    ObjectName,
    Text,
    Url,
    duration_milliseconds,
)

DIRECT: Final = "direct"
"""In gatewayRef: past the stack's gateway."""


class ModelTls(ManifestModel):
    """How the model's certificate is judged; by default like any public one."""

    ca_secret: ObjectName | None = None
    """Secret in the agent's namespace that holds the certificate of a private authority."""
    ca_key: FileName = "ca.crt"
    """Key in that Secret; default ca.crt."""
    insecure: bool = False
    """Accept any certificate; whoever stands between reads and changes all. Default false."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.insecure == (self.ca_secret is not None):
            raise fault(
                "expected either caSecret or insecure: true",
                remedy="without tls, certificates are judged like any public one",
            )
        if self.ca_secret is None and self.ca_key != "ca.crt":
            raise fault("caKey needs caSecret", at=("caKey",))
        return self


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


class ModelChoice(ManifestModel):
    """One model: a ModelConfig by name, or provider and name."""

    ref: Annotated[Reference, RefersTo("ModelConfig", "model")] | None = None
    """Name of a ModelConfig; excludes provider and name."""
    provider: Text | None = None
    """Provider, such as Anthropic."""
    name: Text | None = None
    """The provider's name of the model."""

    @model_validator(mode="after")
    def _ref_or_inline(self) -> Self:
        inline = self.provider is not None and self.name is not None
        partial = self.provider is not None or self.name is not None
        if (self.ref is not None and partial) or (self.ref is None and not inline):
            raise fault("expected either ref, or provider and name")
        return self


class ModelAccess(ModelChoice):
    """A model, its parameters and the way to it."""

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

    @model_validator(mode="after")
    def _one_address(self) -> Self:
        if self.base_url is not None and self.gateway_ref not in {None, DIRECT}:
            raise fault("gatewayRef excludes baseUrl", at=("gatewayRef",))
        return self


class Model(ModelAccess):
    """The model of an agent, and those that stand in for it."""

    fallbacks: Items[ModelAccess] = ()
    """Models tried in this order when the first fails."""
    timeout: Duration = "60s"
    """Longest wait for an answer; default 60s."""
    expect_resolved: Text | None = None
    """Model that the provider is to answer with, where name is an alias; compared by drift."""


class PromptSource(ManifestModel):
    """Where the system message stands: a key of a ConfigMap, or a text file of the repository."""

    config_map: ObjectName | None = None
    """ConfigMap in the agent's namespace."""
    key: FileName | None = None
    """Key of that ConfigMap."""
    file: Text | None = None
    """Text file, relative to the manifest; must lie inside the project."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        from_map = self.config_map is not None and self.key is not None
        if (self.file is not None) == from_map or (self.config_map is None) != (self.key is None):
            raise fault("expected either file, or configMap and key")
        return self


class Prompt(Choosing):
    """The system message."""

    CHOICES = (OneOf(("system_message", "system_message_from")),)

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
    """Most sensitive class of data that may be sent to it, such as internal; told in agent.json."""
    allowed_namespaces: Items[LabelName] = ()
    """Other namespaces whose agents may refer to it."""


class Budget(ManifestModel):
    """Limits that the agent's runtime keeps, told in agent.json; a run of a Job is ended."""

    max_tokens_per_run: Annotated[int, Field(ge=1)] | None = None
    """Tokens that one run may use, input and output together."""
    max_cost_usd: Annotated[float, Field(gt=0)] | None = Field(default=None, alias="maxCostUSD")
    """US dollars that may be spent in a period; without one, in a run."""
    period: Duration | None = None
    """Time after which maxCostUSD counts anew, such as 1d."""
    max_steps: Annotated[int, Field(ge=1, le=100_000)] = 20
    """Turns of one run: a model's answer and the tools it calls; default 20."""
    timeout: Duration = "10m"
    """Longest run; default 10m. A run of a Job is ended by Kubernetes."""
    on_exceed: Literal["stop", "pause", "warn"] = "stop"
    """What the runtime does at a limit: end the run, wait for a person, or only say so; default
    stop."""

    @model_validator(mode="after")
    def _periods_have_costs(self) -> Self:
        if self.period is not None and self.max_cost_usd is None:
            raise fault("period needs maxCostUSD", remedy="say how much", at=("period",))
        for field, text in (("period", self.period), ("timeout", self.timeout)):
            if text is not None and duration_milliseconds(text) < 1000:  # noqa: PLR2004 - a second
                raise fault("expected a second or more", found=repr(text), at=(field,))
        return self


class Guardrail(ManifestModel):
    """A policy of the model gateway that judges requests or answers."""

    ref: LabelName
    """Name of the policy, as the gateway knows it."""
    mode: Literal["preCall", "postCall"]
    """preCall: judges what is sent to the model; postCall: what it answers."""
