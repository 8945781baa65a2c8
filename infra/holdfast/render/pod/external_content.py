"""What an agent's pods read but its manifest does not hold: Secrets, and ConfigMaps of others.

A change of theirs is no change of the manifest. Whoever deploys looks at them and hands in a digest
of each: a digest that differs is another pod template, so the pods roll. It stands beside what is
rendered, not in it: what is wanted does not depend on who may read Secrets.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.agent_types import SERVING
from holdfast.manifest.types.marks import MOUNTED_HASH
from holdfast.render.objects.secrets import restarts, secret_name
from holdfast.render.plan.metadata import RenderedObject, content_hash
from holdfast.render.plan.models import all_models
from holdfast.render.plan.plan import AgentPlan


class MountedContent(NamedTuple):
    """A Secret or ConfigMap that pods mount or read, and that others write."""

    kind: str
    namespace: str
    name: str


def mounted_contents(plan: AgentPlan) -> tuple[MountedContent, ...]:
    """What rolls the agent's pods when it changes; nothing for what restarts by itself."""
    if plan.spec.type not in SERVING:
        return ()
    namespace = plan.meta.namespace
    secrets = (MountedContent("Secret", namespace, name) for name in _secrets(plan) if name)
    config_maps = (
        MountedContent("ConfigMap", namespace, name) for name in _config_maps(plan.spec) if name
    )
    return tuple(sorted({*secrets, *config_maps}))


def _secrets(plan: AgentPlan) -> Iterator[str | None]:
    meta, spec, environment = plan.meta, plan.spec, plan.context.environment
    yield from (secret_name(meta, each) for each in spec.secrets if restarts(each, environment))
    yield from _secrets_of_models(plan)
    for variable in spec.container.env:
        if variable.value_from and variable.value_from.secret_key_ref:
            yield variable.value_from.secret_key_ref.name
    yield from (each.secret_ref.name for each in spec.container.env_from if each.secret_ref)


def _config_maps(spec: AgentSpec) -> Iterator[str | None]:
    yield from (each.from_ for each in spec.config)
    if spec.prompt:
        yield from spec.prompt.template_sources
        if spec.prompt.system_message_from:
            yield spec.prompt.system_message_from.config_map
    for variable in spec.container.env:
        if variable.value_from and variable.value_from.config_map_key_ref:
            yield variable.value_from.config_map_key_ref.name
    yield from (each.config_map_ref.name for each in spec.container.env_from if each.config_map_ref)


def _secrets_of_models(plan: AgentPlan) -> Iterator[str]:
    """Keys that ModelConfigs name, and certificates of private authorities."""
    for model in all_models(plan.meta, plan.spec, plan.context):
        if model.key:
            yield model.key.name
        if model.tls and model.tls.ca_secret:
            yield model.tls.ca_secret


def mounted_hash(plan: AgentPlan, digests: Mapping[tuple[str, str, str], str]) -> str:
    """One hash of what was found of an agent's contents; empty when nothing was.

    Law: depends on nothing but the digests of the agent's own contents.
    """
    contents = mounted_contents(plan)
    found = {f"{each.kind}/{each.name}": digests[each] for each in contents if each in digests}
    return content_hash(found) if found else ""


def with_mounted_hash(item: RenderedObject, digest: str) -> RenderedObject:
    """The object with the hash on its pod template, if it has one; its revision stays."""
    template = item.manifest.get("spec", {}).get("template")
    if not digest or template is None:
        return item
    metadata = template["metadata"]
    annotations = metadata["annotations"] | {MOUNTED_HASH: digest}
    template = template | {"metadata": metadata | {"annotations": annotations}}
    spec = item.manifest["spec"] | {"template": template}
    return replace(item, manifest=item.manifest | {"spec": spec})
