"""The agent's container: command, ports, environment, resources, probes, hooks."""

import difflib
import re
from collections.abc import Iterator
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from holdfast.kube.scalars import parse_quantity
from holdfast.manifest.agent.agent_types import CALLED, OnlyFor
from holdfast.manifest.agent.health import Probes
from holdfast.manifest.agent.lifecycle import Lifecycle
from holdfast.manifest.text.faults import fault
from holdfast.manifest.types.manifest_model import Items, ManifestModel
from holdfast.manifest.types.names import EnvName, FileName, ObjectName, PortName, ResourceName
from holdfast.manifest.types.rules import Computed, Found, OneOf, Rule, Ruled, Unique, finds
from holdfast.manifest.types.values import AbsolutePath, Port, Quantity, Text

DEFAULT_REQUESTS: Final = {"cpu": "100m", "memory": "256Mi", "ephemeral-storage": "64Mi"}
DEFAULT_LIMITS: Final = {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Gi"}


class ContainerPort(ManifestModel):
    """A port that the agent listens on."""

    name: PortName
    """Name of the port, unique in the agent."""
    container_port: Port
    """Port number, 1–65535."""
    protocol: Literal["TCP", "UDP", "SCTP"] = "TCP"
    """Transport protocol; default TCP."""


class KeyReference(ManifestModel):
    """A key of a Secret or ConfigMap in the agent's namespace."""

    name: ObjectName
    """Name of the object."""
    key: FileName
    """Key in its data."""


class OptionalKeyReference(KeyReference):
    """A key of a Secret or ConfigMap that may be missing."""

    optional: bool = False
    """Start without the variable where the key is missing; default false."""


_POD_FIELDS: Final = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
_KNOWN_POD_FIELDS: Final = f"{', '.join(_POD_FIELDS)}, metadata.labels['KEY']"
_POD_FIELD: Final = r"metadata\.(labels|annotations)\['[^']+'\]|" + "|".join(
    re.escape(each) for each in _POD_FIELDS
)


class PodFieldRef(ManifestModel):
    """A field of the pod itself."""

    field_path: Text
    """Such as `metadata.name` or `status.podIP`."""

    @model_validator(mode="after")
    def _is_served_to_variables(self) -> Self:
        if not re.fullmatch(_POD_FIELD, self.field_path):
            close = difflib.get_close_matches(self.field_path, _POD_FIELDS, n=1)
            raise fault(
                "expected a field that the kubelet serves as a variable",
                found=repr(self.field_path),
                remedy=f'did you mean "{close[0]}"?' if close else f"known: {_KNOWN_POD_FIELDS}",
                at=("fieldPath",),
            )
        return self


class EnvSource(Ruled):
    """Where a variable's value comes from; exactly one."""

    RULES = (OneOf(("secret_key_ref", "config_map_key_ref", "field_ref")),)

    secret_key_ref: OptionalKeyReference | None = None
    """A key of a Secret."""
    config_map_key_ref: OptionalKeyReference | None = None
    """A key of a ConfigMap."""
    field_ref: PodFieldRef | None = None
    """A field of the pod."""


class EnvVar(Ruled):
    """An environment variable: a literal value, or a source."""

    RULES = (OneOf(("value", "value_from")),)

    name: EnvName
    """Name of the variable."""
    value: str | None = None
    """Literal value; never a credential."""
    value_from: EnvSource | None = None
    """Where the value comes from."""


class LocalObjectReference(ManifestModel):
    """An object in the agent's namespace, by name."""

    name: ObjectName
    """Name of the object."""


class EnvSourceReference(LocalObjectReference):
    """A ConfigMap or Secret whose keys become variables."""

    optional: bool = False
    """Start without the variables where the object is missing; default false."""


class EnvFromSource(Ruled):
    """All keys of a ConfigMap or Secret as variables."""

    RULES = (OneOf(("config_map_ref", "secret_ref")),)

    prefix: EnvName | None = None
    """What the variables' names begin with; default nothing."""
    config_map_ref: EnvSourceReference | None = None
    """A ConfigMap."""
    secret_ref: EnvSourceReference | None = None
    """A Secret."""


class Resources(Ruled):
    """Requests and limits of the agent's container, by resource name."""

    RULES = (
        Rule(
            "extended-resource-limits",
            Computed(why_not="CEL does not walk two mappings at once below its cost limit"),
            "request and limit of {name} must be equal (extended resource)",
            remedy="write the same number in both",
        ),
        Rule(
            "bytes-are-whole",
            Computed(why_not="CEL does not walk a mapping of any length below its cost limit"),
            "expected whole units: m is a thousandth, for cpu only",
            remedy="use Mi or Gi for bytes",
        ),
        Rule(
            "limits-cover-requests",
            Computed(why_not="the default of a limit depends on the request, and the reverse"),
            "limits.{name} must not be below requests.{name}",
            remedy="raise the limit, or lower the request",
        ),
    )

    requests: dict[ResourceName, Quantity] = Field(default_factory=dict)
    """What the scheduler reserves; defaults cpu 100m, memory 256Mi, ephemeral-storage 64Mi, or the
    limit where that is less."""
    limits: dict[ResourceName, Quantity] = Field(default_factory=dict)
    """What the agent may use at most; defaults cpu 1, memory 1Gi, ephemeral-storage 1Gi, or the
    request where that is more."""

    def effective(self) -> tuple[dict[str, str], dict[str, str]]:
        """Requests and limits with the defaults filled in; a default never contradicts the other.

        A request above the default limit is its own limit; a limit below the default request is
        its own request.
        """
        requests, limits = DEFAULT_REQUESTS | self.requests, DEFAULT_LIMITS | self.limits
        for name in DEFAULT_REQUESTS:
            if parse_quantity(limits[name]) >= parse_quantity(requests[name]):
                continue
            if name not in self.limits:
                limits[name] = requests[name]
            elif name not in self.requests:
                requests[name] = limits[name]
        extended = {name: value for name, value in self.limits.items() if "/" in name}
        return extended | requests, limits


class TemporaryFolder(ManifestModel):
    """The folder /tmp of the container, empty at every start."""

    size: Quantity = "64Mi"
    """Most that it may hold; above it the pod is evicted. Default 64Mi."""


class ContainerSettings(ManifestModel):
    """The agent's own container, in the words of Kubernetes."""

    command: Items[Text] = ()
    """Entry point; default the image's."""
    args: Items[str] = ()
    """Arguments; default the image's."""
    working_dir: AbsolutePath | None = None
    """Working directory; default the image's."""
    ports: Annotated[Items[ContainerPort], Unique(), OnlyFor(CALLED)] = ()
    """Ports beyond the exposed one and the metrics port."""
    env: Annotated[Items[EnvVar], Unique()] = ()
    """Environment variables, by name."""
    env_from: Items[EnvFromSource] = ()
    """ConfigMaps and Secrets whose keys become variables."""
    resources: Resources = Resources.model_construct()
    """Requests and limits."""
    probes: Annotated[Probes, OnlyFor(CALLED)] = Probes.model_construct()
    """How its health is asked for."""
    lifecycle: Lifecycle = Lifecycle.model_construct()
    """What happens before it starts and before it ends."""
    tmp: TemporaryFolder = TemporaryFolder.model_construct()
    """The folder /tmp, which a read-only root file system leaves writable."""


@finds("bytes-are-whole")
def _thousandths(resources: Resources) -> Iterator[Found]:
    for field, amounts in (("requests", resources.requests), ("limits", resources.limits)):
        for name, amount in amounts.items():
            if name != "cpu" and amount.endswith("m"):
                number = amount.removesuffix("m")
                remedy = f'write "{number}Mi"' if "/" not in name else f'write "{number}"'
                yield Found((field, name), repr(amount), remedy=remedy)


@finds("extended-resource-limits")
def _unequal(resources: Resources) -> Iterator[Found]:
    requests, limits = resources.effective()
    for name, request in requests.items():
        limit = limits.get(name)
        if "/" not in name or (limit and parse_quantity(limit) == parse_quantity(request)):
            continue
        found = f"request {request!r}, limit {limit!r}"
        yield Found(("limits", name), found, words=(("name", name),))


@finds("limits-cover-requests")
def _below_requests(resources: Resources) -> Iterator[Found]:
    if next(_thousandths(resources), None):
        return  # they cannot be compared with what is meant
    requests, limits = resources.effective()
    for name, request in requests.items():
        limit = limits.get(name)
        if "/" not in name and limit and parse_quantity(limit) < parse_quantity(request):
            found = f"limit {limit!r}, request {request!r}"
            yield Found(("limits", name), found, words=(("name", name),))
