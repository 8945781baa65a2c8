"""What a watch reports: everything that is there, one object that moved, or that it is blind."""

from dataclasses import dataclass, field

from holdfast.adapters.cluster.kind_reader import Listing, ListOptions
from holdfast.kube.objects import Identity, KubeObject, ObjectRef
from holdfast.kube.structure import KindEntry


@dataclass(frozen=True)
class WatchedKind:
    """A kind that is watched.

    Attributes:
        entry: What the kind is called; None when it is not served.
        refs: What is wanted, at least one, all of this kind; a name may be empty.
        question: How a LIST of it is asked for.
        is_declared: Objects of the kind are declared: blind for it is blind at all.
    """

    entry: KindEntry | None
    refs: tuple[ObjectRef, ...]
    question: ListOptions = field(default_factory=ListOptions)
    is_declared: bool = True

    @property
    def api_version(self) -> str:
        """API version of all its objects."""
        return self.refs[0].api_version

    @property
    def kind(self) -> str:
        """Kind of all its objects."""
        return self.refs[0].kind

    @property
    def key(self) -> tuple[str, tuple[ObjectRef, ...]]:
        """What stays the same when the kind is planned again."""
        return self.kind, self.refs

    @property
    def namespaces(self) -> frozenset[str]:
        """Where objects are wanted."""
        return frozenset(ref.namespace for ref in self.refs)


@dataclass(frozen=True)
class WatchScope:
    """One stream: a kind in one namespace, or in the whole cluster where that is empty."""

    kind: WatchedKind = field(compare=False)
    kind_name: str
    namespace: str = ""

    def __str__(self) -> str:
        return f"{self.kind_name} in {self.namespace}" if self.namespace else self.kind_name

    @property
    def refs(self) -> list[ObjectRef]:
        """What is wanted in the place."""
        return [ref for ref in self.kind.refs if self.namespace in ("", ref.namespace)]


@dataclass(frozen=True)
class Snapshot:
    """Everything that is in a place, as one LIST showed it, absences confirmed.

    Attributes:
        listing: Objects that are new or changed, identities of those that are not, and what of
            the place could not be read.
        seconds: Monotonic time at which it was asked for.
        is_restart: Not the first one of the place: the stream had to begin again.
    """

    place: WatchScope
    listing: Listing
    seconds: float
    is_restart: bool = False


@dataclass(frozen=True)
class Moved:
    """One object was made, changed or, where `live` is None, deleted.

    Attributes:
        seconds: Monotonic time at which it was heard of.
    """

    place: WatchScope
    identity: Identity
    live: KubeObject | None
    version: str
    seconds: float


@dataclass(frozen=True)
class WatchLost:
    """What happens in a place is not known from now on."""

    place: WatchScope
    reason: str


@dataclass(frozen=True)
class WatchRecovered:
    """What happens in a place is known again, and nothing was missed."""

    place: WatchScope


@dataclass(frozen=True)
class Planned:
    """Where a kind is watched: in the whole cluster, or namespace by namespace.

    A kind is planned again when its definition came later, then with its entry.
    """

    kind: WatchedKind
    places: tuple[WatchScope, ...]


@dataclass(frozen=True)
class StreamInterrupted:
    """A stream ended before its time; it goes on where it was."""

    place: WatchScope
    reason: str


Change = Snapshot | Moved | WatchLost | WatchRecovered | StreamInterrupted | Planned
