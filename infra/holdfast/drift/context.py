"""What judging an object needs beside it: the last good update, and who wrote what.

Of an object that is in sync only the uid is needed; the rest of the record is read on demand.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from holdfast.drift.cause.attribution import AuditTrail, Evidence
from holdfast.drift.exemption.controllers import Autoscalers, Failovers, Rollouts
from holdfast.drift.exemption.ignore import IgnoreRules
from holdfast.drift.finding import Objects
from holdfast.drift.severity import RuleJudge
from holdfast.kube.managed_fields import FIELD_MANAGER_ANNOTATION, notations_of, read_managed_fields
from holdfast.kube.objects import Identity, KubeObject, ObjectRef, mapping_at
from holdfast.kube.semantics import builtin_types
from holdfast.kube.structure import Structure, TypeTable, builtin_kind


class RecordedObjects(Mapping[Identity, KubeObject]):
    """By identity; what reads an object is asked each time, and may keep it."""

    def __init__(
        self,
        readers: Mapping[Identity, Callable[[], KubeObject]],
        uids: Mapping[Identity, str],
        *,
        read_asked: Callable[[Identity], KubeObject | None] = lambda _: None,
        deployed: Collection[Identity] = (),
    ) -> None:
        """Take what is recorded.

        Args:
            readers: Read each object.
            uids: That each had; empty where it is not known.
            read_asked: Reads what the last update asked for; None where that is not known.
            deployed: Other objects that an update deployed: it failed, or its record cannot be
                trusted.
        """
        self._readers = readers
        self._uids = uids
        self._read_asked = read_asked
        self._deployed = frozenset(deployed)

    def __getitem__(self, identity: Identity) -> KubeObject:
        return self._readers[identity]()

    def __contains__(self, identity: object) -> bool:
        return identity in self._readers

    def __iter__(self) -> Iterator[Identity]:
        return iter(self._readers)

    def __len__(self) -> int:
        return len(self._readers)

    def uid_of(self, identity: Identity) -> str:
        """Uid that an object had; empty where there was none."""
        return self._uids.get(identity, "")

    def asked(self, identity: Identity) -> KubeObject | None:
        """What the last update asked for; None where that is not known."""
        return self._read_asked(identity) if self.was_deployed(identity) else None

    def was_deployed(self, identity: Identity) -> bool:
        """Whether an update deployed an object, whatever has become of its record."""
        return identity in self._readers or identity in self._deployed


def asked_object_of(objects: Objects | None, identity: Identity) -> KubeObject | None:
    """What the last update asked for; None where that is not known."""
    return objects.asked(identity) if isinstance(objects, RecordedObjects) else None


def was_deployed(objects: Objects, identity: Identity) -> bool:
    """Whether an update deployed an object, whatever has become of its record."""
    if isinstance(objects, RecordedObjects):
        return objects.was_deployed(identity)
    return identity in objects


def recorded_uid(objects: Objects | None, identity: Identity) -> str:
    """Uid that an object had, without reading the object where that is possible."""
    if isinstance(objects, RecordedObjects):
        return objects.uid_of(identity)
    return uid_of(objects.get(identity, {})) if objects else ""


def uid_of(kube_object: Mapping[str, Any]) -> str:
    """Uid of a live object; empty where it has none."""
    return str(mapping_at(kube_object, "metadata").get("uid") or "")


class AuditTrails(Protocol):
    """An audit log, wherever it is kept."""

    def read(self) -> AuditTrail:
        """Everything that it has so far; read no earlier than when it is first needed."""


@dataclass(frozen=True)
class DriftContext:
    """What judging one object needs to know beside the object.

    Attributes:
        custom_types: Types of custom resources, from the server or from definitions in files.
        baseline: Objects as they were after the last good update; None without a baseline.
        trail: The audit log, read when something is found; None without a log.
        ignore: Drift that is expected; None when there are no rules.
        judge: The policy pack's verdict on one object; None leaves `policies` empty.
        rollouts: What Argo Rollouts may write.
        failovers: Services that the operator may move.
        is_confirmed: Whether an update or an action of ours has confirmed a recreated object.
        is_kept: Whether an update has kept an object that is no longer declared.
        controllers: Controllers that the stack's settings name.
        believes_names: Whether the name of a field manager counts where no user is known.
        find_owner: Reads what an owner reference names, of a kind that was not read.
        declares: Whether another stack of the cluster declares an object; None where none is known.
    """

    autoscalers: Autoscalers
    custom_types: Sequence[TypeTable] = ()
    baseline: Objects | None = None
    trail: AuditTrails | None = None
    ignore: IgnoreRules | None = None
    judge: RuleJudge | None = field(default=None, compare=False)
    rollouts: Rollouts = field(default_factory=Rollouts, compare=False)
    failovers: Failovers = field(default_factory=Failovers, compare=False)
    is_confirmed: Callable[[Mapping[str, Any]], bool] = field(
        default=lambda _: False, compare=False
    )
    is_kept: Callable[[Mapping[str, Any]], bool] = field(default=lambda _: False, compare=False)
    controllers: frozenset[str] = frozenset()
    believes_names: bool = True
    find_owner: Callable[[ObjectRef], KubeObject | None] | None = field(default=None, compare=False)
    declares: Callable[[str, Identity], bool] | None = field(default=None, compare=False)

    def structure_of(self, ref: ObjectRef, live: Mapping[str, Any]) -> Structure:
        """Best known structure: built in, from a definition, or what ownership gives away."""
        for table in (builtin_types(), *self.custom_types):
            structure = table.structure_of(ref.api_version, ref.kind)
            if structure is not None:
                return structure
        other_version = builtin_kind(ref.api_version, ref.kind)
        if other_version is not None:
            return Structure(other_version.type_name, builtin_types())
        learnt = notations_of(read_managed_fields(live).entries)
        types = {**builtin_types().types, **learnt}
        if "root." not in learnt:
            return builtin_types().of_unknown_kind
        types["root."] = {**learnt["root."], "metadata": "meta.v1.ObjectMeta"}
        return Structure("root.", TypeTable(types, {}, {}))

    def evidence_for(self, ref: ObjectRef, desired: Mapping[str, Any]) -> Evidence:
        """What is known about the writes to one object."""
        annotations = mapping_at(desired, "metadata", "annotations")
        events = self.trail.read().of_object(ref) if self.trail is not None else None
        return Evidence(events, str(annotations.get(FIELD_MANAGER_ANNOTATION) or ""))
