"""No probe and no lifecycle handler may name a host: the kubelet would call it from the node."""

from collections.abc import Iterator

from holdfast_policies.finding import Breach, Finding
from holdfast_policies.kinds import POD_KINDS
from holdfast_policies.parts import containers, each
from holdfast_policies.pod_security import PSS_VERSION, STANDARD, is_in_force_since
from holdfast_policies.rule import Fix, Level, Levels, Rule, Settings, Severity
from holdfast_policies.subject import Container, field_path, mapping
from holdfast_policies.wording import shown

_HANDLERS = (
    ("livenessProbe",),
    ("readinessProbe",),
    ("startupProbe",),
    ("lifecycle", "postStart"),
    ("lifecycle", "preStop"),
)
_PLACES = [(*handler, action) for handler in _HANDLERS for action in ("httpGet", "tcpSocket")]


def check(container: Container, settings: Settings) -> Iterator[Finding]:
    """Each host named in a probe or lifecycle handler; checked from version 1.34 on."""
    if not is_in_force_since(34, settings):
        return

    def check_place(steps: tuple[str, ...], _: str) -> Iterator[Breach]:
        action = container.value
        for step in steps:
            action = mapping(action.get(step))
        if action and action.get("host"):
            path = field_path(container.path, *steps, "host")
            yield Breach(path, got=shown(action["host"]), required="no host")

    yield from each(_PLACES, "", check_place)


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
)
