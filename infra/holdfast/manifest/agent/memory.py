"""What an agent remembers, and the databases it talks to."""

from typing import Annotated, Literal

from pydantic import Field

from holdfast.manifest.agent.model import Reference, as_reference
from holdfast.manifest.types.conditions import Compared, Given, is_
from holdfast.manifest.types.manifest_model import ManifestModel
from holdfast.manifest.types.names import HostName, PartName
from holdfast.manifest.types.references import EntryOf, Reaches, RefersTo
from holdfast.manifest.types.rules import Rule, Ruled
from holdfast.manifest.types.values import Port

DATABASE_PORTS = {
    "chroma": 8000,
    "elasticsearch": 9200,
    "milvus": 19530,
    "mongodb": 27017,
    "mysql": 3306,
    "pgvector": 5432,
    "postgres": 5432,
    "qdrant": 6333,
    "redis": 6379,
    "weaviate": 8080,
}
"""Kind of database to the port that it listens on unless told otherwise."""

DatabaseKind = Literal[
    "chroma",
    "elasticsearch",
    "milvus",
    "mongodb",
    "mysql",
    "pgvector",
    "postgres",
    "qdrant",
    "redis",
    "weaviate",
]
STORE_PORTS = {"redis": 6379, "postgres": 5432, "vector": 6333}
"""Memory backend to the port of a store that is named as a Service."""


class Database(ManifestModel):
    """A database that the agent talks to; egress to it is opened."""

    name: PartName
    """Name of this entry; <NAME>_HOST and <NAME>_PORT say where the database is."""
    kind: DatabaseKind
    """What it is; decides the default port."""
    host: Annotated[HostName, Reaches()]
    """Host: a Service (`postgres`, `postgres.data.svc`), a domain or an address."""
    port: Port | None = None
    """Port; default by kind: postgres and pgvector 5432, mysql 3306, redis 6379, qdrant 6333, …"""
    secret: Annotated[PartName, EntryOf("any")] | None = None
    """Entry of secrets[] that holds the credentials; <NAME>_CREDENTIALS_FILE names its file or
    folder, or <NAME>_CREDENTIALS_ENV its variable."""

    @property
    def effective_port(self) -> int:
        """The port, by kind where none is given."""
        return self.port or DATABASE_PORTS[self.kind]

    @property
    def variable_prefix(self) -> str:
        """What its variables begin with."""
        return self.name.upper().replace("-", "_")


class Compaction(Ruled):
    """When a conversation is summarised."""

    RULES = (
        Rule(
            "compaction-overlap",
            Compared("overlap", "<", "interval"),
            "overlap must be below interval",
            shown=("overlap", "interval"),
            at="overlap",
            remedy="lower overlap, or raise interval",
        ),
    )

    interval: Annotated[int, Field(ge=1, le=10_000)] = 5
    """Turns between summaries; default 5."""
    overlap: Annotated[int, Field(ge=0, le=10_000)] = 2
    """Turns that a summary leaves as they are; default 2."""
    token_threshold: Annotated[int, Field(ge=1)] | None = None
    """Tokens from which on to summarise, whatever the turns; default none."""


class Memory(Ruled):
    """What the agent keeps between turns, and where."""

    RULES = (
        Rule(
            "memory-backend-has-store",
            is_("backend", *STORE_PORTS).needs(Given("store_ref")),
            "this backend needs storeRef",
            shown=("backend",),
            remedy="name an entry of databases[], or a Service",
        ),
        Rule(
            "memory-store-has-backend",
            Given("store_ref").needs(is_("backend", *STORE_PORTS)),
            "has no effect on this backend",
            shown=("backend",),
            at="store_ref",
            remedy="remove it, or use another backend",
        ),
        Rule(
            "memory-embeds-vectors",
            Given("embedding_model_ref").needs(is_("backend", "vector")),
            "has no effect on this backend",
            shown=("backend",),
            at="embedding_model_ref",
            remedy="remove it, or use a backend of vectors",
        ),
        Rule(
            "memory-has-backend",
            ~is_("backend", "none")
            | (is_("ttl_days", 15) & is_("context_limit", 6) & ~Given("compaction")),
            "has no effect without a backend",
            remedy="choose one: local, redis, postgres or vector",
        ),
    )

    backend: Literal["none", "local", "redis", "postgres", "vector"] = "none"
    """none; local: in the agent's storage; or a store. Default none."""
    store_ref: Annotated[Reference, Reaches()] | None = None
    """Store: an entry of databases[], else a Service by name or {namespace, name}. Env
    MEMORY_STORE_HOST and MEMORY_STORE_PORT; egress to it is opened."""
    embedding_model_ref: Annotated[Reference, RefersTo("ModelConfig", "embedding")] | None = None
    """ModelConfig that turns texts into vectors; backend vector only."""
    ttl_days: Annotated[int, Field(ge=1, le=3650)] = 15
    """Days after which a conversation is forgotten; default 15."""
    context_limit: Annotated[int, Field(ge=1, le=10_000)] = 6
    """Messages given to the model with each turn; default 6."""
    compaction: Compaction | None = None
    """When a conversation is summarised; default never."""

    def store_in(self, databases: tuple[Database, ...], namespace: str) -> tuple[str, int] | None:
        """Host and port of the store; None without one.

        Args:
            databases: The agent's own databases, which may be named.
            namespace: The agent's namespace.
        """
        if self.store_ref is None:
            return None
        if isinstance(self.store_ref, str):
            for each in databases:
                if each.name == self.store_ref:
                    return each.host, each.effective_port
        place, name = as_reference(self.store_ref, namespace)
        return f"{name}.{place}.svc", STORE_PORTS[self.backend]
