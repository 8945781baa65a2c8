"""Scaling and rollouts that cannot be meant, each refused at its place."""

from pathlib import Path

import pytest

from tests.unit.manifest.projects import (
    Bad,
    assert_refused,
    bad,
    spec,
)

SCHEDULE = 'start: "0 8 * * *", end: "0 18 * * *", replicas: 4'
SCALING = [
    bad(
        "target of nothing",
        spec(
            "scaling:\n  minReplicas: 1\n  maxReplicas: 2\n"
            '  metrics: [{type: Pods, name: a, target: "0"}]'
        ),
        "10:45",
        "expected more than nothing",
    ),
    bad(
        "target that is no quantity",
        spec(
            "scaling:\n  minReplicas: 1\n  maxReplicas: 2\n"
            "  metrics: [{type: Pods, name: a, target: many}]"
        ),
        "10:45",
        "expected a quantity",
    ),
    bad(
        "selector of a resource",
        spec(
            "scaling:\n  minReplicas: 1\n  maxReplicas: 2\n"
            "  metrics: [{type: Resource, name: cpu, target: 7, selector: {a: b}}]"
        ),
        "10:54",
        "no effect on a Resource metric",
    ),
    bad(
        "container of a metric of all",
        spec(
            "scaling:\n  minReplicas: 1\n  maxReplicas: 2\n"
            "  metrics: [{type: Resource, name: cpu, target: 7, container: agent}]"
        ),
        "10:65",
        "has no effect on this metric, got type Resource; use type: ContainerResource",
    ),
    bad(
        "metric of a container that is not there",
        spec(
            "scaling:\n  minReplicas: 1\n  maxReplicas: 2\n"
            "  metrics: [{type: ContainerResource, name: cpu, target: 7, container: proxi}]"
        ),
        "10:74",
        "expected the name of a container that runs beside the agent",
        "'proxi'; one of agent",
    ),
    bad(
        "one metric twice",
        spec(
            "scaling:\n  minReplicas: 1\n  maxReplicas: 2\n  metrics:\n"
            "    - {type: Pods, name: a, target: 7}\n    - {type: Pods, name: a, target: 8}"
        ),
        "12:28",
        "metrics must be unique",
        "'a' twice",
    ),
    bad(
        "behavior misspelt",
        spec(
            "scaling:\n  minReplicas: 1\n  maxReplicas: 2\n"
            "  metrics: [{type: Resource, name: cpu, target: 7}]\n"
            "  behavior: {scaleDwn: {}}"
        ),
        "11:16",
        'did you mean "scaleDown"?',
    ),
    bad(
        "behavior of a period of an hour",
        spec(
            "scaling:\n  minReplicas: 1\n  maxReplicas: 2\n"
            "  metrics: [{type: Resource, name: cpu, target: 7}]\n"
            "  behavior: {scaleUp: {policies: [{type: Pods, value: 1, periodSeconds: 3600}]}}"
        ),
        "11:75",
        "from 1 to 1800, got the number 3600",
    ),
    bad(
        "sleep that nothing ends",
        spec(
            "scaling:\n  minReplicas: 1\n  maxReplicas: 2\n"
            "  metrics: [{type: Resource, name: cpu, target: 7}]\n  idleSeconds: 60"
        ),
        "11:18",
        "needs something that wakes the agent",
    ),
    bad(
        "schedule that is no cron",
        spec(f"scaling: {{schedules: [{{{SCHEDULE.replace('0 8 * * *', '8am')}}}]}}"),
        "7:33",
        "schedule",
    ),
    bad(
        "schedule in no time zone",
        spec(f"scaling: {{schedules: [{{{SCHEDULE}, timezone: Europe/Londn}}]}}"),
        "7:88",
        "time zone",
    ),
    bad(
        "schedule without a length",
        spec(f"scaling: {{schedules: [{{{SCHEDULE.replace('18', '8')}}}]}}"),
        "7:51",
        "an end other than the start",
    ),
    bad(
        "schedule beyond the range",
        spec(f"scaling:\n  minReplicas: 1\n  maxReplicas: 2\n  schedules: [{{{SCHEDULE}}}]"),
        "10:67",
        "not ask for more than maxReplicas",
        "4 > 2",
    ),
    bad(
        "standby that is not there",
        spec("scaling: {availability: {active: standby}}"),
        "7:36",
        "there is no standby",
    ),
    bad(
        "automatic fail-over to nothing",
        spec("scaling: {availability: {failover: automatic}}"),
        "7:38",
        "there is no standby; add standby: true",
    ),
    bad(
        "a time for a person",
        spec("scaling: {availability: {standby: true, failoverAfter: 10s}}"),
        "7:58",
        "spec.scaling.availability.failoverAfter: has no effect on a manual fail-over",
    ),
]

ROLLOUT = [
    bad(
        "steps of a rolling update",
        spec("rollout: {steps: [{setWeight: 10}]}"),
        "7:20",
        "rollout.steps",
        "no effect with this strategy, got strategy RollingUpdate",
        "use Canary",
    ),
    bad(
        "surge of blue-green",
        spec("rollout: {strategy: BlueGreen, maxSurge: 2}"),
        "7:44",
        "no effect with this strategy, got strategy BlueGreen",
    ),
    bad(
        "rollback of a rolling update",
        spec("rollout: {autoRollback: false}"),
        "7:27",
        "no effect with this strategy, got strategy RollingUpdate",
        "BlueGreen or Canary",
    ),
    bad(
        "update that may move nothing",
        spec("rollout: {maxSurge: 0}"),
        "7:3",
        "must not both be 0",
    ),
    bad(
        "canary without steps",
        spec("rollout: {strategy: Canary}"),
        "7:3",
        "Canary needs steps",
        "{setWeight: 10}",
    ),
    bad(
        "canary that goes back",
        spec("rollout: {strategy: Canary, steps: [{setWeight: 50}, {setWeight: 10}]}"),
        "7:38",
        "weights that do not fall",
        "50, 10",
    ),
    bad(
        "step of both kinds",
        spec("rollout: {strategy: Canary, steps: [{setWeight: 50, pause: {duration: 5m}}]}"),
        "7:39",
        "either setWeight or pause",
    ),
    bad(
        "weight over a hundred",
        spec("rollout: {strategy: Canary, steps: [{setWeight: 150}]}"),
        "7:51",
        "from 0 to 100",
    ),
    bad(
        "analysis that has nothing to see",
        spec(
            "rollout:\n  strategy: Canary\n  analysis: {maxErrorRate: 1}\n"
            "  steps: [{setWeight: 10}, {setWeight: 50}, {pause: {duration: 5m}}]"
        ),
        "10:13",
        "a pause must follow each setWeight",
        "add {pause: {duration: 10m}}",
    ),
    bad(
        "analysis of nothing",
        spec("rollout: {strategy: BlueGreen, analysis: {window: 5m}}"),
        "7:34",
        "at least one of maxErrorRate",
    ),
    bad(
        "two versions at one claim",
        spec(
            "storage: {volumes: [{name: a, size: 1Gi, mountPath: /a}]}\n"
            "rollout: {strategy: BlueGreen}"
        ),
        "8:23",
        "a claim has a single writer",
        "ReadWriteMany",
    ),
    bad(
        "standby at one claim",
        spec(
            "storage: {volumes: [{name: a, size: 1Gi, mountPath: /a}]}\n"
            "scaling: {availability: {standby: true}}"
        ),
        "8:37",
        "a standby needs the volumes",
    ),
    bad(
        "standby and blue-green",
        spec("rollout: {strategy: BlueGreen}\nscaling: {availability: {standby: true}}"),
        "8:37",
        "would both move the Service",
    ),
]


@pytest.mark.parametrize("case", [*SCALING, *ROLLOUT])
def test_a_bad_field_is_refused_at_its_place(tmp_path: Path, case: Bad) -> None:
    assert_refused(tmp_path, case)
