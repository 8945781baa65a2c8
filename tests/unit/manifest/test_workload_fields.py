"""Values of life cycle, scaling, rollout and containers that cannot be meant, at their place."""

from pathlib import Path

import pytest

from tests.unit.manifest.projects import (
    IMAGE,
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

DIGEST = "6" * 64
FETCH = f'uri: "https://a.example/w.bin", sha256: "{DIGEST}", to: /models'
SECRET = "secrets: [{name: store, ref: keys, key: token, env: TOKEN}]"
SCHEDULE = 'start: "0 8 * * *", end: "0 18 * * *", replicas: 4'
MCP = '{mcp: {url: "https://a.example/mcp", toolNames: [x], timeout: 90s}}'


def prestart(fetch: str) -> str:
    return spec(f"lifecycle:\n  preStart:\n    - fetch: {{{fetch}}}")


LIFECYCLE = [
    bad(
        "fetch without digest",
        prestart('uri: "https://a.example/w.bin", to: /models'),
        "9:9",
        "lifecycle.preStart[0].fetch.sha256",
        "this field is required",
    ),
    bad(
        "digest that is none",
        prestart(FETCH.replace(DIGEST, "abc")),
        "9:57",
        "64 lower-case hexadecimal digits",
        "sha256sum FILE",
    ),
    bad(
        "scheme that nobody fetches",
        prestart(FETCH.replace("https", "ftp")),
        "9:22",
        "expected a URI of http, https, s3 or gs",
        "s3://bucket/key",
    ),
    bad(
        "password in a URI",
        prestart(FETCH.replace("a.example", "me:pass@a.example")),
        "9:22",
        "a password in a URL (not shown)",
        "[no-literal-credentials]",
    ),
    bad(
        "folder in place of a file",
        prestart(FETCH.replace("w.bin", "")),
        "9:22",
        "ends in a file's name",
    ),
    bad(
        "quote in a URI",
        prestart(FETCH.replace("w.bin", "w'.bin")),
        "9:22",
        "without spaces, quotes",
    ),
    bad(
        "step of both kinds",
        spec(f"lifecycle:\n  preStart:\n    - {{fetch: {{{FETCH}}}, command: [x]}}"),
        "9:9",
        "exactly one of fetch and command",
    ),
    bad(
        "one file fetched twice",
        spec(f"lifecycle:\n  preStart:\n    - fetch: {{{FETCH}}}\n    - fetch: {{{FETCH}}}"),
        "10:129",
        "two fetches must not write one file",
        "'/models/w.bin'",
    ),
    bad(
        "fetch into a secret",
        spec(
            "secrets: [{name: a, ref: b, mountPath: /models}]\n"
            f"lifecycle:\n  preStart:\n    - fetch: {{{FETCH}}}"
        ),
        "10:129",
        "a folder that can be written to",
    ),
    bad(
        "unknown credentials",
        prestart(f"{FETCH}, credentials: stor"),
        "9:151",
        "the name of an entry of secrets[]",
        "'stor' (there: none)",
    ),
    bad(
        "credentials in a variable",
        spec(f"{SECRET}\nlifecycle:\n  preStart:\n    - fetch: {{{FETCH}, credentials: store}}"),
        "10:151",
        "with mountPath",
    ),
    bad(
        "token without key",
        spec(
            "secrets: [{name: store, ref: keys, mountPath: /run/keys}]\n"
            f"lifecycle:\n  preStart:\n    - fetch: {{{FETCH}, credentials: store}}"
        ),
        "10:151",
        "with key",
    ),
    bad(
        "warm-up beside a startup probe",
        spec("probes: {startup: {tcpPort: 1}}\nlifecycle: {warmup: {http: /warm}}"),
        "8:15",
        "lifecycle.warmup is the startup probe",
        "remove probes.startup",
    ),
    bad(
        "warm-up of nothing",
        spec("lifecycle: {warmup: {timeout: 5m}}"),
        "7:15",
        "exactly one of http and command",
    ),
    bad(
        "warm-up longer than an update",
        spec(
            "rollout: {progressDeadlineSeconds: 300}\n"
            "lifecycle: {warmup: {http: /warm, timeout: 10m}}"
        ),
        "7:38",
        "longer than the warm-up",
        "300 s, the warm-up may take 600 s",
    ),
    bad(
        "102 grace shorter than tool and hook",
        spec(f"tools: [{MCP}]\nlifecycle: {{terminationGracePeriodSeconds: 92}}"),
        "8:46",
        "must cover the longest tool timeout and preStop",
        "92 s, the longest tool may take 90 s and preStop 5 s",
        "set it to 95 or more",
    ),
    bad(
        "probe of two kinds",
        spec("probes: {liveness: {tcpPort: 1, grpc: {}}}"),
        "7:12",
        "exactly one of httpGet, command, tcpPort and grpc",
    ),
    bad(
        "liveness that must succeed twice",
        spec("probes: {liveness: {tcpPort: 1, successThreshold: 2}}"),
        "7:53",
        "successThreshold of liveness must be 1",
    ),
    bad(
        "readiness that restarts",
        spec("probes: {readiness: {tcpPort: 1, terminationGracePeriodSeconds: 2}}"),
        "7:67",
        "no effect on readiness",
    ),
    bad(
        "leader without a way to the API server",
        spec("lifecycle: {leaderElection: true}"),
        "7:31",
        "needs the API server",
        "network.egress.cidrs",
    ),
]

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
        spec("availability: {active: standby}"),
        "7:26",
        "there is no standby",
    ),
]

ROLLOUT = [
    bad(
        "steps of a rolling update",
        spec("rollout: {steps: [{setWeight: 10}]}"),
        "7:20",
        "rollout.steps",
        "no effect with strategy RollingUpdate",
        "use Canary",
    ),
    bad(
        "surge of blue-green",
        spec("rollout: {strategy: BlueGreen, maxSurge: 2}"),
        "7:44",
        "no effect with strategy BlueGreen",
    ),
    bad(
        "rollback of a rolling update",
        spec("rollout: {autoRollback: false}"),
        "7:27",
        "no effect with strategy RollingUpdate",
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
        spec("rollout: {strategy: Canary, steps: [{setWeight: 50, pause: 5m}]}"),
        "7:39",
        "exactly one of setWeight and pause",
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
            "  steps: [{setWeight: 10}, {setWeight: 50}, {pause: 5m}]"
        ),
        "10:13",
        "a pause must follow each setWeight",
        "add {pause: 10m}",
    ),
    bad(
        "analysis of nothing",
        spec("rollout: {strategy: BlueGreen, analysis: {window: 5m}}"),
        "7:34",
        "at least one of maxErrorRate",
    ),
    bad(
        "two versions at one claim",
        spec("storage: [{name: a, size: 1Gi, mountPath: /a}]\nrollout: {strategy: BlueGreen}"),
        "8:23",
        "a claim has a single writer",
        "ReadWriteMany",
    ),
    bad(
        "standby at one claim",
        spec("storage: [{name: a, size: 1Gi, mountPath: /a}]\navailability: {standby: true}"),
        "8:27",
        "a standby needs the volumes",
    ),
    bad(
        "standby and blue-green",
        spec("rollout: {strategy: BlueGreen}\navailability: {standby: true}"),
        "8:27",
        "would both move the Service",
    ),
]

CONTAINERS = [
    bad(
        "sidecar without image",
        spec("sidecars: [{name: a}]"),
        "7:14",
        "this field is required",
        "add image",
    ),
    bad(
        "sidecar by tag",
        spec("sidecars: [{name: a, image: a/b:1}]"),
        "7:31",
        "[image-digest-pinned]",
    ),
    bad(
        "sidecar with an unknown field",
        spec(f'sidecars: [{{name: a, image: "{IMAGE}", prots: []}}]'),
        "7:129",
        "sidecars[0].prots",
        'did you mean "ports"?',
    ),
    bad(
        "sidecar of the agent's name",
        spec(f'sidecars: [{{name: agent, image: "{IMAGE}"}}]'),
        "7:21",
        "a name that no other container has",
    ),
    bad(
        "one name for two",
        spec(
            f'sidecars: [{{name: a, image: "{IMAGE}"}}]\n'
            f'initContainers: [{{name: a, image: "{IMAGE}"}}]'
        ),
        "8:27",
        "a name that no other container has",
    ),
    bad(
        "override of an unknown field",
        spec("podOverrides: {containers: [{name: agent, livenessProb: {}}]}"),
        "7:45",
        'did you mean "livenessProbe"?',
    ),
    bad(
        "override of another type",
        spec("podOverrides: {hostNetwork: maybe}"),
        "7:31",
        "expected true or false",
    ),
    bad(
        "override that adds a container",
        spec("podOverrides: {containers: [{name: extra}]}"),
        "7:38",
        "adds none",
        "sidecars or initContainers",
    ),
    bad(
        "affinity misspelt",
        spec("affinity: {podAntiAfinity: {}}"),
        "7:14",
        'did you mean "podAntiAffinity"?',
    ),
    bad(
        "security context misspelt",
        spec("security: {securityContext: {runAsNonRot: true}}"),
        "7:32",
        'did you mean "runAsNonRoot"?',
    ),
    bad(
        "toleration of another type",
        spec("tolerations: [{tolerationSeconds: soon}]"),
        "7:37",
        "expected an integer",
    ),
    bad(
        "85 class that does not come out",
        spec("qosClass: Guaranteed"),
        "7:13",
        "the pods would be Burstable, not Guaranteed",
        "cpu of container agent: request 100m, limit 1",
    ),
    bad("class that nobody gets", spec("qosClass: BestEffort"), "7:13", "remove qosClass"),
    bad(
        "language without the operator",
        spec("telemetry: {traces: {language: python}}"),
        "7:34",
        "no effect without the operator",
    ),
]


@pytest.mark.parametrize("case", [*LIFECYCLE, *SCALING, *ROLLOUT, *CONTAINERS])
def test_a_bad_field_is_refused_at_its_place(tmp_path: Path, case: Bad) -> None:
    assert_refused(tmp_path, case)


NEEDS = [
    pytest.param("queueName: a", "spec.queueName needs Kueue", "kueue", id="queue"),
    pytest.param(
        "rollout: {strategy: BlueGreen}", "needs Argo Rollouts", "argo-rollouts", id="blue-green"
    ),
    pytest.param(f"scaling: {{schedules: [{{{SCHEDULE}}}]}}", "needs KEDA", "keda", id="schedule"),
    pytest.param(
        "telemetry: {traces: {inject: operator, endpoint: http://o.m.svc:4317}}",
        "needs OpenTelemetry Operator",
        "opentelemetry-operator",
        id="operator",
    ),
    pytest.param(
        "telemetry: {logs: {shipper: sidecar}, traces: {endpoint: http://o.m.svc:4317}}",
        "spec.telemetry.logs.shipper: needs an image",
        "holdfast:images.logShipper",
        id="shipper",
    ),
    pytest.param(
        f'lifecycle: {{preStart: [{{fetch: {{uri: "s3://b/w", sha256: "{DIGEST}", to: /m}}}}]}}',
        "needs a store for s3://",
        "holdfast:objectStores.s3",
        id="store",
    ),
]


@pytest.mark.parametrize(("text", "words", "remedy"), NEEDS)
def test_what_a_stack_does_not_offer_is_refused_at_the_field_that_needs_it(
    tmp_path: Path, text: str, words: str, remedy: str
) -> None:
    write(tmp_path, MANIFEST, agent(spec=text))
    write(tmp_path, STACK, "config: {}")
    found = [str(error) for error in errors_of(tmp_path, "dev").errors]
    assert any(words.replace("spec.queueName ", "spec.queueName: ") in each for each in found)
    assert any(remedy in each for each in found)
    assert all(each.startswith(f"{MANIFEST}:7:") for each in found)
