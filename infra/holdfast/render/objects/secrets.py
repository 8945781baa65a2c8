"""Secrets by reference: what fetches them, and how the pods get them. No value is ever seen here.

Sources: External Secrets Operator, API reference of external-secrets.io/v1; Secrets Store CSI
Driver and its AWS provider, "SecretProviderClass"; Vault Agent Injector, "Annotations".
"""

import json
from collections.abc import Sequence
from typing import Literal

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.state import SecretReference
from holdfast.manifest.stack.environment import AwsSettings, Environment, VaultSettings
from holdfast.manifest.types.values import duration_milliseconds
from holdfast.render.objects.identity import service_account_name
from holdfast.render.plan.metadata import AgentMetadata, RenderedObject
from holdfast.render.plan.render_context import RenderContext

CSI_FOLDER = "/var/run/secrets/holdfast"
_VAULT = "vault.hashicorp.com"
_VAULT_TOKEN = "vault-token"  # noqa: S105 - the name of a volume
_VAULT_TEMPLATE = (
    '{{{{- with secret "{path}" -}}}}'
    '{{{{- if .Data.data -}}}}{{{{ index .Data.data "{key}" }}}}'
    '{{{{- else -}}}}{{{{ index .Data "{key}" }}}}{{{{- end -}}}}'
    "{{{{- end -}}}}"
)

Way = Literal["secret", "external", "csi", "vault"]
"""How a secret reaches the pods: a Secret that exists, one that is fetched, a CSI volume, Vault."""


def way_of(secret: SecretReference, environment: Environment) -> Way:
    """How a secret reaches the pods on a stack."""
    if secret.provider == "kubernetes":
        return "secret"
    if secret.provider == "vault":
        return "vault"
    uses_csi = "external-secrets" not in environment.controllers
    return "csi" if secret.provider == "awsSecretsManager" and uses_csi else "external"


def secret_name(meta: AgentMetadata, secret: SecretReference) -> str:
    """Name of the Secret that pods read."""
    return secret.ref if secret.provider == "kubernetes" else f"{meta.name}-{secret.name}"


def restarts(secret: SecretReference, environment: Environment) -> bool:
    """Whether a change of the secret rolls the pods: its Secret is checked by every update."""
    return secret.on_change != "reload" and way_of(secret, environment) in ("secret", "external")


def render_secrets(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext
) -> list[RenderedObject]:
    """ExternalSecrets with their store, and SecretProviderClasses.

    Raises:
        RenderError: the stack does not offer what a secret's provider takes.
    """
    rendered: list[RenderedObject] = []
    environment = context.environment
    if spec.secrets:
        context.require_all(meta.name, spec, ("secrets",))
    for secret in spec.secrets:
        if secret.provider == "awsSecretsManager":
            rendered += _aws(meta, spec, context, secret)
        elif way_of(secret, environment) == "external":
            store = environment.secret_stores.external_secret
            assert store is not None  # noqa: S101 - required above
            reference = {"name": store.name, "kind": store.kind}
            rendered.append(_external_secret(meta, secret, reference))
    once = {(item.role, item.manifest["metadata"]["name"]): item for item in rendered}
    return list(once.values())


def csi_volume(meta: AgentMetadata, secret: SecretReference) -> KubeObject:
    """Source of the volume in which the CSI driver shows a secret."""
    attributes = {"secretProviderClass": f"{meta.name}-{secret.name}"}
    return {
        "csi": {
            "driver": "secrets-store.csi.k8s.io",
            "readOnly": True,
            "volumeAttributes": attributes,
        }
    }


def vault_volumes(spec: AgentSpec) -> list[KubeObject]:
    """The token with which the injector logs in to Vault; the pods themselves do not mount it."""
    if not any(secret.provider == "vault" for secret in spec.secrets):
        return []
    token = {"path": "token", "expirationSeconds": 3600}
    projected = {"sources": [{"serviceAccountToken": token}]}
    return [{"name": _VAULT_TOKEN, "projected": projected}]


def vault_annotations(spec: AgentSpec, context: RenderContext) -> dict[str, str]:
    """Annotations of the pods that Vault's injector reads."""
    secrets = [secret for secret in spec.secrets if secret.provider == "vault"]
    vault = context.environment.secret_stores.vault
    if not secrets or vault is None:
        return {}
    annotations = _vault_login(vault, secrets)
    if spec.type == "Job":
        # A sidecar that stays would keep every run from ending.
        annotations["agent-pre-populate-only"] = "true"
    for secret in secrets:
        annotations[f"agent-inject-secret-{secret.name}"] = secret.ref
        annotations[f"agent-inject-file-{secret.name}"] = str(secret.key)
        annotations[f"secret-volume-path-{secret.name}"] = str(secret.mount_path)
        template = _VAULT_TEMPLATE.format(path=secret.ref, key=secret.key)
        annotations[f"agent-inject-template-{secret.name}"] = template
    return {f"{_VAULT}/{name}": value for name, value in sorted(annotations.items())}


def _vault_login(vault: VaultSettings, secrets: Sequence[SecretReference]) -> dict[str, str]:
    intervals = sorted((duration_milliseconds(each.interval), each.interval) for each in secrets)
    login = {
        "agent-inject": "true",
        "agent-run-as-same-user": "true",
        "agent-service-account-token-volume-name": _VAULT_TOKEN,
        "agent-set-security-context": "true",
        "role": vault.role,
        "service": vault.address,
        "template-static-secret-render-interval": intervals[0][1],
    }
    return login | ({"auth-path": vault.auth_path} if vault.auth_path else {})


def _aws(
    meta: AgentMetadata,
    spec: AgentSpec,
    context: RenderContext,
    secret: SecretReference,
) -> list[RenderedObject]:
    environment = context.environment
    aws = environment.secret_stores.aws
    assert aws is not None  # noqa: S101 - required by the caller
    if way_of(secret, environment) == "external":
        store = _aws_store(meta, spec, aws)
        reference = {"name": store.manifest["metadata"]["name"], "kind": "SecretStore"}
        return [store, _external_secret(meta, secret, reference)]
    return [_provider_class(meta, secret, aws)]


def _aws_store(meta: AgentMetadata, spec: AgentSpec, aws: AwsSettings) -> RenderedObject:
    account = {"serviceAccountRef": {"name": service_account_name(meta, spec.pod.security)}}
    provider = {"service": "SecretsManager", "region": aws.region, "auth": {"jwt": account}}
    manifest: KubeObject = {
        "apiVersion": "external-secrets.io/v1",
        "kind": "SecretStore",
        "metadata": meta.metadata("aws"),
        "spec": {"provider": {"aws": provider}},
    }
    return RenderedObject(meta.name, "secretstore-aws", manifest)


def _external_secret(
    meta: AgentMetadata, secret: SecretReference, store: dict[str, str]
) -> RenderedObject:
    body: KubeObject = {
        "refreshInterval": secret.interval,
        "secretStoreRef": store,
        "target": {
            "name": secret_name(meta, secret),
            "creationPolicy": "Owner",
            "deletionPolicy": "Retain",
        },
    }
    if secret.key is not None:
        remote = {"key": secret.ref, "property": secret.key}
        body["data"] = [{"secretKey": secret.key, "remoteRef": remote}]
    else:
        body["dataFrom"] = [{"extract": {"key": secret.ref}}]
    manifest: KubeObject = {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": meta.metadata(secret.name),
        "spec": body,
    }
    return RenderedObject(meta.name, f"externalsecret-{secret.name}", manifest)


def _provider_class(
    meta: AgentMetadata, secret: SecretReference, aws: AwsSettings
) -> RenderedObject:
    wanted: KubeObject = {"objectName": secret.ref, "objectType": "secretsmanager"}
    shown = secret.name
    if secret.key is not None:
        shown = secret.key
        wanted["jmesPath"] = [{"path": f'"{secret.key}"', "objectAlias": shown}]
    # The provider reads YAML here, of which JSON is a part.
    body: KubeObject = {
        "provider": "aws",
        "parameters": {"region": aws.region, "objects": json.dumps([wanted])},
    }
    if secret.env is not None:
        body["secretObjects"] = [
            {
                "secretName": secret_name(meta, secret),
                "type": "Opaque",
                "data": [{"objectName": shown, "key": secret.key}],
            }
        ]
    manifest: KubeObject = {
        "apiVersion": "secrets-store.csi.x-k8s.io/v1",
        "kind": "SecretProviderClass",
        "metadata": meta.metadata(secret.name),
        "spec": body,
    }
    return RenderedObject(meta.name, f"secretproviderclass-{secret.name}", manifest)
