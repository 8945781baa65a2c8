"""Give a running sandbox the definitions of controllers' custom resources.

The definitions are the owning projects' own; the controllers themselves do not run, so what is
declared is accepted, validated and kept, and nothing acts on it.
"""

import functools
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from holdfast.engine.toolchain import find_definitions
from holdfast.errors import SandboxError
from holdfast.manifest.controllers import CONTROLLERS, ControllerName
from holdfast.sandbox.api_client import ApiClient
from holdfast.sandbox.place import SandboxPlace
from holdfast.sandbox.readiness import Waiter
from holdfast.sandbox.record import read_record

TIMEOUT_SECONDS = 180.0
REQUEST_TIMEOUT_SECONDS = 30.0
_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def controllers_with_definitions() -> tuple[ControllerName, ...]:
    """Controllers that bring kinds of their own; the others read annotations or labels only."""
    return tuple(name for name in sorted(CONTROLLERS) if CONTROLLERS[name].groups)


def install_definitions(
    place: SandboxPlace, controllers: Sequence[ControllerName], report: Callable[[str], None]
) -> None:
    """Apply the definitions of these controllers and wait until their kinds are served.

    Raises:
        SandboxError: the sandbox does not run, or its API server refuses a definition.
        ToolchainError: the definitions have not been fetched.
    """
    files = {name: find_definitions(name) for name in controllers}
    record = read_record(place)
    if record is None:
        raise SandboxError(f"there is no sandbox {place.name}", remedy="run 'holdfast sandbox up'")
    started = time.monotonic()
    with ApiClient(place, record.ports.api_server, REQUEST_TIMEOUT_SECONDS) as client:
        waiter = Waiter(lambda: None, TIMEOUT_SECONDS)
        definitions = [file for name in controllers for file in files[name]]
        for file in definitions:
            waiter.wait(file.stem, functools.partial(_apply, client, file))
        for file in definitions:
            waiter.wait(f"{file.stem}, served", functools.partial(_is_served, client, file))
        # Put together when first asked for; on a busy machine that takes longer than the engine's
        # provider waits.
        waiter.wait("the schemas of all kinds", client.has_schemas)
    seconds = time.monotonic() - started
    report(f"{len(definitions)} definitions of {', '.join(controllers)} ({seconds:.1f} s)")


def _apply(client: ApiClient, file: Path) -> bool:
    if refusal := client.apply(f"{_PATH}/{file.stem}", file.read_bytes()):
        message = f"the API server refused the definition {file.stem}: {refusal}"
        raise SandboxError(message, remedy="see 'holdfast sandbox logs kube-apiserver'")
    return True


def _is_served(client: ApiClient, file: Path) -> bool:
    # By discovery: a definition itself is half a megabyte, too much to ask for again and again.
    plural, _, group = file.stem.partition(".")
    found = client.read(f"/apis/{group}") or {}
    served = (client.read(f"/apis/{each['groupVersion']}") for each in found.get("versions", ()))
    return any(
        resource["name"] == plural for each in served if each for resource in each["resources"]
    )
