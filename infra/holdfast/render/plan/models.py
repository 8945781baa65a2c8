"""The models of an agent, resolved: what they are, how they are reached, where their keys are."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from holdfast.errors import RenderError
from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.model import (
    DIRECT,
    ModelAccess,
    ModelConfigSpec,
    ModelParameters,
    ModelTls,
    as_reference,
)
from holdfast.manifest.agent.runtime import KeyReference
from holdfast.manifest.fleet.egress import model_url
from holdfast.manifest.types.values import duration_milliseconds
from holdfast.render.plan.marks import AgentMarks
from holdfast.render.plan.surroundings import Surroundings

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
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings
) -> list[ResolvedModel]:
    """The model of an agent, then its fallbacks in order; none for an agent without model.

    Raises:
        RenderError: a ModelConfig or gateway is not declared.
    """
    if spec.model is None:
        return []
    fallbacks = [
        resolve_model(marks, choice, surroundings, f"model-fallback-{index}")
        for index, choice in enumerate(spec.model.fallbacks)
    ]
    return [resolve_model(marks, spec.model, surroundings), *fallbacks]


def resolve_model(
    marks: AgentMarks, choice: ModelAccess, surroundings: Surroundings, role: str = "model"
) -> ResolvedModel:
    """One model choice with its ModelConfig and the stack's gateway filled in.

    Raises:
        RenderError: the ModelConfig or the gateway is not declared.
    """
    config = _config(marks, choice, surroundings)
    gateway, base_url = _address(marks, choice, surroundings)
    own = choice.parameters.model_dump(exclude_none=True)
    shared = config.parameters.model_dump(exclude_none=True) if config else {}
    return ResolvedModel(
        role,
        provider=config.provider if config else choice.provider or "",
        name=config.name if config else choice.name or "",
        base_url=base_url,
        gateway=gateway,
        parameters=ModelParameters.model_validate(shared | own, by_name=True),
        key_entry=choice.api_key,
        key=config.api_key_secret_ref if config and choice.api_key is None else None,
        tls=choice.tls or (config.tls if config else None),
        data_class=config.data_class if config else None,
    )


def embedding_model(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings
) -> ResolvedModel | None:
    """The model that embeds what the agent remembers; None without one.

    Raises:
        RenderError: the ModelConfig is not declared.
    """
    if spec.memory.embedding_model_ref is None:
        return None
    choice = ModelAccess(ref=spec.memory.embedding_model_ref)
    return resolve_model(marks, choice, surroundings, "embedding-model")


def all_models(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings
) -> list[ResolvedModel]:
    """Every model that the agent asks, for whatever."""
    embedding = embedding_model(marks, spec, surroundings)
    return [*resolved_models(marks, spec, surroundings), *([embedding] if embedding else [])]


def model_env(marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings) -> dict[str, str]:
    """Variables that tell the process of its first model; agent.json tells of all."""
    models = resolved_models(marks, spec, surroundings)
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


def model_settings(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings
) -> dict[str, Any]:
    """What agent.json says of the models: the first one, and in it the fallbacks."""
    assert spec.model is not None  # noqa: S101 - the caller asked for it
    first, *fallbacks = resolved_models(marks, spec, surroundings)
    settings = one_model(first, spec)
    settings["timeoutMilliseconds"] = duration_milliseconds(spec.model.timeout)
    if fallbacks:
        settings["fallbacks"] = [one_model(model, spec) for model in fallbacks]
    return settings


def model_mounts(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings
) -> Iterator[tuple[KubeObject, KubeObject]]:
    """Pairs of mount and volume: keys of ModelConfigs, certificates of private authorities."""
    for model in all_models(marks, spec, surroundings):
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
    marks: AgentMarks, choice: ModelAccess, surroundings: Surroundings
) -> ModelConfigSpec | None:
    if choice.ref is None:
        return None
    namespace, name = as_reference(choice.ref, marks.namespace)
    config = surroundings.models.get((namespace, name))
    if config is None:
        raise RenderError(
            f"agent {marks.name}: ModelConfig {namespace}/{name} is not declared",
            remedy="declare it, or give provider and name",
        )
    return config


def _address(
    marks: AgentMarks, choice: ModelAccess, surroundings: Surroundings
) -> tuple[str, str | None]:
    """Gateway and address; the gateway comes before any address of the model itself."""
    settings = surroundings.environment.models
    name = choice.gateway_ref or settings.gateway or DIRECT
    if name not in {DIRECT, *settings.gateways}:
        known = ", ".join(sorted(settings.gateways)) or "none"
        raise RenderError(
            f"agent {marks.name}: model gateway {name!r} is not declared (there: {known})",
            remedy="declare it in holdfast:models.gateways of the stack file",
        )
    found = model_url(choice, marks.namespace, surroundings.targets)
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
