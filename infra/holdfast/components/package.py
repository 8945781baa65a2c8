"""The package `holdfast`: the components for programs in other languages.

Pulumi starts `component-package/` for them, which calls `serve`. The engine leaves that process and
its language host running when it ends, about 100 MB a preview: both end themselves once the engine
does not answer any more.
"""

import inspect
import json
import os
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pulumi
from pulumi.errors import InputPropertiesError
from pulumi.provider import ConstructResult, Provider
from pulumi.provider import main as serve_provider

from holdfast import __version__
from holdfast.components import parts
from holdfast.components.admission import AdmissionPolicies
from holdfast.components.agent import Agent, McpServer
from holdfast.components.argument_errors import ArgumentsError, CamelCaseArguments
from holdfast.components.fleet import Fleet
from holdfast.components.package_schema import output_name, package_schema, schema_text
from holdfast.components.registration import RenderedComponent
from holdfast.components.resolved import UnrenderableError
from holdfast.manifest.publish.component_types import component_type

POLL_SECONDS = 2.0
_TIMEOUT_SECONDS = 5.0
_LANGUAGE_HOST = "pulumi-language"


def end_with_engine(address: str) -> threading.Thread:
    """Watch the engine at `host:port` from a thread, and end when it answers no more."""
    host, _, port = address.rpartition(":")
    watch = threading.Thread(target=_watch, args=(host, int(port)), daemon=True)
    watch.start()
    return watch


def _watch(host: str, port: int) -> None:
    while _answers(host, port):
        time.sleep(POLL_SECONDS)
    parent = os.getppid()
    if _is_language_host(parent):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(parent, signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGTERM)


def _answers(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), _TIMEOUT_SECONDS):
            return True
    except TimeoutError:
        # A busy engine is no dead one.
        return True
    except OSError:
        return False


def _is_language_host(pid: int) -> bool:
    """Whether a process is a Pulumi language host: it serves one engine only."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().startswith(_LANGUAGE_HOST)
    except OSError:
        return False


COMPONENTS: tuple[type[pulumi.ComponentResource], ...] = (
    Fleet,
    Agent,
    AdmissionPolicies,
    McpServer,
    *(
        each
        for each in vars(parts).values()
        if isinstance(each, type)
        and issubclass(each, RenderedComponent)
        and each is not RenderedComponent
    ),
)
"""Every component of the package: a new part is one as soon as it is written."""

TARGET = Path("docs/schema/package.schema.json")
"""Where the schema is published, relative to the project."""


class HoldfastPackage(Provider):
    """Constructs components for programs in other languages."""

    def __init__(self) -> None:
        super().__init__(__version__, json.dumps(package_schema(COMPONENTS)))
        # Every constructor takes a name, arguments and options; their base class takes others.
        self._components: dict[str, Any] = {
            component_type(each.__name__): each for each in COMPONENTS
        }

    def construct(
        self,
        name: str,
        resource_type: str,
        inputs: pulumi.Inputs,
        options: pulumi.ResourceOptions | None = None,
    ) -> ConstructResult:
        """Make one component.

        Its arguments reach it as they were written: what the schema cannot say is judged by the
        same models as a manifest, in the words of the caller.

        Raises:
            InputPropertiesError: the arguments do not validate, one entry a fault, or they need
                what the cluster does not offer.
        """
        try:
            made: Any = self._components[resource_type](name, CamelCaseArguments(inputs), options)
        except ArgumentsError as faulty:
            raise InputPropertiesError(
                f"{name}: invalid arguments",
                [{"property_path": each.path, "reason": each.reason} for each in faulty.faults],
            ) from faulty
        except UnrenderableError as refused:
            raise InputPropertiesError(f"{name}: {refused}", []) from refused
        outputs = {
            output_name(each): getattr(made, each) for each in inspect.get_annotations(type(made))
        }
        return ConstructResult(made.urn, outputs)


def serve(arguments: list[str]) -> None:
    """Serve the package to the engine whose address is the first argument, until it ends."""
    end_with_engine(arguments[0])
    serve_provider(HoldfastPackage(), arguments)


if __name__ == "__main__":
    TARGET.write_text(schema_text(package_schema(COMPONENTS)), encoding="utf-8")
    sys.stderr.write(f"wrote {TARGET}\n")
