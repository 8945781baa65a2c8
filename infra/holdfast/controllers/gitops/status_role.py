"""The rights with which a loop tells how its stack is, as objects: its resource and Events. Pure.

What a loop deploys needs other rights, those of `pulumi up`; none of them is given here.

Source: Kubernetes documentation, "Using RBAC Authorization": who makes an object by server-side
apply needs `create` beside `patch`.
"""

from typing import Final

from holdfast.adapters.cluster.event_writing import EVENTS, NAMESPACE_OF_THE_CLUSTER
from holdfast.drift.reader_role import Reader
from holdfast.kube.objects import KubeObject, api_group
from holdfast.kube.rbac import policy_rule, role_and_binding
from holdfast.manifest.types.manifest import API_VERSION
from holdfast.operations.stack.agent_stack import ENTRY, agent_stack_ref

_LABELS: Final = {
    "app.kubernetes.io/managed-by": "holdfast",
    "app.kubernetes.io/instance": "holdfast-reconcile",
}


def status_writer_rbac(stack: str, teller: Reader) -> list[KubeObject]:
    """Roles and bindings with which somebody may tell how one stack is.

    Law: only the resource of that stack is written, and of Events none is changed or deleted.

    Args:
        stack: Which stack.
        teller: Who is to tell, under which name.
    """
    own, plural = api_group(API_VERSION), ENTRY.plural
    # Server-side apply names what it makes: `create` can be limited to it as well.
    names = [agent_stack_ref(stack).name]
    written = policy_rule(own, [plural, f"{plural}/status"], ["create", "patch"], names)
    # A LIST or WATCH that selects the name is allowed by it.
    read = policy_rule(own, [plural], ["get", "list", "watch"], names)
    told = policy_rule(api_group(EVENTS), ["events"], ["create"])
    metadata: KubeObject = {"name": teller.name, "labels": dict(_LABELS)}
    there = {**metadata, "namespace": NAMESPACE_OF_THE_CLUSTER}
    return [
        *role_and_binding(metadata, [written, read], teller.subject),
        *role_and_binding(there, [told], teller.subject),
    ]
