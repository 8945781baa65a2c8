"""The models of an agent, resolved: what they are, how they are reached, where their keys are."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from holdfast.errors import RenderError
from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.container import KeyReference
from holdfast.manifest.agent.model import (
    DIRECT,
    ModelAccess,
    ModelConfigSpec,
    ModelParameters,
    ModelTls,
    as_reference,
)
from holdfast.manifest.fleet.egress import model_url
from holdfast.manifest.types.values import duration_milliseconds
from holdfast.render.plan.metadata import AgentMetadata
from holdfast.render.plan.render_context import RenderContext

SECRETS_FOLDER = "/var/run/secrets/holdfast"


@dataclass(frozen=True)
class ResolvedModel:
    """One model as the agent asks it: its ModelConfig and the stack's gateway filled in.

    Attributes:
        role: `model`, or `model-fallback-<n>`: opens the names of its volumes and folders.
        base_url: Where it is asked; None for the provider's own address.
        gateway: Gateway that it is asked through; empty for none.
        key_entry: Entry of secrets[] that holds its key.
        key: Key of a Secret that the ModelConfig names; None where there is an entry.
        data_class: Most sensitive data that may be sent to it.
    """

    role: str
    provider: str
    name: str
    base_url: str | None
    gateway: str
    parameters: ModelParameters
    key_entry: str | None
    key: KeyReference | None
    tls: ModelTls | None
    data_class: str | None

    @property
    def key_folder(self) -> str:
        """Folder of the key that the ModelConfig names."""
        return f"{SECRETS_FOLDER}/{self.role}"

    @property
    def ca_file(self) -> str | None:
        """Certificate of the authority that vouches for it; None for the public ones."""
        if self.tls is None or self.tls.ca_secret is None:
            return None
        return f"{SECRETS_FOLDER}/{self.role}-ca/{self.tls.ca_key}"


def resolved_models(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext
) -> list[ResolvedModel]:
    """The model of an agent, then its fallbacks in order; none for an agent without model.

    Raises:
        RenderError: a ModelConfig or gateway is not declared.
    """
    if spec.model is None:
        return []
    fallbacks = [
        resolve_model(meta, choice, context, f"model-fallback-{index}")
        for index, choice in enumerate(spec.model.fallbacks)
    ]
    return [resolve_model(meta, spec.model, context), *fallbacks]


def resolve_model(
    meta: AgentMetadata, choice: ModelAccess, context: RenderContext, role: str = "model"
) -> ResolvedModel:
    """One model choice with its ModelConfig and the stack's gateway filled in.

    Raises:
        RenderError: the ModelConfig or the gateway is not declared.
    """
    config = _config(meta, choice, context)
    gateway, base_url = _address(meta, choice, context)
    return ResolvedModel(
        role,
        provider=config.provider if config else choice.provider or "",
        name=config.name if config else choice.name or "",
        base_url=base_url,
        gateway=gateway,
        parameters=_parameters(choice.parameters, config),
        key_entry=choice.api_key,
        key=config.api_key_secret_ref if config and choice.api_key is None else None,
        tls=choice.tls or (config.tls if config else None),
        data_class=config.data_class if config else None,
    )


def _parameters(own: ModelParameters, config: ModelConfigSpec | None) -> ModelParameters:
    """An agent's own parameters over those of the ModelConfig."""
    if config is None:
        return own
    given = own.model_dump(exclude_none=True)
    if not given:
        return config.parameters
    shared = config.parameters.model_dump(exclude_none=True)
    return ModelParameters.model_validate(shared | given, by_name=True)


def embedding_model(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext
) -> ResolvedModel | None:
    """The model that embeds what the agent remembers; None without one.

    Raises:
        RenderError: the ModelConfig is not declared.
    """
    if spec.memory.embedding_model_ref is None:
        return None
    choice = ModelAccess(ref=spec.memory.embedding_model_ref)
    return resolve_model(meta, choice, context, "embedding-model")


def all_models(meta: AgentMetadata, spec: AgentSpec, context: RenderContext) -> list[ResolvedModel]:
    """Every model that the agent asks, for whatever."""
    embedding = embedding_model(meta, spec, context)
    return [*resolved_models(meta, spec, context), *([embedding] if embedding else [])]


def model_env(meta: AgentMetadata, spec: AgentSpec, context: RenderContext) -> dict[str, str]:
    """Variables that name the first model; agent.json has all."""
    models = resolved_models(meta, spec, context)
    if not models or spec.model is None:
        return {}
    model = models[0]
    seconds = -(-duration_milliseconds(spec.model.timeout) // 1000)
    variables = {
        "MODEL_PROVIDER": model.provider,
        "MODEL_NAME": model.name,
        "MODEL_TIMEOUT_SECONDS": str(seconds),
    }
    optional = {
        "MODEL_BASE_URL": model.base_url,
        # A file: its value shows neither in the object nor in the process list.
        "MODEL_API_KEY_FILE": key_place(model, spec).get("apiKeyFile"),
        "MODEL_CA_FILE": model.ca_file,
        "MODEL_TLS_INSECURE": "true" if model.tls and model.tls.insecure else None,
    }
    return variables | {name: value for name, value in optional.items() if value}


def model_settings(meta: AgentMetadata, spec: AgentSpec, context: RenderContext) -> dict[str, Any]:
    """What agent.json says of the models: the first one, and in it the fallbacks."""
    assert spec.model is not None  # noqa: S101 - the caller asked for it
    first, *fallbacks = resolved_models(meta, spec, context)
    settings = one_model(first, spec)
    settings["timeoutMilliseconds"] = duration_milliseconds(spec.model.timeout)
    if fallbacks:
        settings["fallbacks"] = [one_model(model, spec) for model in fallbacks]
    return settings


def model_mounts(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext
) -> Iterator[tuple[KubeObject, KubeObject]]:
    """Pairs of mount and volume: keys of ModelConfigs, certificates of private authorities."""
    for model in all_models(meta, spec, context):
        if model.key:
            yield _secret(f"{model.role}-key", model.key_folder, model.key.name, model.key.key)
        if model.tls and model.tls.ca_secret:
            folder = f"{SECRETS_FOLDER}/{model.role}-ca"
            yield _secret(f"{model.role}-ca", folder, model.tls.ca_secret, model.tls.ca_key)


def key_place(model: ResolvedModel, spec: AgentSpec) -> dict[str, str]:
    """Where the process finds a model's key: `apiKeyFile` or `apiKeyEnv`; empty without key."""
    if model.key_entry is not None:
        place = entry_place(spec, model.key_entry)
        return {f"apiKey{kind.capitalize()}": value for kind, value in place.items()}
    if model.key is not None:
        return {"apiKeyFile": f"{model.key_folder}/{model.key.key}"}
    return {}


def entry_place(spec: AgentSpec, name: str) -> dict[str, str]:
    """Where the process finds the value of an entry of secrets[]: `file` or `env`."""
    entry = next((each for each in spec.secrets if each.name == name), None)
    if entry is None:
        return {}
    if entry.env:
        return {"env": entry.env}
    return {"file": f"{(entry.mount_path or '').rstrip('/')}/{entry.key}"}


def _config(
    meta: AgentMetadata, choice: ModelAccess, context: RenderContext
) -> ModelConfigSpec | None:
    if choice.ref is None:
        return None
    namespace, name = as_reference(choice.ref, meta.namespace)
    config = context.models.get((namespace, name))
    if config is None:
        raise RenderError(
            f"agent {meta.name}: ModelConfig {namespace}/{name} is not declared",
            remedy="declare it, or give provider and name",
        )
    return config


def _address(
    meta: AgentMetadata, choice: ModelAccess, context: RenderContext
) -> tuple[str, str | None]:
    """Gateway and address; the gateway comes before any address of the model itself."""
    settings = context.environment.models
    name = choice.gateway_ref or settings.gateway or DIRECT
    if name not in {DIRECT, *settings.gateways}:
        known = ", ".join(sorted(settings.gateways)) or "none"
        raise RenderError(
            f"agent {meta.name}: model gateway {name!r} is not declared (there: {known})",
            remedy="declare it in holdfast:models.gateways of the stack file",
        )
    found = model_url(choice, meta.namespace, context.targets)
    return "" if name == DIRECT else name, found[0] if found else None


def one_model(model: ResolvedModel, spec: AgentSpec) -> dict[str, Any]:
    """What agent.json says of one model."""
    parameters = model.parameters.model_dump(by_alias=True, exclude_none=True)
    tls = {"caFile": model.ca_file} if model.ca_file else {"insecure": True}
    optional = {
        "baseUrl": model.base_url,
        "gateway": model.gateway,
        "dataClass": model.data_class,
        "parameters": parameters,
        "tls": tls if model.tls else None,
        **key_place(model, spec),
    }
    settings: dict[str, Any] = {"provider": model.provider, "name": model.name}
    return settings | {key: value for key, value in optional.items() if value}


def _secret(volume: str, folder: str, secret: str, key: str) -> tuple[KubeObject, KubeObject]:
    source = {"secretName": secret, "items": [{"key": key, "path": key}]}
    mount = {"name": volume, "mountPath": folder, "readOnly": True}
    return mount, {"name": volume, "secret": source}
