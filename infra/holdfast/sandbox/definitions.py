"""Give a running sandbox the definitions of controllers' custom resources.

The definitions are the owning projects' own; the controllers themselves do not run, so what is
declared is accepted, validated and kept, and nothing acts on it.
"""

import functools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from holdfast.adapters.engine.run.toolchain import find_definitions
from holdfast.errors import InputError, SandboxError
from holdfast.kube.objects import canonical_json
from holdfast.manifest.publish.custom_resource import custom_resource_definitions
from holdfast.manifest.stack.controllers import CONTROLLERS, ControllerName
from holdfast.sandbox.api_server import SandboxApiClient
from holdfast.sandbox.health import Waiter
from holdfast.sandbox.paths import SandboxPaths
from holdfast.sandbox.record import read_record

TIMEOUT_SECONDS = 180.0
REQUEST_TIMEOUT_SECONDS = 30.0
_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


CrdOwner = ControllerName | Literal["holdfast"]
"""Whose definitions: a controller's, or Holdfast's own."""


def crd_owners() -> tuple[CrdOwner, ...]:
    """A controller with kinds of its own; other controllers read annotations or labels only."""
    return (*(name for name in sorted(CONTROLLERS) if CONTROLLERS[name].groups), "holdfast")


def install_definitions(
    place: SandboxPaths, controllers: Sequence[CrdOwner], report: Callable[[str], None]
) -> None:
    """Apply the definitions of these controllers and wait until their kinds are served.

    Raises:
        InputError: there is no such sandbox.
        SandboxError: it does not run, or its API server refuses a definition.
        ToolchainError: the definitions have not been fetched.
    """
    definitions = dict(each for name in controllers for each in _definitions_of(name))
    record = read_record(place)
    if record is None:
        raise InputError(f"there is no sandbox {place.name}", remedy="run 'holdfast sandbox up'")
    started = time.monotonic()
    with SandboxApiClient(place, record.ports.api_server, REQUEST_TIMEOUT_SECONDS) as client:
        waiter = Waiter(lambda: None, TIMEOUT_SECONDS)
        for name, content in definitions.items():
            waiter.wait(name, functools.partial(_apply, client, name, content))
        for name in definitions:
            waiter.wait(f"{name}, served", functools.partial(_is_served, client, name))
        # Put together when first asked for; on a busy machine that takes longer than the engine's
        # provider waits.
        waiter.wait("the schemas of all kinds", client.has_schemas)
    seconds = time.monotonic() - started
    report(f"{len(definitions)} definitions of {', '.join(controllers)} ({seconds:.1f} s)")


def _definitions_of(name: CrdOwner) -> Iterator[tuple[str, bytes]]:
    """Names and contents of what one of them defines."""
    if name == "holdfast":
        for each in custom_resource_definitions():
            yield str(each["metadata"]["name"]), canonical_json(each)
    else:
        for file in find_definitions(name):
            yield file.stem, file.read_bytes()


def _apply(client: SandboxApiClient, name: str, content: bytes) -> bool:
    if refusal := client.apply(f"{_PATH}/{name}", content):
        message = f"the API server refused the definition {name}: {refusal}"
        raise SandboxError(message, remedy="see 'holdfast sandbox logs kube-apiserver'")
    return True


def _is_served(client: SandboxApiClient, name: str) -> bool:
    # By discovery: a definition itself is half a megabyte, too much to ask for again and again.
    plural, _, group = name.partition(".")
    found = client.read(f"/apis/{group}") or {}
    served = (client.read(f"/apis/{each['groupVersion']}") for each in found.get("versions", ()))
    return any(
        resource["name"] == plural for each in served if each for resource in each["resources"]
    )
