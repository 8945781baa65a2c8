"""What stands beside a workload and belongs to it: Service, autoscaler, budget, account, rights."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from holdfast.convert.workloads.containers import Fields
from holdfast.convert.workloads.remainder import Findings, Remainder, Remark
from holdfast.kube.objects import KubeObject, ObjectRef, mapping_at, reference_of


class Belongings:
    """The objects of one namespace, of which a workload's own are taken into its manifest."""

    def __init__(
        self, workload: KubeObject, labels: Mapping[str, str], others: Iterable[KubeObject]
    ) -> None:
        self._workload = reference_of(workload)
        self._labels = labels
        self._others = [
            each for each in others if reference_of(each).namespace == self._workload.namespace
        ]
        self.taken: list[ObjectRef] = []

    def carry(
        self, fields: Fields, account: str, ports: Mapping[str, int], findings: Findings
    ) -> None:
        """Add to a spec what the workload's own objects say."""
        for other in self._others:
            kind, left = other["kind"], Remainder(mapping_at(other, "spec"))
            if kind == "Service" and self._selects(left.look("selector")):
                self._service(fields, left, ports)
            elif kind == "HorizontalPodAutoscaler" and self._is_target(left.look("scaleTargetRef")):
                _autoscaler(fields, left)
            elif kind == "PodDisruptionBudget" and self._selects(
                mapping_at(left.look("selector") or {}, "matchLabels")
            ):
                left.take("selector")
                if (most := left.take("maxUnavailable")) is not None:
                    fields["availability"] = {"pdb": {"maxUnavailable": most}}
            elif kind == "ServiceAccount" and other["metadata"]["name"] == account:
                left = _account(fields, other, self._workload.name)
            elif kind == "RoleBinding" and self._binds(other, account):
                left = self._rights(fields, other)
            else:
                continue
            self._note(other, left, findings)

    def _note(self, other: KubeObject, left: Remainder, findings: Findings) -> None:
        ref = reference_of(other)
        self.taken.append(ref)
        findings.lost += [
            Remark(ref, f"spec.{path}" if "spec" in other else path, value, "no field says it")
            for path, value in left.leaves()
        ]

    def _selects(self, selector: Any) -> bool:  # noqa: ANN401 - whatever stands there
        if not isinstance(selector, Mapping) or not selector:
            return False
        return all(self._labels.get(key) == value for key, value in selector.items())

    def _is_target(self, target: Any) -> bool:  # noqa: ANN401 - whatever stands there
        return isinstance(target, Mapping) and (target.get("kind"), target.get("name")) == (
            self._workload.kind,
            self._workload.name,
        )

    def _service(self, fields: Fields, left: Remainder, ports: Mapping[str, int]) -> None:
        left.take("selector")
        left.drop_equal(
            {
                "type": "ClusterIP",
                "sessionAffinity": "None",
                "internalTrafficPolicy": "Cluster",
                "ipFamilyPolicy": "SingleStack",
            }
        )
        for allocated in ("clusterIP", "clusterIPs", "ipFamilies"):
            if left.look(allocated) not in ("None", ["None"]):
                left.take(allocated)
        rest = []
        for port in left.take("ports") or []:
            target = port.get("targetPort", port["port"])
            number = ports.get(target, target) if isinstance(target, str) else target
            if number == port["port"] and port.get("protocol", "TCP") == "TCP":
                fields.setdefault("ports_served", []).append(number)
            else:
                rest.append(port)
        if rest:
            left.left["ports"] = rest

    def _binds(self, binding: KubeObject, account: str) -> bool:
        return any(
            (each.get("kind"), each.get("name")) == ("ServiceAccount", account)
            for each in binding.get("subjects") or ()
        )

    def _rights(self, fields: Fields, binding: KubeObject) -> Remainder:
        reference = binding.get("roleRef", {})
        for other in self._others:
            if (other["kind"], other["metadata"]["name"]) == ("Role", reference.get("name")):
                rules = [
                    {
                        key: rule[key]
                        for key in ("apiGroups", "resources", "verbs", "resourceNames")
                        if rule.get(key)
                    }
                    for rule in other.get("rules") or ()
                ]
                fields.setdefault("security", {})["rbac"] = [{"rules": rules}]
                self.taken.append(reference_of(other))
                return Remainder({})
        return Remainder({"roleRef": reference})


def _autoscaler(fields: Fields, left: Remainder) -> None:
    left.take("scaleTargetRef")
    metrics, rest = [], []
    for metric in left.take("metrics") or []:
        found = _metric(metric)
        metrics.append(found) if found else rest.append(metric)
    if rest:
        left.left["metrics"] = rest
    if (percent := left.take("targetCPUUtilizationPercentage")) is not None:
        metrics.append({"type": "Resource", "name": "cpu", "target": percent})
    least, most = left.take("minReplicas", default=1), left.take("maxReplicas")
    fields["scaling"] = {"minReplicas": least, "maxReplicas": most, "metrics": metrics}
    if behavior := left.take("behavior"):
        fields["scaling"]["behavior"] = behavior


def _metric(metric: Mapping[str, Any]) -> Fields | None:
    kind = metric.get("type")
    if kind == "Resource":
        target = mapping_at(metric, "resource", "target")
        if target.get("type") == "Utilization":
            name = metric["resource"]["name"]
            return {"type": kind, "name": name, "target": target["averageUtilization"]}
    elif kind in {"Pods", "External"}:
        source = mapping_at(metric, kind.lower())
        target, named = mapping_at(source, "target"), mapping_at(source, "metric")
        amount = str(target.get("averageValue", ""))
        if target.get("type") == "AverageValue" and amount.isdigit() and set(named) == {"name"}:
            return {"type": kind, "name": named["name"], "target": int(amount)}
    return None


def _account(fields: Fields, account: KubeObject, workload: str) -> Remainder:
    left = Remainder(account)
    for taken in ("apiVersion", "kind", "metadata", "secrets"):
        left.take(taken)
    if account["metadata"]["name"] != workload:
        return Remainder({})
    security = fields.setdefault("security", {})
    if annotations := mapping_at(account, "metadata", "annotations"):
        security["serviceAccount"] = {"annotations": dict(annotations)}
    left.take("automountServiceAccountToken")
    return left


def unclaimed(objects: Iterable[KubeObject], taken: Iterable[ObjectRef]) -> Iterator[ObjectRef]:
    """Objects that no agent has taken; they stay what they are."""
    known = {ref.identity for ref in taken}
    for each in objects:
        ref = reference_of(each)
        if ref.identity not in known:
            yield ref
