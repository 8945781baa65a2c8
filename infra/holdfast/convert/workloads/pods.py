"""A pod's spec as fields of an agent: placement, volumes, containers beside the main one."""

from collections.abc import Mapping
from typing import Any, Final

from holdfast.convert.workloads.containers import Container, Fields, pinned
from holdfast.convert.workloads.remainder import Findings, Remainder
from holdfast.kube.objects import KubeObject

MAIN = "agent"
_FILE_MODE: Final = 0o644
_PLACEMENT: Final = (
    "priorityClassName",
    "runtimeClassName",
    "nodeSelector",
    "tolerations",
    "affinity",
    "topologySpreadConstraints",
)
_DEFAULTS: Final = {
    "dnsPolicy": "ClusterFirst",
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "enableServiceLinks": True,
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
}
_PULL_POLICIES: Final = ("Always", "IfNotPresent")


class Pod:
    """The spec of a workload's pods, taken apart."""

    def __init__(
        self,
        left: Remainder,
        *,
        workload: str,
        agent: str,
        digests: Mapping[str, str],
        objects: Mapping[tuple[str, str], KubeObject],
        findings: Findings,
    ) -> None:
        self._left = left
        self._agent = agent
        self._digests = digests
        self._objects = objects
        self._findings = findings
        left.drop_equal(_DEFAULTS)
        containers = left.take("containers") or []
        names = [each.get("name") for each in containers]
        index = next((names.index(each) for each in (MAIN, workload) if each in names), 0)
        self._main = Remainder.of(containers.pop(index))
        self._others = containers
        self.image = str(self._main.look("image") or "")
        self.container = Container(self._main, digests, findings)
        self.used: list[tuple[str, str]] = []

    def fields(self, *, is_called: bool) -> Fields:
        """Every field of the agent's spec that the pods say, `overrides` for the rest."""
        left = self._left
        self._main.take("name")
        if self._main.look("imagePullPolicy") in _PULL_POLICIES:
            self._main.take("imagePullPolicy")
        fields = self.container.fields(is_called=is_called)
        for name in _PLACEMENT:
            if value := left.take(name):
                fields[name] = value
        if secrets := left.take("imagePullSecrets"):
            fields["imagePullSecrets"] = secrets
        self._security(fields)
        if (seconds := left.take("terminationGracePeriodSeconds")) is not None:
            fields["terminationGracePeriodSeconds"] = seconds
        self._volumes(fields)
        self._beside(fields)
        if rest := self._overrides():
            fields["overrides"] = rest
        return fields

    def _security(self, fields: Fields) -> None:
        security = fields.setdefault("security", {})
        if context := self._left.take("securityContext"):
            security["podSecurityContext"] = context
        if self._left.take("automountServiceAccountToken") is True:
            security["automountToken"] = True
        self._left.take("serviceAccount")
        name = self._left.take("serviceAccountName")
        if name not in (None, "default", self._agent):
            security["serviceAccount"] = {"create": False, "name": name}
        if not security:
            del fields["security"]

    def _volumes(self, fields: Fields) -> None:
        """Volumes that a manifest knows; what it does not know stays with its mount."""
        mounts = self._main.take("volumeMounts") or []
        volumes = {each["name"]: each for each in self._left.take("volumes") or []}
        others: list[KubeObject] = []
        for mount in mounts:
            volume = volumes.get(mount["name"], {})
            uses = [each for each in mounts if each["name"] == mount["name"]]
            found = self._volume(mount, volume) if len(uses) == 1 else None
            if found is None:
                others.append(mount)
                continue
            field, entry = found
            fields.setdefault(field, []).append(entry)
            if not self._is_shared(mount["name"]):
                volumes.pop(mount["name"], None)
        if others:
            self._main.left["volumeMounts"] = others
        if volumes:
            self._left.left["volumes"] = list(volumes.values())

    def _is_shared(self, volume: str) -> bool:
        """Whether another container mounts the volume, too, so that it must stay."""
        beside = [*self._others, *(self._left.look("initContainers") or [])]
        return any(
            mount["name"] == volume
            for container in beside
            for mount in container.get("volumeMounts", ())
        )

    def _volume(
        self, mount: Mapping[str, Any], volume: Mapping[str, Any]
    ) -> tuple[str, Fields] | None:
        if set(mount) - {"name", "mountPath", "readOnly"} or self._is_shared(mount["name"]):
            return None
        name, path = mount["name"], mount["mountPath"]
        if "persistentVolumeClaim" in volume and not mount.get("readOnly"):
            claim = volume["persistentVolumeClaim"]
            if set(claim) == {"claimName"}:
                return "volumes", self._claim(name, claim["claimName"], path)
        source = _plain(volume.get("secret"))
        if set(source) == {"secretName"}:
            return "secrets", {"name": name, "ref": source["secretName"], "mountPath": path}
        source = _plain(volume.get("configMap"))
        if set(source) == {"name"}:
            return "config", self._config(name, source["name"], path)
        return None

    def _claim(self, name: str, claim: str, path: str) -> Fields:
        declared = self._objects.get(("PersistentVolumeClaim", claim))
        suffix = claim.removeprefix(f"{self._agent}-")
        if declared is None or suffix == claim:
            # Its data belongs to it: another claim would begin empty.
            return {"name": name[:50], "existingClaim": claim, "mountPath": path}
        self.used.append(("PersistentVolumeClaim", claim))
        return {"name": suffix, "mountPath": path} | claim_fields(declared["spec"])

    def _config(self, name: str, config_map: str, path: str) -> Fields:
        declared = self._objects.get(("ConfigMap", config_map))
        entry: Fields = {"name": name[:20], "mountPath": path}
        if declared is None or declared.get("binaryData") or not declared.get("data"):
            return entry | {"from": config_map}
        self.used.append(("ConfigMap", config_map))
        return entry | {"data": declared["data"]}

    def _beside(self, fields: Fields) -> None:
        """Further containers, in Kubernetes' own words; their images need digests, too."""
        for field, containers in (
            ("sidecars", self._others),
            ("initContainers", self._left.take("initContainers") or []),
        ):
            if containers:
                fields[field] = [
                    each | {"image": pinned(each["image"], self._digests, self._findings)}
                    for each in containers
                ]
                for each in fields[field]:
                    each.pop("imagePullPolicy", None)
                    for key in ("terminationMessagePath", "terminationMessagePolicy"):
                        each.pop(key, None)

    def _overrides(self) -> Fields:
        """What only the escape hatch can say."""
        rest: Fields = dict(self._left.left)
        self._left.left.clear()
        if self._main.left:
            rest["containers"] = [{"name": MAIN} | self._main.left]
        self._findings.escaped += escaped_paths(rest)
        return rest


def _plain(source: Mapping[str, Any] | None) -> Fields:
    """A volume's source without the mode that its files have anyway."""
    items = (source or {}).items()
    return {key: value for key, value in items if (key, value) != ("defaultMode", _FILE_MODE)}


def escaped_paths(overrides: Mapping[str, Any]) -> list[str]:
    """Fields that stand in `pod.overrides`; names only say where."""
    return [path for path, _ in Remainder(overrides).leaves() if not path.endswith(".name")]


def claim_fields(spec: Mapping[str, Any]) -> Fields:
    """Fields of `storage.volumes[]` that a claim's spec says."""
    fields: Fields = {"size": str(spec.get("resources", {}).get("requests", {}).get("storage", ""))}
    if storage_class := spec.get("storageClassName"):
        fields["storageClassName"] = storage_class
    if modes := spec.get("accessModes"):
        fields["accessModes"] = modes
    return fields
