"""Types of the fields that rules read, as the API server has them.

A rule that asks `privileged is True` says nothing about `privileged: "true"`, and need not: a value
of a type that the API refuses is named here, once for all rules.
Source: the OpenAPI schemas of Kubernetes 1.36.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from holdfast_policies.decode.secret import SecretText
from holdfast_policies.decode.unknown import (
    PartlyKnownDict,
    PartlyKnownList,
    Unknown,
    is_unknown,
    raw_items,
)
from holdfast_policies.model.kinds import (
    CLAIM,
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CONFIG_MAP,
    INGRESS,
    NETWORK_POLICY,
    POD_TEMPLATE_PATHS,
    ROLE,
    ROLE_BINDING,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
    Kind,
)
from holdfast_policies.model.subject import field_path, item_path, key_path

Typed: TypeAlias = "str | list[Any] | dict[str, Any]"
"""A name of a type, a list with the type of its items, or fields with theirs (`*` for any key)."""

_FLAG, _WHOLE, _TEXT, _MAP, _AMOUNT = (
    "true or false",
    "a whole number",
    "text",
    "a mapping",
    "amount",
)
_NOT_ASKED: Final[frozenset[type]] = frozenset({type(None), Unknown})
"""What is of every type."""
_MAPPINGS: Final[frozenset[type]] = frozenset((dict, PartlyKnownDict))
_KINDS: Final[Mapping[str, frozenset[type]]] = {
    _FLAG: _NOT_ASKED | {bool},
    _WHOLE: _NOT_ASKED,
    _TEXT: _NOT_ASKED | {str, SecretText},
    _MAP: _NOT_ASKED | _MAPPINGS,
    _AMOUNT: _NOT_ASKED | {int, float, str, SecretText},
}
_PLAINLY_WHOLE: Final = 2**63
_TEXTS: Final = {"*": _TEXT}
_REFERENCE: Final = {"name": _TEXT, "optional": _FLAG}
_PROFILE: Final = {"type": _TEXT, "localhostProfile": _TEXT}
_CONTEXT: Final[dict[str, Any]] = {
    "runAsUser": _WHOLE,
    "runAsGroup": _WHOLE,
    "runAsNonRoot": _FLAG,
    "seccompProfile": _PROFILE,
    "appArmorProfile": _PROFILE,
    "seLinuxOptions": _TEXTS,
    "windowsOptions": {"hostProcess": _FLAG, "runAsUserName": _TEXT},
}
_HANDLER: Final[dict[str, Any]] = {
    "exec": {"command": [_TEXT]},
    "httpGet": {"host": _TEXT, "path": _TEXT, "scheme": _TEXT, "httpHeaders": [_TEXTS]},
    "tcpSocket": {"host": _TEXT},
}
_PROBE: Final = {
    **_HANDLER,
    **dict.fromkeys(
        ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "failureThreshold"), _WHOLE
    ),
}
_RESOURCES: Final = {"limits": {"*": _AMOUNT}, "requests": {"*": _AMOUNT}, "claims": [_TEXTS]}
_CONTAINER: Final[dict[str, Any]] = {
    **dict.fromkeys(("name", "image", "workingDir", "imagePullPolicy", "restartPolicy"), _TEXT),
    **dict.fromkeys(("stdin", "stdinOnce", "tty"), _FLAG),
    "command": [_TEXT],
    "args": [_TEXT],
    "env": [{"name": _TEXT, "value": _TEXT, "valueFrom": _MAP}],
    "envFrom": [{"prefix": _TEXT, "configMapRef": _REFERENCE, "secretRef": _REFERENCE}],
    "ports": [
        {
            **dict.fromkeys(("name", "protocol", "hostIP"), _TEXT),
            **dict.fromkeys(("containerPort", "hostPort"), _WHOLE),
        }
    ],
    "volumeMounts": [{"name": _TEXT, "mountPath": _TEXT, "subPath": _TEXT, "readOnly": _FLAG}],
    "volumeDevices": [_TEXTS],
    "resources": _RESOURCES,
    "securityContext": {
        **_CONTEXT,
        **dict.fromkeys(("privileged", "allowPrivilegeEscalation"), _FLAG),
        "readOnlyRootFilesystem": _FLAG,
        "procMount": _TEXT,
        "capabilities": {"add": [_TEXT], "drop": [_TEXT]},
    },
    "lifecycle": {"postStart": _HANDLER, "preStop": _HANDLER},
    "livenessProbe": _PROBE,
    "readinessProbe": _PROBE,
    "startupProbe": _PROBE,
}
_CLAIM: Final[dict[str, Any]] = {
    **dict.fromkeys(("storageClassName", "volumeName", "volumeMode"), _TEXT),
    "accessModes": [_TEXT],
    "resources": _RESOURCES,
    "selector": _MAP,
}
_VOLUME: Final[dict[str, Any]] = {
    "name": _TEXT,
    "hostPath": {"path": _TEXT, "type": _TEXT},
    "emptyDir": {"medium": _TEXT, "sizeLimit": _AMOUNT},
    "image": {"reference": _TEXT, "pullPolicy": _TEXT},
    "csi": {"driver": _TEXT, "volumeAttributes": _TEXTS, "readOnly": _FLAG},
    "ephemeral": {"volumeClaimTemplate": {"spec": _CLAIM}},
    "projected": {
        "sources": [
            {
                "serviceAccountToken": {
                    "audience": _TEXT,
                    "path": _TEXT,
                    "expirationSeconds": _WHOLE,
                }
            }
        ]
    },
    **dict.fromkeys(("configMap", "secret", "persistentVolumeClaim", "gitRepo", "nfs"), _MAP),
}
_POD_SPEC: Final[dict[str, Any]] = {
    **dict.fromkeys(
        (
            "hostNetwork",
            "hostPID",
            "hostIPC",
            "hostUsers",
            "shareProcessNamespace",
            "automountServiceAccountToken",
            "enableServiceLinks",
            "setHostnameAsFQDN",
        ),
        _FLAG,
    ),
    **dict.fromkeys(
        (
            "serviceAccountName",
            "serviceAccount",
            "runtimeClassName",
            "nodeName",
            "dnsPolicy",
            "priorityClassName",
            "restartPolicy",
            "hostname",
            "schedulerName",
        ),
        _TEXT,
    ),
    **dict.fromkeys(("terminationGracePeriodSeconds", "activeDeadlineSeconds"), _WHOLE),
    "os": _TEXTS,
    "nodeSelector": _TEXTS,
    "securityContext": {
        **_CONTEXT,
        "fsGroup": _WHOLE,
        "supplementalGroups": [_WHOLE],
        "sysctls": [_TEXTS],
    },
    "volumes": [_VOLUME],
    "resourceClaims": [_MAP],
    "imagePullSecrets": [_REFERENCE],
    "tolerations": [_MAP],
    **{key: [_CONTAINER] for key in ("containers", "initContainers", "ephemeralContainers")},
}
_METADATA: Final[dict[str, Any]] = {
    **dict.fromkeys(("name", "generateName", "namespace"), _TEXT),
    "labels": _TEXTS,
    "annotations": _TEXTS,
    "finalizers": [_TEXT],
}
_SELECTOR: Final = {"matchLabels": _TEXTS, "matchExpressions": [{"key": _TEXT, "values": [_TEXT]}]}
_PEER: Final = {
    "ipBlock": {"cidr": _TEXT, "except": [_TEXT]},
    "namespaceSelector": _SELECTOR,
    "podSelector": _SELECTOR,
}
_ROLE: Final[dict[str, Any]] = {
    "rules": [
        {
            key: [_TEXT]
            for key in ("verbs", "resources", "apiGroups", "resourceNames", "nonResourceURLs")
        }
    ],
    "aggregationRule": {"clusterRoleSelectors": [_SELECTOR]},
}
_BINDING: Final[dict[str, Any]] = {"roleRef": _TEXTS, "subjects": [_TEXTS]}
_FIELDS: Final[Mapping[Kind, dict[str, Any]]] = {
    NETWORK_POLICY: {
        "spec": {
            "podSelector": _SELECTOR,
            "policyTypes": [_TEXT],
            "egress": [{"to": [_PEER], "ports": [_MAP]}],
            "ingress": [{"from": [_PEER], "ports": [_MAP]}],
        }
    },
    SERVICE: {
        "spec": {
            **dict.fromkeys(("type", "externalName", "clusterIP", "loadBalancerIP"), _TEXT),
            "externalIPs": [_TEXT],
            "selector": _TEXTS,
            "ports": [_MAP],
        }
    },
    INGRESS: {"spec": {"tls": [{"hosts": [_TEXT], "secretName": _TEXT}], "rules": [_MAP]}},
    ROLE: _ROLE,
    CLUSTER_ROLE: _ROLE,
    ROLE_BINDING: _BINDING,
    CLUSTER_ROLE_BINDING: _BINDING,
    SERVICE_ACCOUNT: {"automountServiceAccountToken": _FLAG, "secrets": [_MAP]},
    CONFIG_MAP: {"data": _TEXTS, "binaryData": _TEXTS, "immutable": _FLAG},
    SECRET: {"data": _TEXTS, "stringData": _TEXTS, "type": _TEXT, "immutable": _FLAG},
    CLAIM: {"spec": _CLAIM},
}


def typed_fields(kind: Kind) -> dict[str, Any]:
    """Fields of a kind with their types, as far as rules read them."""
    steps = POD_TEMPLATE_PATHS.get(kind)
    if steps is None:
        return {"metadata": _METADATA, **_FIELDS.get(kind, {})}
    fields: dict[str, Any] = {"metadata": _METADATA, "spec": _POD_SPEC}
    for step in reversed(steps):
        fields = {step: fields}
    return {"metadata": _METADATA, **fields}


class PlainTypes(NamedTuple):
    """A type, made ready to be asked of whole objects quickly.

    Attributes:
        kinds: Python types of which every value is of this type.
        is_whole: Whether a whole number is.
        item: Type of the items of a list; None for what is none.
        fields: Types of the fields of a mapping; None for what is none.
        for_any: Type of its other fields; None when they may be anything.
    """

    kinds: frozenset[type]
    is_whole: bool = False
    item: "PlainTypes | None" = None
    fields: "dict[str, PlainTypes] | None" = None
    for_any: "PlainTypes | None" = None


def plain_types(typed: Typed) -> PlainTypes:
    """A type as `is_well_typed` asks for it."""
    if isinstance(typed, str):
        return PlainTypes(_KINDS[typed], is_whole=typed == _WHOLE)
    if isinstance(typed, list):
        return PlainTypes(_NOT_ASKED, item=plain_types(typed[0]))
    fields = {key: plain_types(one) for key, one in typed.items()}
    return PlainTypes(_NOT_ASKED, fields=fields, for_any=fields.get("*"))


def is_well_typed(value: Any, typed: PlainTypes) -> bool:  # noqa: ANN401  # any JSON value
    """Whether `mistyped` finds nothing, as far as that is plain; no paths are made."""
    kind = type(value)
    if kind in typed.kinds:
        return True
    if typed.fields is not None and kind in _MAPPINGS:
        fields, for_any = typed.fields, typed.for_any
        for key, item in dict.items(value):
            wanted = fields.get(key, for_any)
            if wanted is None or (type(item) in wanted.kinds and type(key) is str):
                continue
            if type(key) is not str or not is_well_typed(item, wanted):
                return False
        return True
    if typed.item is not None and kind in (list, PartlyKnownList):
        return all(is_well_typed(item, typed.item) for item in raw_items(value))
    return typed.is_whole and kind is int and abs(value) < _PLAINLY_WHOLE


def mistyped(value: object, typed: Typed, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Values of a type that the API refuses: path, what stands there, what must.

    Args:
        value: What is judged; what is not known yet, and nothing, are of every type.
        typed: Its type.
        path: Its field path.
    """
    if value is None or is_unknown(value):
        return
    if isinstance(typed, str):
        if not _is_of(value, typed):
            yield path, _name(value), "text or a number" if typed == _AMOUNT else typed
    elif isinstance(typed, list):
        if not isinstance(value, list):
            yield path, _name(value), "a list"
            return
        for index, item in enumerate(raw_items(value)):
            if not is_unknown(item):
                yield from mistyped(item, typed[0], item_path(path, index, item))
    elif not isinstance(value, dict):
        yield path, _name(value), "a mapping"
    else:
        for_any = typed.get("*")
        for key, item in dict.items(value):
            wanted = typed.get(key, for_any)
            if wanted is not None:
                place = key_path(path, key) if for_any else field_path(path, key)
                yield from mistyped(item, wanted, place)


def _is_of(value: object, name: str) -> bool:
    if name == _FLAG:
        return isinstance(value, bool)
    if name == _TEXT:
        return isinstance(value, str)
    if name == _MAP:
        return isinstance(value, dict)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if name == _AMOUNT:
        return is_number or isinstance(value, str)
    return is_number and float(value).is_integer()  # type: ignore[arg-type]  # a number, as told


def _name(value: object) -> str:
    for kind, name in (
        (bool, "true or false"),
        (str, "text"),
        (dict, "a mapping"),
        (list, "a list"),
    ):
        if isinstance(value, kind):
            return name
    return "a number"
