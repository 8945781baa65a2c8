"""Alice has every right in the agents' namespaces, and is not the deployer: what she cannot win.

Each try is made by her own user on a real API server, without the admission policy that would
refuse most of them, and is in effect before the operator or a scan is asked; the last tests show
that the policy refuses them.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from holdfast.controllers.operator.admission import deployer_policy
from holdfast.controllers.operator.manifests import NAMESPACE as OPERATORS
from holdfast.errors import ExitCode
from holdfast.kube.objects import KubeObject
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.stack.agent_resources import AgentResources
from holdfast.render.fleet import render_fleet
from holdfast.render.plan.planning import plan_fleet

from tests.e2e.fleet_project import FleetProject
from tests.e2e.live_sandbox import Kubectl, LiveSandbox, run_holdfast
from tests.e2e.operated_agents import manifests
from tests.e2e.operating import Operating, eventually, operating

pytestmark = pytest.mark.e2e

STACK = "made"
HELD = "made"
"""The agents' namespace, in which alice may do everything."""

HERS = "a-alice"
"""A namespace of her own, which comes first in a list."""

LONGEST_SECONDS = 60.0
POLICY_SETTLES_SECONDS = 30.0


@dataclass(frozen=True)
class Stage:
    """A stack in mode observe, deployed by another than alice, with its operator."""

    kubectl: Kubectl
    objects: list[KubeObject]
    folder: Path

    def deploy(self) -> None:
        """What an update does: the declaration first, everything else, the mark of its end."""
        last = [one for one in self.objects if one["metadata"]["name"].endswith(".deployed")]
        for one in [*(each for each in self.objects if each not in last), *last]:
            options = ("--server-side", "--force-conflicts", "--validate=false")
            manager = ("--field-manager=holdfast", "-f", "-")
            self.kubectl("apply", *options, *manager, stdin=json.dumps(one))

    def alice(self, *arguments: str, stdin: str | None = None) -> None:
        """She does it, and it is done."""
        self.kubectl(*arguments, user="alice", stdin=stdin)

    def makes(self, kind: str, name: str, namespace: str, **content: Any) -> None:
        """She makes an object that looks like one of the stack."""
        labels = {"app.kubernetes.io/managed-by": "holdfast", "app.kubernetes.io/instance": STACK}
        metadata = {"name": name, "namespace": namespace, "labels": labels}
        group = "v1" if kind in {"ConfigMap", "Deployment"} else "holdfast.dev/v1alpha1"
        one = {"apiVersion": group, "kind": kind, "metadata": metadata, **content}
        self.kubectl.apply(one, user="alice")

    def pod_of(self, agent: str) -> dict[str, Any]:
        found = self.kubectl.get(f"deployment/{agent}", "-n", HELD)
        spec: dict[str, Any] = found["spec"]["template"]["spec"]
        return spec

    def drift(self) -> tuple[int, set[str]]:
        """Exit code of a scan of what was deployed, by somebody else, and the paths it names."""
        desired = self.folder / "desired.yaml"
        desired.write_text(yaml.safe_dump_all(self.objects))
        kubeconfig = str(self.kubectl.sandbox.kubeconfig())
        options = ("--desired", str(desired), "--kubeconfig", kubeconfig, "-o", "json")
        done = run_holdfast("drift", *options)
        findings = json.loads(done.stdout)["findings"]
        return done.returncode, {each["path"] for each in findings if each["severity"] != "info"}


def rights_of_alice(namespace: str) -> list[KubeObject]:
    rules = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
    metadata = {"name": "alice", "namespace": namespace}
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": metadata}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "alice"}
    user = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "alice@example.test"}
    binding = {**role, "kind": "RoleBinding", "roleRef": reference, "subjects": [user]}
    return [{**role, "rules": rules}, binding]


@pytest.fixture(scope="module")
def stage(sandbox: LiveSandbox, tmp_path_factory: pytest.TempPathFactory) -> Stage:
    done = sandbox.run("up", "--with", "holdfast")
    assert done.returncode == 0, done.stderr
    folder = tmp_path_factory.mktemp("observed")
    settings = {"namespace": HELD, "policy": {"profile": "dev"}}
    fleet = load_fleet(FleetProject.write(folder, sandbox, manifests(HELD), settings).root, "dev")
    observe = {"agent_resources": AgentResources(mode="observe")}
    fleet = replace(fleet, environment=fleet.environment.model_copy(update=observe))
    objects = [item.manifest for item in render_fleet(plan_fleet(fleet, STACK))]
    kubectl = Kubectl(sandbox)
    kubectl("create", "namespace", HERS)
    found = Stage(kubectl, objects, folder)
    found.deploy()
    kubectl.apply(*rights_of_alice(HELD), *rights_of_alice(HERS))
    return found


@pytest.fixture(scope="module")
def operator(stage: Stage) -> Iterator[Operating]:
    with operating(stage.kubectl.sandbox.kubeconfig(), STACK) as running:
        for name in ("held", "told"):
            waited = ("condition=Programmed", f"agent/{name}", "-n", HELD)
            stage.kubectl.wait_for(*waited, seconds=170)
        yield running


Try = Callable[[Stage], None]
PATCH = ("patch", "--type=merge", "-n", HELD, "-p")
REPORT = '{"spec":{"drift":{"mode":"report"}}}'


def patched(what: str, change: dict[str, Any], *options: str) -> Try:
    return lambda stage: stage.alice("patch", what, "--type=merge", "-n", HELD, *options, "-p",
                                     json.dumps(change))  # fmt: skip


def made(kind: str, name: str, namespace: str, **content: Any) -> Try:
    return lambda stage: stage.makes(kind, name, namespace, **content)


def all_of(*tries: Try) -> Try:
    def do(stage: Stage) -> None:
        for each in tries:
            each(stage)

    return do


WEAK = json.dumps({"policy": {"profile": "dev", "rules": {"all": "disabled"}}})
IGNORED = {
    "reason": "none", "owner": "alice", "expires": "2099-01-01",
    "target": {"namespace": HELD}, "managers": ["*"],
}  # fmt: skip
AGENT_SPEC = {"version": "1.0.0", "image": f"evil.example/x@sha256:{'6' * 64}"}

COVERS: dict[str, Try] = {
    "mode of the agent": patched("agent/held", {"spec": {"drift": {"mode": "report"}}}),
    "pause": patched("agent/held", {"metadata": {"annotations": {"holdfast.dev/paused": "true"}}}),
    "revision of the object": patched(
        "deployment/held", {"metadata": {"annotations": {"holdfast.dev/revision": "0"}}}
    ),
    "revision of another object": patched(
        "serviceaccount/held", {"metadata": {"annotations": {"holdfast.dev/revision": "0"}}}
    ),
    "status of the agent": patched(
        "agent/held", {"status": {"revision": "forged"}}, "--subresource=status"
    ),
    "agent deleted": lambda stage: stage.alice("delete", "agent/held", "-n", HELD),
    "labels of the agent taken away": patched(
        "agent/held", {"metadata": {"labels": {"app.kubernetes.io/instance": None}}}
    ),
    "annotation that every object would carry": patched(
        "agent/held", {"metadata": {"annotations": {"team": "x"}}}
    ),
    "image of the agent": patched("agent/held", {"spec": {"image": AGENT_SPEC["image"]}}),
    "namesake in a namespace before": made("Agent", "held", HERS, spec=AGENT_SPEC),
    "settings in a namespace before": made(
        "ConfigMap", f"holdfast-stack-{STACK}", HERS, data={"environment.json": WEAK}
    ),
    "settings edited": patched(
        f"configmap/holdfast-stack-{STACK}", {"data": {"environment.json": WEAK}}
    ),
    "settings deleted": lambda stage: stage.alice(
        "delete", f"configmap/holdfast-stack-{STACK}", "-n", HELD
    ),
    "model that it refers to deleted": lambda stage: stage.alice(
        "delete", "modelconfig/main", "-n", HELD
    ),
    "ignore rule": made("DriftIgnore", "mine", HERS, spec=IGNORED),
    "delivered by an engine": patched(
        "deployment/held",
        {"metadata": {"annotations": {"argocd.argoproj.io/tracking-id": "a"}}},
        "--field-manager=argocd-controller",
    ),
}


@pytest.fixture
def healed(stage: Stage) -> Iterator[None]:
    """After each try the deployer deploys again."""
    yield
    stage.kubectl.run("delete", "agents,configmaps,driftignores", "--all", "-n", HERS)
    stage.deploy()
    eventually(lambda: not stage.pod_of("held").get("hostNetwork"), "the agent as declared")


@pytest.mark.usefixtures("operator", "healed")
@pytest.mark.parametrize("cover", [pytest.param(each, id=name) for name, each in COVERS.items()])
def test_a_critical_finding_is_put_back_within_a_minute_whatever_alice_does_first(
    stage: Stage, cover: Try
) -> None:
    cover(stage)
    time.sleep(1.0)
    before = stage.kubectl.get("deployment/held", "-n", HELD)["metadata"]["generation"]
    patched("deployment/held", {"spec": {"template": {"spec": {"hostNetwork": True}}}})(stage)
    began = time.monotonic()
    eventually(lambda: not stage.pod_of("held").get("hostNetwork"), "the edit put back")
    assert time.monotonic() - began <= LONGEST_SECONDS
    after = stage.kubectl.get("deployment/held", "-n", HELD)["metadata"]["generation"]
    assert after >= before + 2, "it was in effect, and was put back"


@pytest.mark.usefixtures("operator", "healed")
def test_editing_time_and_again_only_slows_the_revert_of_a_critical_finding(stage: Stage) -> None:
    edit = patched("deployment/held", {"spec": {"template": {"spec": {"hostNetwork": True}}}})
    for _ in range(7):
        edit(stage)
        began = time.monotonic()
        eventually(lambda: not stage.pod_of("held").get("hostNetwork"), "the edit put back")
        assert time.monotonic() - began <= LONGEST_SECONDS


@pytest.mark.usefixtures("operator", "healed")
def test_an_agent_of_alice_gets_nothing_from_the_operator(stage: Stage) -> None:
    rules = [{"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["create", "patch"]}]
    spec = {**AGENT_SPEC, "pod": {"security": {"automountToken": True, "rbac": [{"rules": rules}]}}}
    stage.makes("Agent", "pwn", HELD, spec=spec)
    try:
        time.sleep(5.0)
        kinds = "deployments,roles,rolebindings,serviceaccounts,jobs"
        names = stage.kubectl("get", kinds, "-n", HELD, "-o", "name")
        assert "pwn" not in names
        agent = stage.kubectl.get("agent/pwn", "-n", HELD)
        conditions = {each["type"]: each for each in agent["status"]["conditions"]}
        assert conditions["Accepted"]["status"] == "False"
        assert "not declared" in conditions["Accepted"]["message"]
    finally:
        stage.alice("delete", "agent/pwn", "-n", HELD)


HIDDEN: dict[str, Sequence[str]] = {
    "as the deployer's manager": ("--field-manager=holdfast",),
    "as the engine's manager": ("--field-manager=pulumi-kubernetes-0a1b2c3d",),
    "as a controller": ("--field-manager=kube-controller-manager",),
    "as another engine": ("--field-manager=kustomize-controller",),
}


@pytest.mark.usefixtures("healed")
@pytest.mark.parametrize("options", [pytest.param(each, id=name) for name, each in HIDDEN.items()])
def test_a_scan_is_not_in_sync_with_the_change_of_alice_in_place(
    stage: Stage, options: Sequence[str]
) -> None:
    change = {"spec": {"template": {"spec": {"hostPID": True}}}}
    patched("deployment/told", change, *options)(stage)
    assert stage.pod_of("told")["hostPID"] is True
    code, paths = stage.drift()
    assert code == ExitCode.DRIFT
    assert any("hostPID" in each for each in paths), paths
    patched("deployment/told", {"spec": {"template": {"spec": {"hostPID": None}}}})(stage)


REFUSED = {
    name: COVERS[name]
    for name in ("mode of the agent", "pause", "agent deleted", "image of the agent",
                 "settings edited", "model that it refers to deleted")
}  # fmt: skip


@pytest.fixture(scope="module")
def policy(stage: Stage) -> None:
    """What `operator install` adds; in force when it refuses."""
    stage.kubectl.apply(*deployer_policy(STACK, OPERATORS, f"operator-{STACK}"))
    harmless = ("annotate", "agent/told", "-n", HELD, "--overwrite")

    def refuses() -> bool:
        return bool(stage.kubectl.run(*harmless, f"x={time.time()}", user="alice").returncode)

    deadline = time.monotonic() + POLICY_SETTLES_SECONDS
    while not refuses():
        assert time.monotonic() < deadline, "the policy is not in force"
        time.sleep(0.5)


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize("name", REFUSED)
def test_the_admission_policy_refuses_what_only_the_deployer_writes(
    stage: Stage, name: str
) -> None:
    with pytest.raises(AssertionError, match="only the deployer of stack made writes this"):
        REFUSED[name](stage)
    stage.deploy()  # the deployer is not refused
