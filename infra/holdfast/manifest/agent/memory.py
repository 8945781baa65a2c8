"""What an agent remembers, and the databases it talks to."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from holdfast.manifest.agent.model import Reference, as_reference
from holdfast.manifest.text.faults import fault
from holdfast.manifest.types.references import EntryOf, Reaches, RefersTo
from holdfast.manifest.types.values import (
    HostName,
    ManifestModel,
    PartName,
    Port,
)

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


class Compaction(ManifestModel):
    """When a conversation is summarised."""

    interval: Annotated[int, Field(ge=1, le=10_000)] = 5
    """Turns between summaries; default 5."""
    overlap: Annotated[int, Field(ge=0, le=10_000)] = 2
    """Turns that a summary leaves as they are; default 2."""
    token_threshold: Annotated[int, Field(ge=1)] | None = None
    """Tokens from which on to summarise, whatever the turns; default none."""

    @model_validator(mode="after")
    def _overlap_is_shorter(self) -> Self:
        if self.overlap >= self.interval:
            found = f"overlap {self.overlap}, interval {self.interval}"
            raise fault("overlap must be below interval", found=found, at=("overlap",))
        return self


class Memory(ManifestModel):
    """What the agent keeps between turns, and where."""

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

    @model_validator(mode="after")
    def _backend_decides(self) -> Self:
        has_store = self.backend in STORE_PORTS
        if has_store and self.store_ref is None:
            remedy = "name an entry of databases[], or a Service"
            raise fault(f"backend {self.backend} needs storeRef", remedy=remedy)
        if not has_store and self.store_ref is not None:
            found = f"backend {self.backend}"
            raise fault("has no effect on this backend", found=found, at=("storeRef",))
        if self.backend != "vector" and self.embedding_model_ref is not None:
            found = f"backend {self.backend}"
            raise fault("has no effect on this backend", found=found, at=("embeddingModelRef",))
        defaults = {name: field.default for name, field in type(self).model_fields.items()}
        if self.backend == "none" and any(
            getattr(self, name) != default for name, default in defaults.items()
        ):
            raise fault(
                "has no effect without a backend",
                remedy="choose one: local, redis, postgres or vector",
            )
        return self

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
