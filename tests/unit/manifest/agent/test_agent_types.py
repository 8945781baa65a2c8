"""Each type of agent has its fields; one that would do nothing is refused."""

import typing
from pathlib import Path

import pytest
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.agent_types import EFFECTS, EVERY, AgentType, types_of
from holdfast.manifest.types.annotations import fields_at

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

JOB = 'type: Job\nschedules: [{cron: "0 2 * * *"}]\n'
POOL = "type: Sandbox\nsandbox: {warmPool: {replicas: 1}}\n"


def test_every_field_of_a_spec_has_a_verdict_for_every_type() -> None:
    declared = {info.alias or name for name, info in AgentSpec.model_fields.items()}
    assert declared == {path for path in EFFECTS if "." not in path}, (
        "say in EFFECTS on which types of agent the field has an effect"
    )
    assert set(typing.get_args(AgentType)) == EVERY


@pytest.mark.parametrize("path", [path for path in EFFECTS if "." in path])
def test_a_deeper_verdict_is_about_a_field_and_differs_from_its_parents(path: str) -> None:
    parent, _, name = path.rpartition(".")
    assert name in fields_at(AgentSpec, parent.split("."))
    assert EFFECTS[path] < types_of(parent)


NO_EFFECT = "has no effect on an agent of type"
REFUSED = [
    bad("replicas of a Job", spec(JOB + "scaling: {replicas: 2}"), "9:3", "spec.scaling", "Job"),
    bad("Service of a Job", spec(JOB + "network: {expose: {port: 1}}"), "9:13", NO_EFFECT),
    bad("callers of a Job", spec(JOB + "network: {ingressFrom: [gateway]}"), "9:26", NO_EFFECT),
    bad("probe of a Job", spec(JOB + "probes: {liveness: {tcpSocket: {}}}"), "9:3", NO_EFFECT),
    bad("metrics of a Job", spec(JOB + "telemetry: {metrics: {port: 1}}"), "9:15", NO_EFFECT),
    bad("sandbox of a Job", spec(JOB + "sandbox: {claim: false}"), "9:3", NO_EFFECT),
    bad(
        "schedule of a service",
        spec('schedules: [{cron: "0 2 * * *"}]'),
        "7:14",
        "spec.schedules",
        "has no effect on an agent of type Service",
        "it is for type Job",
    ),
    bad("Job without a schedule", spec("type: Job"), "7:9", "spec.type", "add schedules"),
    bad(
        "trigger with a type, of which there is one",
        spec(JOB + "triggers: [{type: queue, metric: a}]"),
        "9:15",
        "spec.triggers[0].type: expected a known field",
    ),
    bad("trigger of nothing", spec(JOB + "triggers: [{maxRuns: 2}]"), "9:14", "metric: this field"),
    bad(
        "trigger of a service",
        spec("triggers: [{metric: a}]"),
        "7:13",
        "spec.triggers: has no effect on an agent of type Service; remove it; it is for type Job",
    ),
    bad(
        "trigger called as a schedule is",
        spec(JOB.replace("{", "{id: a, ") + "triggers: [{metric: a, id: a}]"),
        "9:30",
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
        spec(POOL + "storage: [{name: a, size: 1Gi, mountPath: /a, retain: true}]"),
        "9:57",
        "each sandbox has a claim of its own",
    ),
]

SCHEDULES = [
    bad(
        "never comes",
        spec('type: Job\nschedules: [{cron: "0 0 31 2 *"}]'),
        "8:22",
        "spec.schedules[0].cron",
        "never comes",
    ),
    bad(
        "time zone",
        spec('type: Job\nschedules: [{cron: "0 2 * * *", timezone: Europe/Lundon}]'),
        "8:45",
        "spec.schedules[0].timezone",
        'did you mean "Europe/London"?',
    ),
    bad(
        "time zone out of the database's folder",
        spec('type: Job\nschedules: [{cron: "0 2 * * *", timezone: ../etc/passwd}]'),
        "8:45",
        "expected a time zone",
    ),
    bad(
        "two of one id",
        spec('type: Job\nschedules: [{id: a, cron: "0 2 * * *"}, {id: a, cron: "0 3 * * *"}]'),
        "8:48",
        "ids of schedules and triggers must be unique",
    ),
    bad(
        "an id that is a position",
        spec('type: Job\nschedules: [{id: "1", cron: "0 2 * * *"}, {cron: "0 3 * * *"}]'),
        "8:45",
        "'triage-1' twice",
    ),
    bad(
        "name of the CronJob too long",
        agent("a" * 50, 'type: Job\nschedules: [{id: nightly, cron: "0 2 * * *"}]'),
        "8:20",
        "at most 52 characters",
        "(58)",
    ),
    bad(
        "input that env would hide",
        spec(
            'type: Job\nschedules: [{cron: "0 2 * * *", input: text}]\n'
            "env: [{name: AGENT_INPUT, value: other}]"
        ),
        "8:42",
        "spec.schedules[0].input",
        "'AGENT_INPUT' in env, too",
    ),
    bad(
        "retries",
        spec('type: Job\nschedules: [{cron: "0 2 * * *", retries: 11}]'),
        "8:44",
        "expected a number from 0 to 10",
    ),
]


@pytest.mark.parametrize("case", REFUSED + SCHEDULES)
def test_it_is_refused_at_its_place(tmp_path: Path, case: Bad) -> None:
    assert_refused(tmp_path, case)


def test_a_trigger_needs_keda_and_a_source_of_metrics(tmp_path: Path) -> None:
    write(tmp_path, MANIFEST, spec(JOB + "triggers: [{metric: a}]"))
    write(tmp_path, STACK, "config: {}")
    first, second = (str(error) for error in errors_of(tmp_path, "dev").errors)
    assert first.startswith("agents/triage.yaml:9:14: spec.triggers[0]: needs KEDA (")
    assert "spec.triggers[0].metric: needs a source of metrics" in second
