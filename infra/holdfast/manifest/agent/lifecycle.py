"""From before an agent starts until after it ends: fetch, warm up, check, drain, take turns."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field

from holdfast.manifest.agent.health import Exec, HttpGet
from holdfast.manifest.stack.environment import Environment, ObjectStore
from holdfast.manifest.types.choices import Choosing, OneOf
from holdfast.manifest.types.references import EntryOf, Reaches
from holdfast.manifest.types.values import (
    AbsolutePath,
    Duration,
    FetchUri,
    HexDigest,
    Items,
    ManifestModel,
    PartName,
    Text,
    duration_milliseconds,
)

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


class PreStart(Choosing):
    """One step before the agent starts: a fetch or a command; steps run one after another."""

    CHOICES = (OneOf(("fetch", "command")),)

    fetch: Fetch | None = None
    """A file to fetch and check."""
    command: Items[Text] = ()
    """Command run in the agent's image, with its variables and volumes."""


class CacheWarmer(ManifestModel):
    """A sidecar that requests a path of the agent again and again, so that caches stay warm."""

    http: AbsolutePath
    """Path requested on the exposed port."""
    interval: Duration = "5m"
    """Time between requests; default 5m."""

    @property
    def interval_seconds(self) -> int:
        """The interval in seconds, rounded up."""
        return -(-duration_milliseconds(self.interval) // 1000)


class Sleep(ManifestModel):
    """A wait before SIGTERM."""

    seconds: Annotated[int, Field(ge=1, le=3600)]
    """Seconds slept."""


class PreStop(Choosing):
    """What happens before SIGTERM; at most one of httpGet, exec and sleep."""

    CHOICES = (OneOf(("http_get", "exec_", "sleep"), may_be_none=True),)

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
    """How the agent starts, proves itself and ends."""

    pre_start: Items[PreStart] = ()
    """Steps before the agent starts, in order; it starts only when all of them succeeded."""
    cache_warmer: CacheWarmer | None = None
    """Sidecar that keeps the agent's caches warm; default none."""
    pre_stop: PreStop = PreStop.model_construct()
    """Hook before SIGTERM; default sleep 5 s."""
    termination_grace_period_seconds: Annotated[int, Field(ge=1, le=86_400)] | None = None
    """Seconds between SIGTERM and SIGKILL; default max(60, longest tool timeout + preStop)."""
    leader_election: bool = False
    """One replica leads: rights to a Lease, its name in LEASE_NAME, and a token; default false."""


def store_of(fetch: Fetch, environment: Environment) -> ObjectStore | None:
    """The store that a fetch names by its scheme; None for http and https."""
    stores = {"s3": environment.object_stores.s3, "gs": environment.object_stores.gs}
    return stores.get(fetch.scheme)


def fetched_url(fetch: Fetch, environment: Environment) -> str | None:
    """Address that is requested; None when the stack does not declare the store."""
    if fetch.scheme in {"http", "https"}:
        return fetch.uri
    store = store_of(fetch, environment)
    if store is None:
        return None
    parts = urlsplit(fetch.uri)
    return f"{store.endpoint.rstrip('/')}/{parts.netloc}{parts.path}"
