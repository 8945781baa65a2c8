"""The audit log while it is written: who changed what, and who entered which pod. Wiring."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.adapters.cluster.audit_log import AuditTail
from holdfast.drift.cause.attribution import AuditTrail, session_findings
from holdfast.drift.finding import Finding, Objects
from holdfast.errors import InputError
from holdfast.kube.objects import Identity


@dataclass
class FollowedLog:
    """A log that a watch follows; one thread reads it."""

    tail: AuditTail
    trail: AuditTrail = field(default_factory=AuditTrail)
    _entered: set[Identity] = field(default_factory=set)

    @classmethod
    def of(cls, file: Path) -> "FollowedLog":
        """Follow a file.

        Raises:
            InputError: it is a folder.
        """
        if not file.is_file():
            raise InputError(
                f"--audit-log {file}: a watch follows one file",
                remedy="name the file that the API server writes to",
            )
        return cls(AuditTail(file))

    def read(self) -> AuditTrail:
        """All entries so far."""
        new = list(self.tail.read_new())
        self.trail.add(new)
        self._entered |= {
            Identity("", "Pod", one.namespace, one.name) for one in new if one.enters_pod
        }
        return self.trail

    def take_entered(self) -> frozenset[Identity]:
        """Pods that were entered since the last call."""
        self.read()
        entered, self._entered = self._entered, set()
        return frozenset(entered)

    def sessions_of(
        self, namespaces: set[str]
    ) -> tuple[Callable[[Objects], Iterable[Finding]], Callable[[], frozenset[Identity]]]:
        """What a watch asks about sessions in pods of some namespaces: of which pods, and where."""

        def found(objects: Objects) -> Iterable[Finding]:
            return session_findings(objects.values(), self.trail, namespaces - {""})

        return found, self.take_entered
