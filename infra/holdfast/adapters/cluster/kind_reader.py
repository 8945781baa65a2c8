"""Read the objects of one kind: paginated LISTs, in as few requests as that takes.

Objects are decoded without their status, and with managed fields left as raw JSON until
they are needed. What cannot be read is noted for the objects it concerns, with the reason.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.bodies import (
    Page,
    RawObject,
    decode_head,
    decode_object,
    decode_page,
    decode_raw,
)
from holdfast.adapters.cluster.client import JSON, ApiClient, path_of
from holdfast.errors import ClusterError, LoginError
from holdfast.kube.objects import Identity, KubeObject, ObjectRef
from holdfast.kube.structure import KindEntry

PAGE_OBJECTS: Final = 500
MOST_CONFIRMED_ONE_BY_ONE: Final = 10
"""More objects missing than that are confirmed by one more LIST."""

METADATA_ONLY: Final = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


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
        unchanged: What is there in the version that was known already; not decoded.
        settled: What is there, and of which nothing more is wanted; not kept.
        unread: Wanted objects that could not be read.
        versions: Namespace (empty for the whole cluster) to the version of its list.
        requests: How many were sent.
    """

    objects: dict[Identity, KubeObject] = field(default_factory=dict)
    unchanged: set[Identity] = field(default_factory=set)
    settled: set[Identity] = field(default_factory=set)
    versions: dict[str, str] = field(default_factory=dict)
    unread: dict[Identity, Unread] = field(default_factory=dict)
    requests: int = 0

    @property
    def there(self) -> set[Identity]:
        """Everything that is there, kept or not."""
        return {*self.objects, *self.unchanged, *self.settled}


@dataclass(frozen=True)
class ListOptions:
    """How a LIST is asked for.

    Attributes:
        accept: Media type: whole objects, or their metadata only.
        selector: Label selector; empty for all objects.
        name: Name of the only object that is wanted; empty for all.
        field_selector: Of the kind's own fields; empty for all objects.
        known: Versions of objects that need not be decoded again.
        keeps_status: Objects are decoded with their status.
        is_settled: Whether nothing more is wanted of an object, so that it need not be kept: of a
            large cluster only what is used stays in memory.
    """

    accept: str = JSON
    selector: str = ""
    name: str = ""
    field_selector: str = ""
    known: Mapping[Identity, str] = field(default_factory=dict)
    keeps_status: bool = False
    is_settled: Callable[[Identity, KubeObject], bool] = lambda _, __: False

    @property
    def selection(self) -> dict[str, str]:
        """What of the URL chooses objects."""
        named = f"metadata.name={self.name}" if self.name else ""
        chosen = {"fieldSelector": named or self.field_selector}
        chosen["labelSelector"] = self.selector
        return {key: value for key, value in chosen.items() if value}


class KindReader:
    """Reads the objects of one kind."""

    def __init__(
        self,
        client: ApiClient,
        entry: KindEntry | None,
        refs: list[ObjectRef],
        question: ListOptions | None = None,
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
        self.question = question or ListOptions()
        self.refs = refs
        self.listing = Listing()

    def read(self) -> ClusterError | None:
        """Read everything; a failure is returned after it was noted for the objects it concerns."""
        if self.entry is None:
            self._note(self.refs, self.kind, f"the server does not serve {self.api_version}")
            return None
        failure = self.list_everywhere()
        self.confirm_missing(self.entry)
        return failure

    def list_everywhere(self) -> ClusterError | None:
        """LIST the kind wherever it is wanted, in as few requests as that takes."""
        entry = self.entry
        assert entry is not None  # noqa: S101  (what is not served is not listed)
        namespaces = sorted({ref.namespace for ref in self.refs})
        if not entry.is_namespaced:
            if len(self.refs) == 1:
                self.question = replace(self.question, name=self.refs[0].name)
            return self.list_place("", self.refs)
        if len(namespaces) > 1:
            failure = self.list_place("", self.refs, most_pages=len(namespaces))
            if failure is None:
                return None
            if not (isinstance(failure, ApiError) and failure.is_forbidden) and not isinstance(
                failure, _TooManyPagesError
            ):
                return failure
            self.listing.unread.clear()
        failures = [
            self.list_place(namespace, [ref for ref in self.refs if ref.namespace == namespace])
            for namespace in namespaces
        ]
        return next((failure for failure in failures if failure), None)

    def list_place(
        self, namespace: str, refs: list[ObjectRef], *, most_pages: int = 0
    ) -> ClusterError | None:
        """LIST one namespace, or the whole cluster; on failure what is wanted there is unread."""
        assert self.entry is not None  # noqa: S101  (read() has looked)
        path = path_of(self.api_version, self.entry.plural, namespace)
        for is_last in (False, True):
            try:
                version = ""
                for page in self._pages(path, most_pages):
                    version = page.metadata.resource_version
                    for item in page.items or ():
                        self._keep(item)
                self.listing.versions[namespace] = version
            except LoginError:
                raise
            except ApiError as error:
                if error.is_expired and not is_last:
                    self._forget(namespace)
                    continue  # the list grew too old to be continued: begin again
                self._note(
                    refs, self._scope(namespace), unread_reason(error, self.entry, namespace)
                )
                return error
            except (ClusterError, msgspec.DecodeError, RecursionError) as error:
                self._note(refs, self._scope(namespace), str(error))
                return error if isinstance(error, ClusterError) else ClusterError(str(error))
            return None
        raise AssertionError  # the second try returns or raises

    def _pages(self, path: str, most_pages: int) -> Iterable[Page]:
        query: dict[str, str | int] = {"limit": PAGE_OBJECTS, **self.question.selection}
        while True:
            page = self._page(path, query)
            remaining = page.metadata.remaining_item_count or 0
            if most_pages and 1 + -(-remaining // PAGE_OBJECTS) > most_pages:
                raise _TooManyPagesError
            most_pages = 0
            yield page
            if not page.metadata.continue_:
                return
            query["continue"] = page.metadata.continue_

    def _page(self, path: str, query: Mapping[str, str | int]) -> Page:
        """One page, asked for once more when it came damaged: never a part of one."""
        self.listing.requests += 1
        try:
            return decode_page(self.client.get(path, query, self.question.accept))
        except msgspec.DecodeError:
            self.listing.requests += 1
            return decode_page(self.client.get(path, query, self.question.accept))

    def _scope(self, namespace: str) -> str:
        return f"{self.kind} in {namespace}" if namespace else self.kind

    def _note(self, refs: Collection[ObjectRef], scope: str, reason: str) -> None:
        for ref in refs:
            self.listing.unread[ref.identity] = Unread(scope, reason)

    def _forget(self, namespace: str) -> None:
        """Drop what half a list has shown: some of it may be gone by now."""
        listing = self.listing
        kept = {key for key in listing.there if namespace and key.namespace != namespace}
        listing.objects = {key: one for key, one in listing.objects.items() if key in kept}
        listing.unchanged &= kept
        listing.settled &= kept

    def _keep(self, fields: RawObject) -> None:
        head = decode_head(fields["metadata"])
        identity = Identity(self.group, self.kind, head.namespace, head.name)
        self.listing.unread.pop(identity, None)
        if head.resource_version and self.question.known.get(identity) == head.resource_version:
            self.listing.unchanged.add(identity)
            return
        one = decode_object(
            fields, self.api_version, self.kind, keeps_status=self.question.keeps_status
        )
        if self.question.is_settled(identity, one):
            self.listing.settled.add(identity)
        else:
            self.listing.objects[identity] = one

    def confirm_missing(self, entry: KindEntry) -> None:
        """A second read of what a LIST did not show: it may have been made between two pages."""
        known = self.listing.there | self.listing.unread.keys()
        missing = [ref for ref in self.refs if ref.name and ref.identity not in known]
        # By a selector one more LIST would not show an object that has lost its labels.
        if len(missing) > MOST_CONFIRMED_ONE_BY_ONE and not self.question.selector:
            self.list_everywhere()
            return
        for ref in missing:
            path = path_of(self.api_version, entry.plural, ref.namespace, ref.name)
            self.listing.requests += 1
            try:
                body = self.client.get(path)
                self._keep(decode_raw(body))
            except LoginError:
                raise
            except ApiError as error:
                if not error.is_absent:
                    self._note([ref], str(ref), unread_reason(error, entry, ref.namespace))
            except (ClusterError, msgspec.DecodeError, RecursionError) as error:
                self._note([ref], str(ref), str(error))


class _TooManyPagesError(ClusterError):
    """The whole cluster holds so many objects that asking each namespace takes fewer requests."""

    def __init__(self) -> None:
        super().__init__("more pages than namespaces")


def unread_reason(
    error: ApiError, entry: KindEntry, namespace: str, verbs: str = "get and list"
) -> str:
    """Why a kind could not be read, and what would help."""
    if error.is_forbidden:
        where = f"in namespace {namespace}" if namespace else "in the whole cluster"
        return f"forbidden: grant {verbs} on {entry.plural} {where}"
    if error.is_absent:
        return f"the server does not serve {entry.plural}"
    return f"{error.status} {error.reason}"
