"""No pod may share the network, process or IPC namespace of its node."""

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
    pods,
)
from holdfast_policies.facts.pod_security import PSS_VERSION, STANDARD


def check(pod: Pod, _: Settings) -> Iterator[Finding]:
    """Each namespace of the node that the pod shares."""

    def check_field(name: str, _: str) -> Iterator[Breach]:
        if pod.spec.get(name) is True:
            yield Breach(field_path(pod.spec_path, name), got="true", required="false or nothing")

    yield from each(["hostNetwork", "hostPID", "hostIPC"], "", check_field)


RULE = Rule(
    id="pss-host-namespaces",
    title="No namespaces of the node",
    description="A pod shares the network, the processes or the IPC namespace of its node",
    rationale="Such a pod sees other tenants' traffic and processes; no network policy holds it.",
    remedy="remove the field or set it to false",
    source=STANDARD,
    severity=Severity.CRITICAL,
    levels=Levels(Level.MANDATORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=("P-B", "C5.2.3-5", "N", "SC-39", "ASI05"),
    fix=Fix.YES,
    kinds=POD_KINDS,
    check=pods(check),
    parameters=(PSS_VERSION,),
    admission=Admission(
        (
            breaches(
                '["hostNetwork", "hostPID", "hostIPC"]',
                "f",
                "variables.podSpec[?f].orValue(false) == true",
                'variables.podPath + "." + f',
                "false or nothing",
            ),
        )
    ),
)
