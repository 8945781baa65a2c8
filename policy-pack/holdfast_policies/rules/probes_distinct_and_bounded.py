"""A container says when it is alive and when it is ready, by different signs and within bounds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from holdfast_policies.api import (
    POD_KINDS,
    Admission,
    Breach,
    Container,
    Finding,
    Fix,
    Kind,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    containers,
    each,
    field_path,
    in_containers,
    listed,
    mapping,
    number,
    shown,
)

_JOBS = frozenset({Kind("batch", "Job"), Kind("batch", "CronJob"), Kind("keda.sh", "ScaledJob")})
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_ANSWERS = ("exec", "httpGet", "grpc")
"""Handlers to which the agent answers; to take a connection hangs on nothing that it calls."""
LONGEST = Parameter(
    name="longest_timeout_seconds",
    description="Longest time that one answer to a probe may take, in seconds.",
    schema={"type": "integer"},
    default=30,
)


def check(container: Container, settings: Settings) -> Iterator[Finding]:
    """Probes that are missing, that ask the same, or that may hang. Main containers only."""
    if container.is_init or container.is_ephemeral:
        return

    def check_probe(name: str, _: str) -> Iterator[Breach]:
        path = field_path(container.path, name)
        probe = mapping(container.value.get(name))
        if not _handler(probe):
            yield Breach(path, got="no probe", required="a probe with a handler")
            return
        timeout = probe.get("timeoutSeconds")
        if (
            timeout is not None
            and not 0 < (number(timeout) or 0) <= settings["longest_timeout_seconds"]
        ):
            required = f"1 to {settings['longest_timeout_seconds']} seconds"
            yield Breach(field_path(path, "timeoutSeconds"), shown(timeout), required)

    def check_both(_: object, __: str) -> Iterator[Breach]:
        liveness = _handler(mapping(container.value.get("livenessProbe")), _ANSWERS)
        readiness = _handler(mapping(container.value.get("readinessProbe")), _ANSWERS)
        if liveness and liveness == readiness:
            yield Breach(
                field_path(container.path, "livenessProbe"),
                got="what the readiness probe asks",
                required="a sign of life that does not hang on what the agent calls",
                remedy="let readiness ask for what the agent needs, and liveness for itself alone",
            )

    yield from each(["livenessProbe", "readinessProbe"], "", check_probe)
    yield from each([None], "", check_both)


def _handler(probe: Mapping[str, Any], handlers: Sequence[str] = _HANDLERS) -> Mapping[str, Any]:
    return {name: probe.get(name) for name in handlers if probe.get(name) is not None}


_PROBES = '["livenessProbe", "readinessProbe"]'
_MAIN = 'c.role == "main"'


RULE = Rule(
    id="probes-distinct-and-bounded",
    title="Probes that differ and end",
    description="A probe is missing, asks the same as the other, or may hang",
    rationale="An agent whose model is away is not dead; to restart it loses its work for nothing.",
    remedy="declare a liveness and a readiness probe with handlers of their own",
    source="https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/",
    severity=Severity.LOW,
    levels=Levels(Level.ADVISORY, Level.ADVISORY, Level.MANDATORY),
    frameworks=(
        "SI-13",
        "CP-10",
    ),
    fix=Fix.NO,
    kinds=POD_KINDS - _JOBS,
    check=containers(check),
    parameters=(LONGEST,),
    admission=Admission(
        (
            in_containers(
                f"{_PROBES}.exists(p, {listed(_HANDLERS)}.all(h,"
                " c.value[?p][?h].orValue(null) == null))",
                "",
                "a liveness and a readiness probe with handlers",
                only=_MAIN,
            ),
            in_containers(
                f"{_PROBES}.exists(p, c.value[?p].?timeoutSeconds.orValue(1) < 1"
                " || c.value[?p].?timeoutSeconds.orValue(1)"
                " > variables.settings.longest_timeout_seconds)",
                "",
                "probes with a timeout within bounds",
                only=_MAIN,
            ),
            in_containers(
                f"{listed(_ANSWERS)}.exists(h, c.value.?livenessProbe[?h].orValue(null) != null)"
                f" && {listed(_ANSWERS)}.all(h,"
                " c.value.?livenessProbe[?h] == c.value.?readinessProbe[?h])",
                "livenessProbe",
                "a sign of life that does not hang on what the agent calls",
                '"what the readiness probe asks"',
                only=_MAIN,
            ),
        )
    ),
)
