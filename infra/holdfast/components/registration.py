"""Rendered objects to Pulumi resources, the parts of an agent, and the Kubernetes provider."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, Protocol, cast

import pulumi
from pulumi_kubernetes import Provider
from pydantic import BaseModel

from holdfast.components.deferred import Deferred, deferred
from holdfast.kube.objects import KubeObject
from holdfast.manifest.publish.component_types import component_type
from holdfast.manifest.stack.environment import Environment
from holdfast.render.plan.metadata import Provenance, RenderedObject
from holdfast.render.plan.plan import AgentPlan


def kubernetes_provider(environment: Environment, stack: str) -> Provider:
    """The provider for the stack's cluster.

    Kept in the stack's state, so that a plain `pulumi refresh` is as fast as an update. The
    kubeconfig itself comes from the surroundings (KUBECONFIG): its place differs between machines.
    """
    cluster = environment.cluster
    return Provider(
        "kubernetes",
        # Left out, the SDK would record the value of KUBECONFIG in the state, and a refresh would
        # go on with that path on every machine.
        kubeconfig="",
        context=cluster.context,
        # Without a stable name, a moved kubeconfig would plan to replace everything.
        cluster_identifier=cluster.identifier or stack,
        enable_server_side_apply=True,
        # Named ConfigMaps change in place; otherwise agents would briefly have none.
        enable_config_map_mutable=True,
        enable_secret_mutable=True,
        kube_client_settings={"qps": cluster.client_qps, "burst": cluster.client_burst},
        opts=pulumi.ResourceOptions(protect=False),
    )


PROVIDER_VERSION = version("pulumi-kubernetes")


class KubernetesObject(pulumi.CustomResource):
    """One object under the type token that the Kubernetes SDK gives its kind.

    Takes the object as it was rendered: a typed class would translate its keys to no gain, at
    twice the time. Transformations, policies and state see no difference.
    """

    def __init__(
        self, name: str, manifest: KubeObject, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        version_default = pulumi.ResourceOptions(version=PROVIDER_VERSION)
        merged = pulumi.ResourceOptions.merge(version_default, opts)
        super().__init__(type_token(manifest), name, dict(manifest), merged)
        self.rendered: KubeObject = manifest


def type_token(manifest: Mapping[str, Any]) -> str:
    """Type token of an object: `kubernetes:apps/v1:Deployment`, `kubernetes:core/v1:Service`."""
    api_version = manifest["apiVersion"]
    module = api_version if "/" in api_version else f"core/{api_version}"
    return f"kubernetes:{module}:{manifest['kind']}"


class PlannableInputs(Protocol):
    """Validated arguments that can be made into a plan."""

    def plan(self, name: str, origin: Provenance) -> AgentPlan:
        """The agent that the arguments describe."""


def plan_of(name: str, args: object, inputs: type[BaseModel]) -> Deferred[AgentPlan]:
    """The plan behind a component's arguments; a plan itself passes through.

    Raises:
        ArgumentsError: the arguments do not validate; names every fault.
    """
    if isinstance(args, Deferred):
        return args
    component = inputs.__name__.removesuffix("Inputs")
    stack = pulumi.get_stack()

    def plan(given: BaseModel, has_outputs: bool) -> AgentPlan:
        origin = Provenance(stack, has_outputs=has_outputs)
        return cast("PlannableInputs", given).plan(name, origin)

    return deferred(f"{component} {name}", cast("Mapping[str, Any]", args), inputs, plan)


class RenderedComponent(pulumi.ComponentResource):
    """A component whose children are rendered objects, named `<agent>-<role>`."""

    def __init__(
        self,
        name: str,
        plan: Deferred[AgentPlan],
        rendered: Sequence[RenderedObject],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(component_type(type(self).__name__), name, dict(plan.inputs), opts)
        # The engine does not pass a component's dependencies on to its children.
        depends_on = opts.depends_on if opts else None
        self.objects = tuple(register(item, self, depends_on) for item in rendered)


def register(
    item: RenderedObject,
    parent: pulumi.Resource,
    depends_on: Any = None,  # noqa: ANN401 - pulumi's own type
) -> KubernetesObject:
    """Register one rendered object below a component."""
    options = pulumi.ResourceOptions(
        parent=parent,
        depends_on=depends_on,
        # What the program says of a component holds for its parts, also where that is False.
        protect=True if item.is_protected and protection_of(parent) is None else None,
        retain_on_delete=True if item.is_retained else None,
        ignore_changes=list(item.left_to_controllers) or None,
        replace_on_changes=list(item.replaced_on) or None,
        delete_before_replace=True if item.replaced_on else None,
    )
    return KubernetesObject(item.resource_name, item.manifest, options)


def protection_of(resource: pulumi.Resource) -> bool | None:
    """The option `protect` as the program gave it to a resource or above it; None where nowhere."""
    given: bool | None = resource._protect  # noqa: SLF001 - the SDK inherits it by this field, too
    return given


def names_of(rendered: Sequence[RenderedObject], kind: str) -> list[str]:
    """Names of the rendered objects of one kind."""
    return [item.manifest["metadata"]["name"] for item in rendered if item.manifest["kind"] == kind]
