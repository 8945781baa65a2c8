"""One workload on its way to an agent: what is left to import, and what was found so far."""

from collections.abc import Iterable, Sequence
from typing import Any

from holdfast.convert.workloads.containers import Fields
from holdfast.convert.workloads.pods import claim_fields, escaped_paths
from holdfast.convert.workloads.remainder import Findings, Remainder, Remark
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of


class PendingImport:
    """A workload that shrinks as its fields are imported.

    Attributes:
        ref: The workload.
        workload: As it was.
        others: The other objects, which are no workloads.
        findings: What is lost, and what is said otherwise.
        left: What is not imported yet.
        taken: Objects that the agent replaces.
    """

    def __init__(self, workload: KubeObject, others: Sequence[KubeObject]) -> None:
        self.ref = reference_of(workload)
        self.workload = workload
        self.others = others
        self.findings = Findings()
        self.left = Remainder(workload)
        self.taken: list[ObjectRef] = [self.ref]

    def own_claims(self, spec: Fields, claims: Iterable[KubeObject], reason: str) -> None:
        """Claims that the workload's controller makes, mounted as storage of the agent."""
        overrides = spec.get("overrides", {})
        mounts = (overrides.get("containers") or [{}])[0].get("volumeMounts", [])
        for claim in claims:
            name = claim["metadata"]["name"]
            own = [mount for mount in mounts if mount["name"] == name]
            if len(own) != 1:
                self.lose(f"spec.volumeClaimTemplates[name={name}]", claim["spec"], "not mounted")
                continue
            mounts.remove(own[0])
            entry = {"name": name, "mountPath": own[0]["mountPath"]} | claim_fields(claim["spec"])
            spec.setdefault("volumes", []).append(entry)
            if reason:
                self.change(f"spec.volumeClaimTemplates[name={name}]", name, reason)
        self._tidy(spec)

    def from_overrides(self, spec: Fields, field: str) -> Any:  # noqa: ANN401 - any JSON value
        """A field of the pod that this kind of workload has a field of its own for."""
        value = spec.get("overrides", {}).pop(field, None)
        self._tidy(spec)
        return value

    def _tidy(self, spec: Fields) -> None:
        """Drop what of the escape hatch says nothing any more, and note what is left of it."""
        overrides = spec.get("overrides", {})
        for container in list(overrides.get("containers", [])):
            if not container.get("volumeMounts", True):
                del container["volumeMounts"]
            if set(container) == {"name"}:
                overrides["containers"].remove(container)
        if not overrides.get("containers", True):
            del overrides["containers"]
        if not overrides:
            spec.pop("overrides", None)
        self.findings.escaped[:] = escaped_paths(overrides)

    def lose(self, path: str, value: Any, reason: str) -> None:  # noqa: ANN401 - any JSON value
        """Note what no field of a manifest says."""
        self.findings.lost.append(Remark(self.ref, path, value, reason))

    def change(self, path: str, value: Any, reason: str) -> None:  # noqa: ANN401 - any JSON value
        """Note what is said otherwise from now on."""
        self.findings.changed.append(Remark(self.ref, path, value, reason))
