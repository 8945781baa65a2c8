"""Options of `operator manifests` and `operator install`: which operator."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from holdfast.controllers.operator.installation import OperatorImage, operator_of
from holdfast.errors import InputError
from holdfast.manifest.publish.custom_resource import custom_resource_definitions
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import find_project_root


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
        context = StackContext(find_project_root(), stack)
        objects = operator_of(context, OperatorImage(image, owner, api_servers))
        return command(*arguments, objects=objects, **options)

    return with_options
