"""The operator of a stack as objects, for `operator manifests` and `operator install`. Wiring."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from holdfast import __version__
from holdfast.controllers.operator.manifests import OperatorRequest, operator_objects
from holdfast.errors import InputError
from holdfast.kube.objects import KubeObject
from holdfast.kube.structure import builtin_kind
from holdfast.manifest.publish.custom_resource import custom_resource_definitions
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root
from holdfast.render.plan.declared import plan_fleet


def operator_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which operator; the command gets `objects`."""

    @click.option("-s", "--stack", default="", help="Also the operator of this stack.")
    @click.option("--image", default="", metavar="NAME@DIGEST", help="Image with holdfast in it.")
    @click.option(
        "--owner", default="platform", show_default=True, help="Team that answers for it."
    )
    @click.option(
        "--api-server",
        "api_servers",
        multiple=True,
        metavar="CIDR",
        help="Address of the API server, all that it may reach; repeatable.",
    )
    @wraps(command)
    def with_options(
        *arguments: Any,  # noqa: ANN401  (click's own)
        stack: str,
        image: str,
        owner: str,
        api_servers: tuple[str, ...],
        **options: Any,  # noqa: ANN401  (click's own)
    ) -> Any:  # noqa: ANN401  (click's own)
        if not stack:
            if image or api_servers:
                raise InputError("--image and --api-server are of the operator", remedy="add -s")
            return command(*arguments, objects=custom_resource_definitions(), **options)
        if not (image and api_servers):
            raise InputError(
                "the operator of a stack needs --image and --api-server",
                remedy="`kubectl get endpoints kubernetes -n default` names the API server",
            )
        objects = _objects(stack, image, owner, api_servers)
        return command(*arguments, objects=objects, **options)

    return with_options


def _objects(stack: str, image: str, owner: str, api_servers: tuple[str, ...]) -> list[KubeObject]:
    state = StackContext(find_project_root(), stack)
    environment, name = state.fleet.environment, stack.rpartition("/")[2]
    if environment.agent_resources.mode == "off":
        raise InputError(
            f"stack {name} has no agents as resources",
            remedy="set holdfast:agentResources: {mode: observe} in its stack file",
        )
    request = OperatorRequest(name, image, __version__, owner, api_servers, environment)
    foreign = {
        (str(one["apiVersion"]), str(one["kind"]))
        for one in state.objects
        if builtin_kind(str(one["apiVersion"]), str(one["kind"])) is None
    }
    kinds = {}
    if foreign:
        from holdfast.adapters.cluster.client import ApiClient  # noqa: PLC0415  (loads the client)
        from holdfast.adapters.cluster.kinds import served_kinds  # noqa: PLC0415  (as above)
        from holdfast.adapters.cluster.kubeconfig import connection_of  # noqa: PLC0415  (as above)

        client = ApiClient(connection_of(state.kubeconfig, state.kube_context))
        kinds = served_kinds(client, sorted(foreign))
    return operator_objects(request, plan_fleet(state.fleet, name), state.rendered, kinds)
