"""The operator of a stack as objects: an agent like any other, and the rights that it needs. Pure.

Its Deployment is rendered by the renderer of agents, so that it is as hardened, as bounded and as
watched as they are. Its rights are made from the kinds that the stack renders, and no wider.

Source: Kubernetes documentation, "Using RBAC Authorization", Privilege escalation prevention.
"""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from holdfast.controllers.operator.admission import deployer_policy
from holdfast.controllers.runtime.node_health import NODE
from holdfast.errors import InputError, InvalidFilesError
from holdfast.kube.objects import KindKey, KubeObject, api_group
from holdfast.kube.rbac import policy_rule, role_and_binding, service_account_subject
from holdfast.kube.structure import KindEntry, builtin_kind
from holdfast.manifest.agent.agent import AGENT_KIND, Agent
from holdfast.manifest.kinds.kinds import KINDS
from holdfast.manifest.publish.custom_resource import custom_resource_definitions, plural_of
from holdfast.manifest.publish.resource_interface import STACK_DECLARATION_KIND
from holdfast.manifest.stack.environment import Environment, NamespaceLimits
from holdfast.manifest.text.origin import Origin
from holdfast.manifest.types.manifest import API_VERSION
from holdfast.manifest.types.validation import validate
from holdfast.render.fleet import FleetPlan
from holdfast.render.objects.namespaces import render_limits, render_namespaces
from holdfast.render.plan.metadata import Provenance, RenderedObject
from holdfast.render.plan.plan import AgentPlan, metadata_of
from holdfast.render.plan.render_agent import render_agent
from holdfast.render.plan.render_context import RenderContext

NAMESPACE: Final = "holdfast-system"
PORT: Final = 9464
_READING: Final = ("get", "list", "watch")
_ALWAYS_READ: Final = (
    NODE,
    ("v1", "ConfigMap"),
    ("v1", "Pod"),
    ("batch/v1", "Job"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
)
_LIMITS: Final = NamespaceLimits.model_validate(
    {
        "quota": {"pods": "20", "limits.cpu": "10", "limits.memory": "10Gi"},
        "containerMax": {"cpu": "2", "memory": "2Gi"},
    }
)
_OWN: Final = api_group(API_VERSION)


@dataclass(frozen=True)
class OperatorRequest:
    """What is to be made.

    Attributes:
        stack: Whose agents it holds.
        image: Image with `holdfast`, by its digest.
        version: Of Holdfast.
        owner: Team that answers for it.
        api_servers: Addresses (CIDR) of the API server, which it alone reaches.
        environment: Settings of the stack.
    """

    stack: str
    image: str
    version: str
    owner: str
    api_servers: tuple[str, ...]
    environment: Environment

    @property
    def name(self) -> str:
        """Name of its Deployment, account and roles."""
        return f"operator-{self.stack.lower().replace('_', '-')}"


def operator_objects(
    request: OperatorRequest,
    plan: FleetPlan,
    rendered: Iterable[RenderedObject],
    kinds: Mapping[KindKey, KindEntry],
) -> list[KubeObject]:
    """Definitions, namespace, rights and Deployment, in the order in which they are applied.

    Args:
        request: What is to be made.
        plan: The stack.
        rendered: Its objects.
        kinds: What kinds that are not Kubernetes' own are called in URLs.

    Raises:
        InputError: the image has no digest: nothing judges the operator before it is applied.
        InvalidFilesError: the request does not make a valid manifest.
    """
    if "@" not in request.image:
        image = shlex.quote(request.image)
        raise InputError(
            f"--image {request.image}: expected NAME@sha256:... (image-digest-pinned)",
            remedy=f"run 'docker buildx imagetools inspect {image}' and add the digest",
        )
    agent = _plan(request)
    origin = agent.meta.origin
    names = {NAMESPACE}
    around = [*render_namespaces(names, origin), *render_limits(names, _LIMITS, origin)]
    rights = _rights(agent, plan, list(rendered), kinds)
    objects = [item.manifest for item in (*around, *render_agent(agent))]
    policy = deployer_policy(request.stack, NAMESPACE, request.name)
    return [*custom_resource_definitions(), objects[0], *rights, *objects[1:], *policy]


def _plan(request: OperatorRequest) -> AgentPlan:
    manifest = validate(
        Agent,
        {
            "apiVersion": API_VERSION,
            "kind": "Agent",
            "metadata": {
                "name": request.name,
                "namespace": NAMESPACE,
            },
            "spec": _spec(request),
        },
        Origin("operator", 0, 0),
    )
    if isinstance(manifest, list):
        raise InvalidFilesError(manifest)
    # Of no stack: a scan of the agents does not take their operator for a stranger.
    stack = Provenance(f"holdfast-{request.name}")
    meta = metadata_of(manifest.metadata, manifest.spec, NAMESPACE, stack)
    meta = replace(meta, component="operator")
    return AgentPlan(meta, manifest.spec, RenderContext(request.environment))


def _spec(request: OperatorRequest) -> KubeObject:
    def probe(path: str) -> KubeObject:
        return {"httpGet": {"path": path, "port": PORT}}

    return {
        "version": request.version,
        "owner": request.owner,
        "governance": {
            "autonomy": "autonomous",
            "approver": request.owner,
            "toolAudit": "traces",
            "logs": {"retention": "30d", "redaction": "secrets"},
            "costCenter": request.owner,
        },
        "description": f"Holds the agents of stack {request.stack} to what they declare",
        "image": request.image,
        "container": {
            "args": ["operator", "run", "--stack", request.stack, "--listen", f":{PORT}"],
            # Else each of its threads keeps an arena of its own of memory that is free again.
            "env": [{"name": "MALLOC_ARENA_MAX", "value": "2"}],
            "resources": {
                "requests": {"cpu": "100m", "memory": "256Mi"},
                "limits": {"cpu": "1", "memory": "512Mi"},
            },
            "probes": {"liveness": probe("/healthz"), "readiness": probe("/readyz")},
        },
        "scaling": {"replicas": 2, "leaderElection": True},
        "network": {
            "expose": {"port": PORT},
            "egress": [{"cidr": each} for each in request.api_servers],
        },
        "pod": {"security": {"automountToken": True}},
    }


def _rights(
    agent: AgentPlan,
    plan: FleetPlan,
    rendered: list[RenderedObject],
    kinds: Mapping[KindKey, KindEntry],
) -> list[KubeObject]:
    """Reading in the whole cluster, writing in the namespaces of the stack alone."""
    granted = _granted(agent, "", reading_rules(plan, rendered, kinds))
    for namespace in sorted({each.meta.namespace for each in plan.agents}):
        granted += _granted(agent, namespace, writing_rules(plan, rendered, kinds, namespace))
    return granted


def _granted(agent: AgentPlan, namespace: str, rules: list[KubeObject]) -> list[KubeObject]:
    meta = agent.meta.metadata()
    metadata: KubeObject = {
        "name": f"holdfast-{agent.meta.name}",
        "labels": meta["labels"],
        "annotations": meta["annotations"],
        **({"namespace": namespace} if namespace else {}),
    }
    account = service_account_subject(NAMESPACE, agent.meta.name)
    return list(role_and_binding(metadata, rules, account))


def reading_rules(
    plan: FleetPlan, rendered: Iterable[RenderedObject], kinds: Mapping[KindKey, KindEntry]
) -> list[KubeObject]:
    """Rights to read exactly the kinds in use, and Holdfast's own.

    Law: no wildcard, and no Secrets.

    Args:
        plan: The stack.
        rendered: Its objects.
        kinds: What kinds that are not Kubernetes' own are called in URLs.
    """
    used = {_key(each) for each in _objects_of(plan, rendered)}
    return [
        policy_rule(_OWN, sorted({*_plurals(), plural_of(STACK_DECLARATION_KIND)}), _READING),
        *_of_kinds(used | set(_ALWAYS_READ), kinds, _READING),
    ]


def writing_rules(
    plan: FleetPlan,
    rendered: Iterable[RenderedObject],
    kinds: Mapping[KindKey, KindEntry],
    namespace: str,
) -> list[KubeObject]:
    """Rights to write in one namespace: for the status of agents, and for what is applied.

    Law: objects are written only where the operator applies them, or an agent of the namespace says
    `drift.mode: revert`; Services alone where one says `scaling.availability.failover: automatic`.
    Who makes a role must have the rights that it gives, and has no others.
    """
    rules = [
        policy_rule(_OWN, ["agents/status", "agentteams/status"], ("patch",)),
        policy_rule("events.k8s.io", ["events"], ("create", "patch")),
    ]
    is_expanded = plan.resource_mode == "expand"
    agents = [each for each in plan.agents if each.meta.namespace == namespace]
    if not is_expanded and all(each.spec.drift.mode != "revert" for each in agents):
        if any(each.spec.scaling.availability.failover == "automatic" for each in agents):
            rules.append(policy_rule("", ["services"], ("create", "patch")))
        return rules
    objects = [
        each
        for each in _objects_of(plan, rendered)
        if each["metadata"].get("namespace") == namespace
    ]
    verbs = ("create", "patch", "delete") if is_expanded else ("create", "patch")
    # Agents that others than the deployer have altered or deleted are put back.
    rules.append(policy_rule(_OWN, ["agents"], ("create", "patch")))
    rules += _of_kinds({_key(each) for each in objects}, kinds, verbs)
    given = [rule for each in objects if each["kind"] == "Role" for rule in each["rules"]]
    return rules + [rule for index, rule in enumerate(given) if rule not in given[:index]]


def _objects_of(plan: FleetPlan, rendered: Iterable[RenderedObject]) -> list[KubeObject]:
    """The objects of agents; tool servers stay the engine's."""
    agents = {each.meta.name for each in plan.agents if each.kind == AGENT_KIND}
    return [item.manifest for item in rendered if item.agent in agents and item.role != "resource"]


def _key(kube_object: KubeObject) -> KindKey:
    return str(kube_object["apiVersion"]), str(kube_object["kind"])


def _of_kinds(
    wanted: Iterable[KindKey], kinds: Mapping[KindKey, KindEntry], verbs: Iterable[str]
) -> list[KubeObject]:
    groups: dict[str, set[str]] = {}
    for key in wanted:
        entry = builtin_kind(*key) or kinds.get(key)
        if entry is not None:
            groups.setdefault(api_group(key[0]), set()).add(entry.plural)
    return [policy_rule(group, sorted(groups[group]), verbs) for group in sorted(groups)]


def _plurals() -> set[str]:
    return {plural_of(kind) for kind in KINDS}
