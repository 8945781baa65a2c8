"""Fields that a manifest has in another place: of a Pod, a Deployment, or an object of a cluster.

Who writes a first manifest copies from a Deployment. The field that is spelled most alike is then
a wrong one: `initContainers` is no remedy for `containers`.
"""

from collections.abc import Collection, Mapping
from typing import Final

from pydantic.alias_generators import to_camel

_WRITTEN_BY_SERVER: Final = "remove it: the API server writes it"
PLACES: Final[Mapping[str, tuple[str, ...]]] = {
    "container": (
        "command",
        "args",
        "workingDir",
        "ports",
        "env",
        "envFrom",
        "resources",
        "probes",
        "lifecycle",
        "tmp",
    ),
    "container.lifecycle": ("preStart", "preStop"),
    "pod": (
        "security",
        "imagePullSecrets",
        "priorityClassName",
        "runtimeClassName",
        "nodeSelector",
        "tolerations",
        "affinity",
        "topologySpreadConstraints",
        "queueName",
        "sidecars",
        "cacheWarmer",
        "initContainers",
        "terminationGracePeriodSeconds",
    ),
    "pod.security": ("podSecurityContext", "securityContext", "serviceAccount", "automountToken"),
    "storage": ("volumes", "databases", "backup", "restoreFrom"),
    "scaling": ("availability", "leaderElection", "replicas"),
    "job": ("schedules", "triggers"),
    "card": ("provider", "iconUrl", "documentationUrl"),
}
"""Group of a spec to fields that are looked for directly under `spec`."""
_OF_GROUPS: Final = {name: f"{group}.{name}" for group, names in PLACES.items() for name in names}
_ON_WORKLOAD: Final[Mapping[str, str]] = {
    **{name: f"write it as {place}" for name, place in _OF_GROUPS.items()},
    "containers": (
        "an agent has one main container: write its image under spec, its command, env and "
        "resources under container, others under pod.sidecars; `holdfast agent import` converts a "
        "Deployment"
    ),
    "template": (
        "write the container's fields under container; `holdfast agent import` converts a "
        "Deployment"
    ),
    "selector": "remove it: Holdfast sets the selector",
    "strategy": "use rollout.strategy",
    "imagePullPolicy": "remove it: an image that is pinned by its digest is pulled once",
    "livenessProbe": "use container.probes.liveness",
    "readinessProbe": "use container.probes.readiness",
    "startupProbe": "use container.probes.startup",
    "volumes": "use storage.volumes for volumes, config for files, secrets for Secrets",
    "volumeMounts": "set mountPath in storage.volumes, config or secrets",
    "serviceAccountName": (
        "remove it for an account of its own, or use pod.security.serviceAccount"
    ),
    "schedule": 'use job.schedules, such as [{cron: "0 2 * * *"}]',
    "a2a": "write it as card",
    "podOverrides": "write it as pod.overrides",
    "waitForDependencies": "write wait: false in entries of dependsOn, as {name, wait}",
    "healthPath": "write it as container.probes.readiness.httpGet.path",
    "restartPolicy": "remove it: pods of a Service are always restarted, those of a Job by retries",
    "service": "remove it: a Service is made; use network.expose for its port",
    "ingress": "use network.expose.gatewayRef and hosts to be reached from outside",
    "autoscaling": "use scaling",
    "hpa": "use scaling",
    "replicaCount": "write it as scaling.replicas",
    "status": _WRITTEN_BY_SERVER,
    "spec": "write its fields here, without spec",
    "metadata": "write it next to spec, not in it",
    "name": "write it as metadata.name",
    "namespace": "write it as metadata.namespace",
    "labels": "write it as metadata.labels",
    "annotations": "write it as metadata.annotations",
    "volume": "use storage.volumes",
    "cron": 'use job.schedules, such as [{cron: "0 2 * * *"}]',
    "hostNetwork": "write it in pod.overrides, where a rule judges it",
    "provider": "write it as card.provider, or as model.provider where the model's is meant",
}
_ON_CONTAINER: Final[Mapping[str, str]] = {
    **{name: _ON_WORKLOAD[name] for name in ("volumeMounts", "imagePullPolicy")},
    **{
        name: _ON_WORKLOAD[name].replace("container.", "")
        for name in ("livenessProbe", "readinessProbe", "startupProbe")
    },
    "image": "write it as spec.image",
    "name": "remove it: the container is called agent",
    "environment": "use env, such as [{name: LOG_LEVEL, value: info}]",
    "envVars": "use env, such as [{name: LOG_LEVEL, value: info}]",
    "variables": "use env, such as [{name: LOG_LEVEL, value: info}]",
    "securityContext": "use pod.security.securityContext",
    "entrypoint": "use command",
    "cmd": "use command",
    "workdir": "use workingDir",
    "volumes": "use storage.volumes",
}
_ON_NETWORK: Final[Mapping[str, str]] = {
    "peers": "write [{agent: NAME}] in network.egress",
    "mode": "write denyEgress: true where nothing may be reached",
    "egressMode": "write denyEgress: true where nothing may be reached",
    "dns": "use allowDNS",
    "domains": "write [{host: DOMAIN}] in network.egress",
    "hosts": "write [{host: DOMAIN}] in network.egress, or expose.hosts for its own names",
    "cidrs": "write [{cidr: RANGE}] in network.egress",
    "apiServer": "write [{apiServer: true}] in network.egress",
    "ingress": "use ingressFrom: names of agents, {namespace}, or gateway",
    "port": "use expose.port",
    "policyTypes": "remove it: both directions are denied by default",
}
_ON_EGRESS: Final[Mapping[str, str]] = {
    "domain": "use host",
    "domains": "write one entry for each, as {host: DOMAIN}",
    "fqdn": "use host",
    "hostname": "use host",
    "cidrs": "write one entry for each, as {cidr: RANGE}",
    "ipBlock": "use cidr",
    "to": "name what is reached in the entry itself: {cidr}, {host}, {agent} or {service}",
    "port": "use ports, such as [{port: 5432}]",
    "mcp": "use tool: the name of an MCPServer",
    "server": "use tool: the name of an MCPServer",
    "serverRef": "use tool: the name of an MCPServer",
    "peer": "use agent",
    "namespace": "write it inside agent, tool or service, as {namespace, name}",
}
_ON_METADATA: Final = dict.fromkeys(
    ("creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"),
    _WRITTEN_BY_SERVER,
)


_ON_LIFECYCLE: Final[Mapping[str, str]] = {
    "cacheWarmer": "write it as pod.cacheWarmer",
    "leaderElection": "write it as scaling.leaderElection",
    "terminationGracePeriodSeconds": "write it as pod.terminationGracePeriodSeconds",
}
_ON_PARTS: Final[tuple[tuple[frozenset[str], Mapping[str, str]], ...]] = (
    (frozenset({"preStop", "preStart"}), _ON_LIFECYCLE),
    (frozenset({"command", "env", "probes"}), _ON_CONTAINER),
    (frozenset({"ingressFrom", "egress"}), _ON_NETWORK),
    (frozenset({"cidr", "apiServer"}), _ON_EGRESS),
    (frozenset({"annotations", "labels", "namespace"}), _ON_METADATA),
    (frozenset({"kind", "metadata"}), {"status": _WRITTEN_BY_SERVER}),
    (
        frozenset({"limits", "requests"}),
        {name: f"use requests.{name} and limits.{name}" for name in ("cpu", "memory")},
    ),
)
"""Fields by which a part is known, and what is said about others there."""


def remedy_for_pasted(name: str, known: Collection[str]) -> str:
    """What to write instead of a field that stands elsewhere; empty for any other field.

    Args:
        name: The unknown field.
        known: The fields that may stand in its place.
    """
    fields = set(known)
    if {"image", "container", "pod"} <= fields:
        return _ON_WORKLOAD.get(name) or _ON_WORKLOAD.get(to_camel(name), "")
    for marks, remedies in _ON_PARTS:
        if marks <= fields:
            return remedies.get(name, "")
    return ""
