"""Before an agent starts and before it ends: fetch, prepare, drain."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field

from holdfast.manifest.agent.agent_types import CALLED, OnlyFor
from holdfast.manifest.agent.health import Exec, HttpGet
from holdfast.manifest.types.manifest_model import Items, ManifestModel
from holdfast.manifest.types.names import PartName
from holdfast.manifest.types.references import EntryOf, Reaches
from holdfast.manifest.types.rules import OneOf, Ruled
from holdfast.manifest.types.values import AbsolutePath, FetchUri, HexDigest, Text

DEFAULT_PRE_STOP_SECONDS = 5


class Fetch(ManifestModel):
    """A file that is fetched before the agent starts, such as the weights of a model."""

    uri: Annotated[FetchUri, Reaches()]
    """Where it is: https://, s3://bucket/key or gs://bucket/key; its host joins the egress."""
    sha256: HexDigest
    """Digest of the file; another content keeps the agent from starting."""
    to: AbsolutePath
    """Folder it is put into, under the last part of uri; on a volume of storage it is kept."""
    credentials: Annotated[PartName, EntryOf("files")] | None = None
    """Entry of secrets[] with a mountPath: a bearer token (key given), or the key pair of a store
    in the keys access-key-id and secret-access-key. Default none."""

    @property
    def scheme(self) -> str:
        """Scheme of the URI."""
        return urlsplit(self.uri).scheme

    @property
    def file_name(self) -> str:
        """Name of the file."""
        return urlsplit(self.uri).path.rpartition("/")[2]


class PreStart(Ruled):
    """One step before the agent starts: a fetch or a command; steps run one after another."""

    RULES = (OneOf(("fetch", "command")),)

    fetch: Fetch | None = None
    """A file to fetch and check."""
    command: Items[Text] = ()
    """Command run in the agent's image, with its variables and volumes."""


class Sleep(ManifestModel):
    """A wait before SIGTERM."""

    seconds: Annotated[int, Field(ge=1, le=3600)]
    """Seconds slept."""


class PreStop(Ruled):
    """What happens before SIGTERM; at most one of httpGet, exec and sleep."""

    RULES = (OneOf(("http_get", "exec_", "sleep"), may_be_none=True),)

    http_get: HttpGet | None = None
    """Request to the agent."""
    exec_: Exec | None = Field(default=None, alias="exec")
    """Command run in the container."""
    sleep: Sleep | None = None
    """A wait, so that traffic drains; default 5 seconds when nothing else is given."""

    @property
    def reserved_seconds(self) -> int:
        """Seconds to leave for the hook when the grace period is derived."""
        return self.sleep.seconds if self.sleep else DEFAULT_PRE_STOP_SECONDS


class Lifecycle(ManifestModel):
    """What happens before the container starts and before it ends."""

    pre_start: Items[PreStart] = ()
    """Steps before the agent starts, in order; it starts only when all of them succeeded."""
    pre_stop: Annotated[PreStop, OnlyFor(CALLED)] = PreStop.model_construct()
    """Hook before SIGTERM; default sleep 5 s."""
