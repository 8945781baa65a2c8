"""Only kernel parameters known to be safe may be set."""

from collections.abc import Iterator

from holdfast_policies.api import (
    POD_KINDS,
    Admission,
    Breach,
    Finding,
    Fix,
    Level,
    Levels,
    Pod,
    Rule,
    Settings,
    Severity,
    breaches,
    each,
    field_path,
    in_force_since,
    listed,
    mapping,
    pods,
    shown,
    text,
)
from holdfast_policies.facts.pod_security import PSS_VERSION, STANDARD, is_in_force_since

_ALLOWED_FROM = {
    "kernel.shm_rmid_forced": 0,
    "net.ipv4.ip_local_port_range": 0,
    "net.ipv4.tcp_syncookies": 0,
    "net.ipv4.ping_group_range": 0,
    "net.ipv4.ip_unprivileged_port_start": 0,
    "net.ipv4.ip_local_reserved_ports": 27,
    "net.ipv4.tcp_keepalive_time": 29,
    "net.ipv4.tcp_fin_timeout": 29,
    "net.ipv4.tcp_keepalive_intvl": 29,
    "net.ipv4.tcp_keepalive_probes": 29,
    "net.ipv4.tcp_rmem": 32,
    "net.ipv4.tcp_wmem": 32,
    "net.ipv4.tcp_slow_start_after_idle": 37,
    "net.ipv4.tcp_notsent_lowat": 37,
}
"""Minor version of the standard from which on each parameter is allowed."""


def check(pod: Pod, settings: Settings) -> Iterator[Finding]:
    """Each kernel parameter that is not allowed."""

    def check_sysctl(sysctl: object, path: str) -> Iterator[Breach]:
        name = mapping(sysctl).get("name")
        since = _ALLOWED_FROM.get(text(name))
        if since is None or not is_in_force_since(since, settings):
            yield Breach(field_path(path, "name"), got=shown(name), required="a safe sysctl")

    path = field_path(pod.spec_path, "securityContext", "sysctls")
    yield from each(pod.security_context.get("sysctls"), path, check_sysctl, key="")


_ALLOWED_IN_CEL = " + ".join(
    f"({in_force_since(since)} ? {names} : [])" if since else names
    for since in sorted(set(_ALLOWED_FROM.values()))
    for names in [listed(name for name, first in _ALLOWED_FROM.items() if first == since)]
)


RULE = Rule(
    id="pss-sysctls",
    title="Safe kernel parameters only",
    description="A pod sets a kernel parameter that is not on the list of safe ones",
    rationale="Such a parameter may weaken the node or change it for every other pod.",
    remedy="remove it, or set it on the node",
    source=STANDARD,
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("P-B", "CM-7"),
    fix=Fix.YES,
    kinds=POD_KINDS,
    check=pods(check),
    parameters=(PSS_VERSION,),
    admission=Admission(
        (
            breaches(
                "variables.podSpec.?securityContext.?sysctls.orValue([])",
                "s",
                "!(s.name in variables.allowed)",
                'variables.podPath + ".securityContext.sysctls"',
                "a safe sysctl",
                "s.name",
            ),
        ),
        variables=(("allowed", _ALLOWED_IN_CEL),),
    ),
)
