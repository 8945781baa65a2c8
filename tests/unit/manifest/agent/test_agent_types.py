"""Each type of agent has its fields; one that would do nothing is refused."""

import typing
from pathlib import Path

import pytest
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.agent_types import (
    CALLED,
    EVERY,
    RUN,
    AgentType,
    rules_of_types,
    types_of,
)
from holdfast.manifest.types.conditions import written_as
from holdfast.manifest.types.rules import Rule

from tests.unit.manifest.projects import (
    MANIFEST,
    STACK,
    Bad,
    agent,
    assert_refused,
    bad,
    errors_of,
    spec,
    write,
)

JOB = 'type: Job\njob:\n  schedules: [{cron: "0 2 * * *"}]\n'
POOL = "type: Sandbox\nsandbox: {warmPool: {replicas: 1}}\n"


def test_a_field_has_an_effect_on_the_types_that_it_is_marked_with_or_on_all() -> None:
    assert set(typing.get_args(AgentType)) == EVERY
    assert types_of(AgentSpec, ["image"]) == EVERY
    assert types_of(AgentSpec, ["job", "schedules", "cron"]) == RUN
    assert types_of(AgentSpec, ["network", "egress"]) == EVERY
    assert types_of(AgentSpec, ["network", "expose", "port"]) == CALLED


@pytest.mark.parametrize("rule", rules_of_types(AgentSpec), ids=lambda rule: rule.at)
def test_a_mark_below_another_says_less(rule: Rule) -> None:
    path = written_as(AgentSpec, rule.at)
    assert types_of(AgentSpec, path) < types_of(AgentSpec, path[:-1])


NO_EFFECT = "has no effect on an agent of this type"
REFUSED = [
    bad("replicas of a Job", spec(JOB + "scaling: {replicas: 2}"), "10:3", "spec.scaling", "Job"),
    bad("Service of a Job", spec(JOB + "network: {expose: {port: 1}}"), "10:13", NO_EFFECT),
    bad("callers of a Job", spec(JOB + "network: {ingressFrom: [gateway]}"), "10:26", NO_EFFECT),
    bad(
        "probe of a Job",
        spec(JOB + "container: {probes: {liveness: {tcpSocket: {}}}}"),
        "10:15",
        NO_EFFECT,
    ),
    bad("metrics of a Job", spec(JOB + "telemetry: {metrics: {port: 1}}"), "10:15", NO_EFFECT),
    bad("sandbox of a Job", spec(JOB + "sandbox: {claim: false}"), "10:3", NO_EFFECT),
    bad(
        "schedule of a service",
        spec('job: {schedules: [{cron: "0 2 * * *"}]}'),
        "7:3",
        "spec.job: has no effect",
        "has no effect on an agent of this type, got type Service",
        "it is for type Job",
    ),
    bad("Job without a schedule", spec("type: Job"), "7:9", "spec.type", "add job.schedules"),
    bad(
        "trigger with a type, of which there is one",
        spec(JOB + "  triggers: [{type: queue, metric: a}]"),
        "10:17",
        "spec.job.triggers[0].type: expected a known field",
    ),
    bad(
        "trigger of nothing",
        spec(JOB + "  triggers: [{maxRuns: 2}]"),
        "10:16",
        "metric: this field",
    ),
    bad(
        "trigger of a service",
        spec("job: {triggers: [{metric: a}]}"),
        "7:3",
        "spec.job: has no effect on an agent of this type, got type Service; remove it",
    ),
    bad(
        "trigger called as a schedule is",
        spec(JOB.replace("{", "{id: a, ") + "  triggers: [{metric: a, id: a}]"),
        "10:32",
        "ids of schedules and triggers must be unique",
    ),
    bad(
        "no such type",
        spec("type: Sandbx"),
        "7:9",
        "'Service', 'Job' or 'Sandbox'",
        '"Sandbox"?',
    ),
    bad("scaling of a sandbox", spec("type: Sandbox\nscaling: {replicas: 1}"), "8:3", NO_EFFECT),
    bad(
        "runtime class of the sandbox",
        spec("type: Sandbox\nsandbox: {runtimeClassName: b}"),
        "8:13",
        "spec.sandbox.runtimeClassName: expected a known field",
    ),
    bad(
        "suspended pool",
        spec("type: Sandbox\nsandbox: {warmPool: {replicas: 1}, operatingMode: Suspended}"),
        "8:53",
        "spec.sandbox.operatingMode",
        "a pool cannot be suspended",
    ),
    bad(
        "claim without a pool",
        spec("type: Sandbox\nsandbox: {claim: true}"),
        "8:20",
        "needs warmPool",
    ),
    bad(
        "life of a claim that is not made",
        spec(POOL.replace("1}}", "1}, ttlSecondsAfterFinished: 60}")),
        "8:63",
        "add claim: true",
    ),
    bad(
        "kept storage of a pool",
        spec(POOL + "storage: {volumes: [{name: a, size: 1Gi, mountPath: /a, retain: true}]}"),
        "9:67",
        "each sandbox has a claim of its own",
    ),
]

SCHEDULES = [
    bad(
        "never comes",
        spec('type: Job\njob: {schedules: [{cron: "0 0 31 2 *"}]}'),
        "8:28",
        "spec.job.schedules[0].cron",
        "never comes",
    ),
    bad(
        "time zone",
        spec('type: Job\njob: {schedules: [{cron: "0 2 * * *", timezone: Europe/Lundon}]}'),
        "8:51",
        "spec.job.schedules[0].timezone",
        'did you mean "Europe/London"?',
    ),
    bad(
        "time zone out of the database's folder",
        spec('type: Job\njob: {schedules: [{cron: "0 2 * * *", timezone: ../etc/passwd}]}'),
        "8:51",
        "expected a time zone",
    ),
    bad(
        "two of one id",
        spec(
            'type: Job\njob: {schedules: [{id: a, cron: "0 2 * * *"}, {id: a, cron: "0 3 * * *"}]}'
        ),
        "8:54",
        "ids of schedules and triggers must be unique",
    ),
    bad(
        "an id that is a position",
        spec('type: Job\njob: {schedules: [{id: "1", cron: "0 2 * * *"}, {cron: "0 3 * * *"}]}'),
        "8:51",
        "'triage-1' twice",
    ),
    bad(
        "name of the CronJob too long",
        agent("a" * 50, 'type: Job\njob: {schedules: [{id: nightly, cron: "0 2 * * *"}]}'),
        "8:26",
        "at most 52 characters",
        "(58)",
    ),
    bad(
        "input that env would hide",
        spec(
            'type: Job\njob: {schedules: [{cron: "0 2 * * *", input: text}]}\n'
            "container: {env: [{name: AGENT_INPUT, value: other}]}"
        ),
        "8:48",
        "spec.job.schedules[0].input",
        "'AGENT_INPUT' in container.env, too",
    ),
    bad(
        "retries",
        spec('type: Job\njob: {schedules: [{cron: "0 2 * * *", retries: 11}]}'),
        "8:50",
        "expected a number from 0 to 10",
    ),
]


@pytest.mark.parametrize("case", REFUSED + SCHEDULES)
def test_it_is_refused_at_its_place(tmp_path: Path, case: Bad) -> None:
    assert_refused(tmp_path, case)


def test_a_trigger_needs_keda_and_a_source_of_metrics(tmp_path: Path) -> None:
    write(tmp_path, MANIFEST, spec(JOB + "  triggers: [{metric: a}]"))
    write(tmp_path, STACK, "config: {}")
    first, second = (str(error) for error in errors_of(tmp_path, "dev").errors)
    assert first.startswith("agents/triage.yaml:10:16: spec.job.triggers[0]: needs KEDA (")
    assert "spec.job.triggers[0].metric: needs a source of metrics" in second
