"""Every field of a rendered object leads back to the line that declares it."""

from pathlib import Path

import pytest
from holdfast.kube.objects import ObjectRef, reference_of
from holdfast.kube.paths import Path as FieldPath
from holdfast.kube.paths import format_path, parse_path
from holdfast.manifest.fleet.fleet import DeclaredAgent
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.render.fleet import render_fleet
from holdfast.render.plan.planning import plan_fleet
from holdfast.render.provenance.field_variants import variants
from holdfast.render.provenance.origins import Origins

MANIFEST = """\
apiVersion: holdfast.dev/v1alpha1
kind: Agent
metadata:
  name: triage
  labels: {tier: front}
spec:
  version: 1.0.0
  image: registry.example/triage@sha256:{digest}
  model: {ref: shared}
  container:
    env:
      - {name: LEVEL, value: info}
    resources:
      limits: {cpu: "1", memory: 1Gi}
  storage:
    volumes:
      - {name: index, size: 1Gi, mountPath: /data}
  config:
    - {name: rules, mountPath: /etc/rules, data: {rules.yaml: "a: 1"}}
---
apiVersion: holdfast.dev/v1alpha1
kind: ModelConfig
metadata: {name: shared}
spec:
  provider: Anthropic
  name: claude
"""
STACK = """\
config:
  holdfast:telemetry: {otlpEndpoint: http://otel.monitoring.svc:4317}
  holdfast:agents:
    triage:
      storage:
        volumes:
          - {name: index, size: 2Gi}
"""
AGENT, SETTINGS = "agents/triage.yaml", "stacks/Pulumi.dev.yaml"
CONTAINER = "spec.template.spec.containers[name=agent]"


@pytest.fixture(scope="module")
def origins(tmp_path_factory: pytest.TempPathFactory) -> Origins:
    root = tmp_path_factory.mktemp("project")
    for name, text in ((AGENT, MANIFEST.replace("{digest}", "1" * 64)), (SETTINGS, STACK)):
        file = root / name
        file.parent.mkdir()
        file.write_text(text)
    (root / "Pulumi.yaml").write_text("name: p\nruntime: python\n")
    return Origins(load_fleet(Path(root), "dev"), "dev")


def ref(kind: str, name: str = "triage", namespace: str = "agents") -> ObjectRef:
    versions = {"Deployment": "apps/v1", "NetworkPolicy": "networking.k8s.io/v1"}
    return ObjectRef(namespace, kind, name, versions.get(kind, "v1"))


def as_rendered(origins: Origins, named: ObjectRef) -> ObjectRef:
    """The object with the hash of its content behind its name, where it has one."""
    return next(
        reference_of(item.manifest)
        for item in render_fleet(plan_fleet(origins.fleet, "dev"))
        if item.lasting_identity == named.identity
    )


DEPLOYMENT = ref("Deployment")


@pytest.mark.parametrize(
    ("object_ref", "path", "place", "field"),
    [
        pytest.param(DEPLOYMENT, f"{CONTAINER}.image", (AGENT, 8), "spec.image", id="image"),
        pytest.param(
            DEPLOYMENT,
            f"{CONTAINER}.env[name=LEVEL].value",
            (AGENT, 12),
            "spec.container.env[0].value",
            id="value of a variable",
        ),
        pytest.param(
            DEPLOYMENT,
            f"{CONTAINER}.env[name=LEVEL]",
            (AGENT, 12),
            "spec.container.env[0]",
            id="variable",
        ),
        pytest.param(
            DEPLOYMENT,
            f"{CONTAINER}.resources.limits.memory",
            (AGENT, 14),
            "spec.container.resources.limits.memory",
            id="limit",
        ),
        pytest.param(
            DEPLOYMENT,
            f"{CONTAINER}.lifecycle.preStop.sleep.seconds",
            (AGENT, 4),
            "",
            id="a default, at the agent itself",
        ),
        pytest.param(
            DEPLOYMENT,
            f"{CONTAINER}.env[name=MODEL_PROVIDER].value",
            (AGENT, 25),
            "spec.provider",
            id="what another manifest shares",
        ),
        pytest.param(
            DEPLOYMENT,
            f"{CONTAINER}.env[name=OTEL_EXPORTER_OTLP_ENDPOINT].value",
            (SETTINGS, 2),
            "telemetry.otlpEndpoint",
            id="a setting of the stack",
        ),
        pytest.param(
            ref("PersistentVolumeClaim", "triage-index"),
            "spec.resources.requests.storage",
            (SETTINGS, 7),
            "spec.storage.volumes[0].size",
            id="what the stack overrides",
        ),
        pytest.param(
            ref("ConfigMap", "triage-rules"),
            'data["rules.yaml"]',
            (AGENT, 19),
            'spec.config[0].data["rules.yaml"]',
            id="key of a configuration",
        ),
        pytest.param(
            DEPLOYMENT, "metadata.labels.tier", (AGENT, 5), "metadata.labels.tier", id="label"
        ),
        pytest.param(DEPLOYMENT, "", (AGENT, 4), "", id="whole object"),
        pytest.param(
            ref("PersistentVolumeClaim", "triage-index"),
            "",
            (SETTINGS, 7),
            "spec.storage.volumes[0].name",
            id="whole object that one entry asks for",
        ),
        pytest.param(
            DEPLOYMENT,
            f"{CONTAINER}.securityContext.privileged",
            (AGENT, 6),
            "spec.pod.security",
            id="what is not for a manifest to choose: what is around it",
        ),
        pytest.param(
            DEPLOYMENT,
            f"{CONTAINER}.resources.claims[0]",
            (AGENT, 13),
            "spec.container.resources",
            id="what is not rendered: what is around it",
        ),
        pytest.param(
            DEPLOYMENT,
            f"{CONTAINER}.env[name=NEW]",
            (AGENT, 11),
            "spec.container.env",
            id="a new variable",
        ),
        pytest.param(
            DEPLOYMENT, "metadata.labels.new", (AGENT, 5), "metadata.labels", id="a new label"
        ),
        pytest.param(
            DEPLOYMENT,
            "spec.template.spec.tolerations[0]",
            (AGENT, 6),
            "spec.pod.tolerations",
            id="a list of which nothing is declared",
        ),
        pytest.param(
            ref("Namespace", "agents", ""), "", (AGENT, 3), "metadata.namespace", id="namespace"
        ),
    ],
)
def test_a_field_leads_to_its_line(
    origins: Origins, object_ref: ObjectRef, path: str, place: tuple[str, int], field: str
) -> None:
    object_ref = as_rendered(origins, object_ref)
    found = origins.origin_of(object_ref, parse_path(path))
    assert found is not None
    assert (found.location.file, found.location.line) == place
    assert format_path(found.path) == field
    assert origins.declared_at(object_ref, parse_path(path)) == found.location


def test_an_object_that_no_agent_declares_has_no_place(origins: Origins) -> None:
    assert origins.declared_at(ref("ConfigMap", "kube-root-ca.crt")) is None
    assert origins.declared_at(ref("Namespace", "elsewhere", "")) is None


def test_every_written_field_that_shows_in_an_object_is_named(origins: Origins) -> None:
    """Law: whichever written value is changed, one of the paths it moves leads back to it."""
    (agent,) = origins.fleet.agents
    objects = [
        reference_of(item.manifest) for item in render_fleet(plan_fleet(origins.fleet, "dev"))
    ]
    named = {
        format_path(found.path)
        for each in objects
        if each.kind != "Namespace"
        for leaf in origins.leaves_of(each)
        if (found := origins.origin_of(each, leaf))
    }
    written = {format_path(path) for path, _ in variants(agent.agent) if is_written(agent, path)}
    assert "spec.image" in written
    # What all objects show leads to the agent; a reference cannot be changed by itself.
    silent = {"apiVersion", "kind", "metadata.name", "spec.version", "spec.model.ref"}
    assert {each for each in written - silent if each not in named} == set()


def is_written(agent: DeclaredAgent, path: FieldPath) -> bool:
    place = agent.origin
    for part in path:
        below = place.child(part)
        if below is None:
            return False
        place = below
    return True


def test_beyond_so_many_agents_the_place_of_a_field_is_that_of_its_agent(
    origins: Origins, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.render.provenance.origins.MOST_AGENTS", 0)
    unasked = Origins(origins.fleet, origins.stack)
    image = parse_path(f"{CONTAINER}.image")

    assert str(unasked.declared_at(DEPLOYMENT, image)).startswith(f"{AGENT}:4:")
    exact = unasked.origin_of(DEPLOYMENT, image)
    assert exact is not None
    assert exact.location.line == 8
