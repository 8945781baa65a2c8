"""Read the objects of one kind: paginated LISTs, in as few requests as that takes.

Objects are decoded without their status, and with managed fields left as raw JSON until somebody
suspects them. What cannot be read is noted for the objects it concerns, with the reason.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from holdfast.cluster.client import JSON, ApiClient, ApiError, path_of
from holdfast.errors import ClusterError, LoginError
from holdfast.kube.objects import KubeObject, ObjectRef
from holdfast.kube.structure import KindEntry

PAGE_OBJECTS: Final = 500
MOST_CONFIRMED_ONE_BY_ONE: Final = 10
"""More objects missing than that are confirmed by one more LIST."""

METADATA_ONLY: Final = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"

Identity = tuple[str, str, str, str]


@dataclass(frozen=True, order=True)
class Unread:
    """Something that could not be read, and why."""

    scope: str
    reason: str


@dataclass
class Listing:
    """What was read.

    Attributes:
        objects: By group, kind, namespace and name.
        unread: Wanted objects that could not be looked at.
        requests: How many were sent.
    """

    objects: dict[Identity, KubeObject] = field(default_factory=dict)
    unread: dict[Identity, Unread] = field(default_factory=dict)
    requests: int = 0


@dataclass(frozen=True)
class Question:
    """How a LIST is asked for.

    Attributes:
        accept: Media type: whole objects, or their metadata only.
        selector: Label selector; empty for all objects.
    """

    accept: str = JSON
    selector: str = ""


class _ListMeta(msgspec.Struct, rename="camel"):
    continue_: str = msgspec.field(default="", name="continue")
    remaining_item_count: int | None = None


class _Page(msgspec.Struct):
    metadata: _ListMeta
    items: list[dict[str, msgspec.Raw]] | None = None


_page_decoder: Final = msgspec.json.Decoder(_Page)
_metadata_decoder: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


class KindReader:
    """Reads the objects of one kind."""

    def __init__(
        self,
        client: ApiClient,
        entry: KindEntry | None,
        refs: list[ObjectRef],
        question: Question | None = None,
    ) -> None:
        """Prepare to read.

        Args:
            client: The API server.
            entry: What the kind is called; None when it is not served.
            refs: What is wanted, at least one, all of one kind and version.
            question: How to ask.
        """
        self.client = client
        self.api_version, self.kind, self.group = refs[0].api_version, refs[0].kind, refs[0].group
        self.entry = entry
        self.question = question or Question()
        self.refs = refs
        self.listing = Listing()

    def read(self) -> ClusterError | None:
        """Read everything; a failure is returned after it was noted for the objects it concerns."""
        if self.entry is None:
            self._note(self.refs, self.kind, f"the server does not serve {self.api_version}")
            return None
        failure = self.list_everywhere()
        self._confirm_missing(self.entry)
        return failure

    def list_everywhere(self) -> ClusterError | None:
        """LIST the kind wherever it is wanted, in as few requests as that takes."""
        entry = self.entry
        assert entry is not None  # noqa: S101  (what is not served is not listed)
        namespaces = sorted({ref.namespace for ref in self.refs})
        if not entry.is_namespaced:
            only = self.refs[0].name if len(self.refs) == 1 else ""
            return self._try("", self.refs, only=only)
        if len(namespaces) > 1:
            failure = self._try("", self.refs, most_pages=len(namespaces))
            if failure is None:
                return None
            if not (isinstance(failure, ApiError) and failure.is_forbidden) and not isinstance(
                failure, _TooManyPagesError
            ):
                return failure
            self.listing.unread.clear()
        failures = [
            self._try(namespace, [ref for ref in self.refs if ref.namespace == namespace])
            for namespace in namespaces
        ]
        return next((failure for failure in failures if failure), None)

    def _try(
        self, namespace: str, refs: list[ObjectRef], *, only: str = "", most_pages: int = 0
    ) -> ClusterError | None:
        """LIST one place; on failure the objects wanted there are unread."""
        assert self.entry is not None  # noqa: S101  (read() has looked)
        path = path_of(self.api_version, self.entry.plural, namespace)
        for is_last in (False, True):
            try:
                for item in self._pages(path, only, most_pages):
                    self._keep(item)
            except LoginError:
                raise
            except ApiError as error:
                if error.is_expired and not is_last:
                    continue  # the list grew too old to be continued: begin again
                self._note(refs, self._scope(namespace), _reason(error, self.entry, namespace))
                return error
            except (ClusterError, msgspec.DecodeError, RecursionError) as error:
                self._note(refs, self._scope(namespace), str(error))
                return error if isinstance(error, ClusterError) else ClusterError(str(error))
            return None
        raise AssertionError  # the second try returns or raises

    def _pages(self, path: str, only: str, most_pages: int) -> Iterable[dict[str, msgspec.Raw]]:
        query: dict[str, str | int] = {"limit": PAGE_OBJECTS}
        if only:
            query["fieldSelector"] = f"metadata.name={only}"
        if self.question.selector:
            query["labelSelector"] = self.question.selector
        while True:
            self.listing.requests += 1
            page = _page_decoder.decode(self.client.get(path, query, self.question.accept))
            remaining = page.metadata.remaining_item_count or 0
            if most_pages and 1 + -(-remaining // PAGE_OBJECTS) > most_pages:
                raise _TooManyPagesError
            most_pages = 0
            yield from page.items or ()
            if not page.metadata.continue_:
                return
            query["continue"] = page.metadata.continue_

    def _scope(self, namespace: str) -> str:
        return f"{self.kind} in {namespace}" if namespace else self.kind

    def _note(self, refs: Collection[ObjectRef], scope: str, reason: str) -> None:
        for ref in refs:
            self.listing.unread[ref.identity] = Unread(scope, reason)

    def _keep(self, fields: dict[str, msgspec.Raw]) -> None:
        one = _decode(fields, self.api_version, self.kind)
        metadata = one["metadata"]
        identity = (self.group, self.kind, metadata.get("namespace", ""), metadata.get("name", ""))
        self.listing.objects[identity] = one
        self.listing.unread.pop(identity, None)

    def _confirm_missing(self, entry: KindEntry) -> None:
        """A second look at what a LIST did not show: it may have been made between two pages."""
        missing = [
            ref
            for ref in self.refs
            if ref.identity not in self.listing.objects and ref.identity not in self.listing.unread
        ]
        if len(missing) > MOST_CONFIRMED_ONE_BY_ONE:
            self.list_everywhere()
            return
        for ref in missing:
            path = path_of(self.api_version, entry.plural, ref.namespace, ref.name)
            self.listing.requests += 1
            try:
                body = self.client.get(path)
                self._keep(_metadata_decoder.decode(body))
            except LoginError:
                raise
            except ApiError as error:
                if not error.is_absent:
                    self._note([ref], str(ref), _reason(error, entry, ref.namespace))
            except (ClusterError, msgspec.DecodeError, RecursionError) as error:
                self._note([ref], str(ref), str(error))


class _TooManyPagesError(ClusterError):
    """The whole cluster holds so many objects that asking each namespace takes fewer requests."""

    def __init__(self) -> None:
        super().__init__("more pages than namespaces")


def _reason(error: ApiError, entry: KindEntry, namespace: str) -> str:
    if error.is_forbidden:
        where = f"in namespace {namespace}" if namespace else "in the whole cluster"
        return f"forbidden: grant get and list on {entry.plural} {where}"
    if error.is_absent:
        return f"the server does not serve {entry.plural}"
    return f"{error.status} {error.reason}"


def _decode(fields: dict[str, msgspec.Raw], api_version: str, kind: str) -> KubeObject:
    """One object without status, its managed fields still raw."""
    one: KubeObject = {"apiVersion": api_version, "kind": kind}
    for key, raw in fields.items():
        if key == "metadata":
            one["metadata"] = decode_metadata(_metadata_decoder.decode(raw))
        elif key not in {"status", "apiVersion", "kind"}:
            one[key] = msgspec.json.decode(raw)
    return one


def decode_metadata(fields: Mapping[str, msgspec.Raw]) -> dict[str, Any]:
    """Metadata whose managed fields are left as raw JSON."""
    return {
        name: value if name == "managedFields" else msgspec.json.decode(value)
        for name, value in fields.items()
    }
