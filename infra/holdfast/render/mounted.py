"""What an agent's pods mount but its manifest does not hold: Secrets, and ConfigMaps of others.

A change of theirs is no change of the manifest. Whoever deploys looks at them and hands in a digest
of each: a digest that differs is another pod template, so the pods roll. It stands beside what is
rendered, not in it: what is wanted does not depend on who may read Secrets.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from holdfast.render.marks import RenderedObject, content_hash
from holdfast.render.plan import AgentPlan
from holdfast.render.secrets import restarts, secret_name

MOUNTED_HASH = "holdfast.dev/mounted-hash"


class MountedContent(NamedTuple):
    """A Secret or ConfigMap that pods mount or read, and that others write."""

    kind: str
    namespace: str
    name: str


def mounted_contents(plan: AgentPlan) -> tuple[MountedContent, ...]:
    """What rolls the agent's pods when it changes; nothing for what starts anew by itself."""
    marks, spec, environment = plan.marks, plan.spec, plan.surroundings.environment
    if spec.type != "BYO":
        return ()
    secrets = (each for each in spec.secrets if restarts(each, environment))
    found = {
        MountedContent("Secret", marks.namespace, secret_name(marks, each)) for each in secrets
    }
    names = [entry.from_ for entry in spec.config]
    if spec.prompt and spec.prompt.system_message_from:
        names.append(spec.prompt.system_message_from.config_map)
    found |= {MountedContent("ConfigMap", marks.namespace, name) for name in names if name}
    return tuple(sorted(found))


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
