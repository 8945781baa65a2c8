"""An agent is given the time to finish what it is doing."""

from collections.abc import Iterator

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
    Pod,
    Rule,
    Settings,
    Severity,
    all_of,
    containers,
    field_path,
    in_containers,
    in_pod,
    mapping,
    number,
    pods,
    said,
    shown,
)

_JOBS = frozenset({Kind("batch", "Job"), Kind("batch", "CronJob"), Kind("keda.sh", "ScaledJob")})
_KUBERNETES_DEFAULT_SECONDS = 30
SHORTEST = Parameter(
    name="shortest_grace_seconds",
    description="Shortest time between SIGTERM and SIGKILL: that of the longest tool call.",
    schema={"type": "integer"},
    default=60,
)


def check_grace(pod: Pod, settings: Settings) -> Iterator[Breach]:
    """A grace period that is shorter than a tool call may take."""
    grace = pod.spec.get("terminationGracePeriodSeconds")
    seconds = _KUBERNETES_DEFAULT_SECONDS if grace is None else number(grace) or 0
    shortest = settings["shortest_grace_seconds"]
    if seconds < shortest:
        path = field_path(pod.spec_path, "terminationGracePeriodSeconds")
        yield Breach(path, got=shown(grace), required=f"at least {shortest} seconds")


def check_hook(container: Container, _: Settings) -> Iterator[Finding]:
    """A main container without a hook that lets it leave the load balancer first."""
    if container.is_init or container.is_ephemeral:
        return
    if not mapping(mapping(container.value.get("lifecycle")).get("preStop")):
        path = field_path(container.path, "lifecycle", "preStop")
        yield Breach(path, got="no hook", required="a hook, at least a sleep of a few seconds")


RULE = Rule(
    id="graceful-drain",
    title="Time to finish",
    description="A pod is ended before the agent can finish what it is doing",
    rationale="A tool call cut in half leaves the other side in a state that nobody asked for.",
    remedy="set terminationGracePeriodSeconds and a preStop hook",
    source="https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination",
    severity=Severity.LOW,
    levels=Levels(Level.DISABLED, Level.ADVISORY, Level.ADVISORY),
    frameworks=(
        "SI-17",
        "ASI08",
    ),
    fix=Fix.YES,
    kinds=POD_KINDS - _JOBS,
    check=all_of(pods(check_grace), containers(check_hook)),
    parameters=(SHORTEST,),
    admission=Admission(
        (
            in_pod(
                f"variables.podSpec.?terminationGracePeriodSeconds.orValue({_KUBERNETES_DEFAULT_SECONDS})"
                " < variables.settings.shortest_grace_seconds",
                "terminationGracePeriodSeconds",
                "the time that the longest tool call takes",
                said("variables.podSpec.?terminationGracePeriodSeconds"),
            ),
            in_containers(
                "c.value.?lifecycle.?preStop.orValue({}).size() == 0",
                "lifecycle.preStop",
                "a hook, at least a sleep of a few seconds",
                only='c.role == "main"',
            ),
        )
    ),
)
