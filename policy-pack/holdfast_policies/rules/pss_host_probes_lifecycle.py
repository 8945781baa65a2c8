"""No probe and no lifecycle handler may name a host: the kubelet would call it from the node."""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast_policies.api import (
    POD_KINDS,
    Admission,
    Breach,
    Container,
    Finding,
    Fix,
    Level,
    Levels,
    Rule,
    Settings,
    Severity,
    containers,
    each,
    field_path,
    in_containers,
    in_force_since,
    listed,
    mapping,
    shown,
)
from holdfast_policies.facts.pod_security import PSS_VERSION, STANDARD, is_in_force_since

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_ACTIONS = ("httpGet", "tcpSocket")


def check(container: Container, settings: Settings) -> Iterator[Finding]:
    """Each host named in a probe or lifecycle handler; checked from version 1.34 on."""
    if not is_in_force_since(34, settings):
        return
    yield from each([*_PROBES, "lifecycle"], "", lambda name, _: _check_field(container, name))


def _check_field(container: Container, name: str) -> Iterator[Breach]:
    declared = mapping(container.value.get(name))
    path = field_path(container.path, name)
    if name in _PROBES:
        yield from _check_handler(declared, path)
        return
    for hook in ("postStart", "preStop"):
        yield from _check_handler(mapping(declared.get(hook)), field_path(path, hook))


def _check_handler(handler: Mapping[str, Any], path: str) -> Iterator[Breach]:
    for action in _ACTIONS:
        host = mapping(handler.get(action)).get("host")
        if host:
            yield Breach(field_path(path, action, "host"), got=shown(host), required="no host")


_HOST = f'{listed(_ACTIONS)}.exists(a, FIELD[?a].?host.orValue("") != "")'
_PROBE_HOST = f"{listed(_PROBES)}.exists(p, {_HOST.replace('FIELD', 'c.value[?p]')})"
_HOOK_HOST = (
    f'["postStart", "preStop"].exists(h, {_HOST.replace("FIELD", "c.value.?lifecycle[?h]")})'
)


RULE = Rule(
    id="pss-host-probes-lifecycle",
    title="No host in probes",
    description="A probe or lifecycle handler names a host",
    rationale="The kubelet makes the call from the node, past every network policy of the pod.",
    remedy="remove host: without it the kubelet calls the pod itself",
    source=STANDARD,
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("P-B", "SC-7", "ASI02"),
    fix=Fix.YES,
    kinds=POD_KINDS,
    check=containers(check),
    parameters=(PSS_VERSION,),
    admission=Admission(
        (
            in_containers(
                f"{in_force_since(34)} && ({_PROBE_HOST} || {_HOOK_HOST})",
                "",
                "no host in probes and hooks",
            ),
        )
    ),
)
