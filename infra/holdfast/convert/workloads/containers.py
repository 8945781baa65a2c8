"""A container as fields of an agent."""

import re
from collections.abc import Mapping
from typing import Any, Final

from holdfast.convert.workloads.remainder import Findings, Remainder

Fields = dict[str, Any]
_HTTP_NAMES: Final = ("http", "web", "http1", "https", "api", "server")
_DIGEST: Final = re.compile(r"@sha256:[0-9a-f]{64}$")
_PROBE_FIELDS: Final = (
    "initialDelaySeconds",
    "periodSeconds",
    "timeoutSeconds",
    "successThreshold",
    "failureThreshold",
    "terminationGracePeriodSeconds",
)
_API_PROBE: Final = {"timeoutSeconds": 1, "periodSeconds": 10, "failureThreshold": 3}
_DEFAULTS: Final = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "securityContext": {},
    "resources": {},
}


class Container:
    """The main container of a pod, taken apart."""

    def __init__(self, left: Remainder, digests: Mapping[str, str], findings: Findings) -> None:
        self._left = left
        self._digests = digests
        self._findings = findings
        self.ports, self.other_ports = _ports(left)

    def fields(self, *, is_called: bool) -> Fields:
        """Every field of the agent's spec that the container says."""
        left = self._left
        left.drop_equal(_DEFAULTS)
        fields: Fields = {"image": pinned(left.take("image"), self._digests, self._findings)}
        for name in ("command", "args", "workingDir"):
            if value := left.take(name):
                fields[name] = value
        fields |= self._environment()
        fields |= self._resources()
        fields |= self._security()
        if is_called:
            fields |= self._served()
        return fields

    def expose_port(self) -> int | None:
        """Port that callers use: by its name, else the first one."""
        for name in _HTTP_NAMES:
            if name in self.ports:
                return self.ports[name]
        return next(iter(self.ports.values()), None)

    def _environment(self) -> Fields:
        known, other = [], []
        for entry in self._left.take("env") or []:
            source = entry.get("valueFrom")
            if source is None:
                known.append({"name": entry["name"], "value": entry.get("value", "")})
            elif _is_known_source(source):
                known.append({"name": entry["name"], "valueFrom": _source(source)})
            else:
                other.append(entry)
        if other:
            self._left.left["env"] = other
        fields: Fields = {"env": known} if known else {}
        whole: list[Fields] = []
        rest: list[Fields] = []
        for entry in self._left.take("envFrom") or []:
            is_known = set(entry) <= {"prefix", "configMapRef", "secretRef"}
            (whole if is_known else rest).append(entry)
        if rest:
            self._left.left["envFrom"] = rest
        return fields | ({"envFrom": whole} if whole else {})

    def _resources(self) -> Fields:
        requests = _texts(self._left.take("resources", "requests"))
        limits = _texts(self._left.take("resources", "limits"))
        # Kubernetes' own rule where a request is absent.
        requests = limits | requests
        written = {"requests": requests, "limits": limits}
        return {"resources": {k: v for k, v in written.items() if v}} if requests or limits else {}

    def _security(self) -> Fields:
        is_read_only = self._left.take("securityContext", "readOnlyRootFilesystem") is True
        security: Fields = {} if is_read_only else {"readOnlyRootFilesystem": False}
        if context := self._left.take("securityContext"):
            security["securityContext"] = context
        return {"security": security} if security else {}

    def _served(self) -> Fields:
        probes = {
            name: _probe(self._left.take(f"{name}Probe"), self.ports) or {"enabled": False}
            for name in ("startup", "liveness", "readiness")
        }
        if probes["startup"] == {"enabled": False}:
            del probes["startup"]
        # Not absent: what was never asked is not asked now.
        fields: Fields = {"probes": probes}
        if hook := self._left.take("lifecycle", "preStop"):
            stop = _pre_stop(hook, self.ports)
            if stop is None:
                self._left.left.setdefault("lifecycle", {})["preStop"] = hook
            else:
                fields["preStop"] = stop
        return fields


def pinned(image: str, digests: Mapping[str, str], findings: Findings) -> str:
    """The image with its digest; without one, as it is, and noted as still to be pinned."""
    if _DIGEST.search(image):
        name, _, digest = image.partition("@")
        return f"{_without_tag(name)}@{digest}"
    if digest := digests.get(image, ""):
        return f"{_without_tag(image)}@{digest}"
    if image not in findings.images:
        findings.images.append(image)
    return image


def tag_of(image: str) -> str:
    """Tag of an image; empty without one."""
    name = image.partition("@")[0]
    return name[len(_without_tag(name)) + 1 :]


def _without_tag(name: str) -> str:
    folder, separator, last = name.rpartition("/")
    return f"{folder}{separator}{last.partition(':')[0]}"


def _ports(left: Remainder) -> tuple[dict[str, int], list[Fields]]:
    """Name to number of the TCP ports, and the others as a manifest has them.

    What more is said of a port, such as one of the host, is left.
    """
    ports: dict[str, int] = {}
    others: list[Fields] = []
    rest: list[Fields] = []
    for index, port in enumerate(left.take("ports") or []):
        name, number = port.get("name") or f"port-{index}", port["containerPort"]
        protocol = port.get("protocol", "TCP")
        if set(port) - {"name", "containerPort", "protocol"}:
            rest.append(port)
        elif protocol == "TCP":
            ports[name] = number
        else:
            others.append({"name": name, "containerPort": number, "protocol": protocol})
    if rest:
        left.left["ports"] = rest
    return ports, others


def _is_known_source(source: Mapping[str, Any]) -> bool:
    if len(source) != 1:
        return False
    [(kind, reference)] = source.items()
    if kind == "fieldRef":
        return bool(reference.get("apiVersion", "v1") == "v1")
    return kind in {"secretKeyRef", "configMapKeyRef"} and set(reference) <= {
        "name",
        "key",
        "optional",
    }


def _source(source: Mapping[str, Any]) -> Fields:
    [(kind, reference)] = source.items()
    return {kind: {key: value for key, value in reference.items() if key != "apiVersion"}}


def _texts(amounts: Mapping[str, Any] | None) -> dict[str, str]:
    return {name: str(amount) for name, amount in (amounts or {}).items()}


def _number(port: Any, ports: Mapping[str, int]) -> Any:  # noqa: ANN401 - a name or a number
    return ports.get(port, port) if isinstance(port, str) else port


def _probe(probe: Mapping[str, Any] | None, ports: Mapping[str, int]) -> Fields | None:
    if probe is None:
        return None
    fields = {
        name: value
        for name in _PROBE_FIELDS
        if (value := probe.get(name, _API_PROBE.get(name))) is not None
        and (name, value) != ("successThreshold", 1)
    }
    if action := probe.get("httpGet"):
        get = {"path": action.get("path", "/"), "port": _number(action["port"], ports)}
        for key in ("scheme", "httpHeaders"):
            if action.get(key) not in (None, "HTTP"):
                get[key] = action[key]
        return {"httpGet": get} | fields
    if action := probe.get("exec"):
        return {"exec": {"command": action["command"]}} | fields
    if action := probe.get("grpc"):
        return {"grpc": {k: v for k, v in action.items() if v}} | fields
    return {"tcpSocket": {"port": _number(probe["tcpSocket"]["port"], ports)}} | fields


def _pre_stop(hook: Mapping[str, Any], ports: Mapping[str, int]) -> Fields | None:
    """The hook as a manifest has it; None for one that it does not know, such as tcpSocket."""
    if "exec" in hook or "sleep" in hook:
        return dict(hook)
    get = dict(hook.get("httpGet") or {})
    if not get or set(get) - {"path", "port", "scheme", "httpHeaders"}:
        return None
    return {"httpGet": get | {"port": _number(get["port"], ports)}}
