"""Where a file of lifecycle.preStart is asked for: its own address, or its store's."""

from urllib.parse import urlsplit

from holdfast.manifest.agent.lifecycle import Fetch
from holdfast.manifest.stack.environment import Environment, ObjectStore


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
