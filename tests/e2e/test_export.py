"""What `holdfast render` writes for other tools is what those tools make the same objects of."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from holdfast.adapters.engine.run.toolchain import find_program
from holdfast.adapters.engine.stack import open_stack

from tests.e2e.fleet_project import FleetProject
from tests.e2e.live_sandbox import Kubectl, LiveSandbox, run_holdfast

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).resolve().parents[2]
STACKS = ("dev", "staging", "prod")
REPOSITORY = ("--repo", "https://git.example.com/team/agents.git", "--path", "deploy")
KEEP_MARKS = ("helm.sh/resource-policy",)
Identity = tuple[str, str, str]


@pytest.fixture(scope="session")
def tools() -> Path:
    """Helm and the definitions of Argo CD and Flux, as `make testtools` lays them down."""
    script = ROOT / "toolchain" / "test_tools.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def render(*arguments: str) -> str:
    done = run_holdfast("render", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rendered(stack: str) -> dict[Identity, Any]:
    return by_identity(json.loads(render("-s", stack, "-o", "json"))["items"])


def by_identity(objects: Sequence[Any]) -> dict[Identity, Any]:
    found: dict[Identity, Any] = {}
    for each in objects:
        metadata = each["metadata"]
        identity = (each["kind"], metadata.get("namespace", ""), metadata["name"])
        assert identity not in found
        found[identity] = each
    return found


@pytest.fixture(scope="module", autouse=True)
def in_the_project() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        yield


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every form of all stacks."""
    folder = tmp_path_factory.mktemp("written")
    stacks = [part for stack in STACKS for part in ("-s", stack)]
    for form in ("kustomize", "helm", "argocd", "flux", "pko"):
        where = REPOSITORY if form in ("argocd", "flux") else ()
        render(*stacks, "-o", form, "--to", str(folder / form), *where)
    return folder


@pytest.mark.parametrize("stack", STACKS)
def test_kustomize_builds_an_overlay_to_the_objects_of_the_stack(stack: str, written: Path) -> None:
    built = run([str(find_program("kubectl")), "kustomize", str(overlay(written, stack))])
    assert by_identity(list(yaml.safe_load_all(built))) == rendered(stack)


@pytest.mark.parametrize("stack", STACKS)
def test_helm_templates_the_chart_to_the_objects_of_the_stack(
    stack: str, written: Path, tools: Path
) -> None:
    chart = written / "helm"
    values = chart / f"values-{stack}.yaml"
    helm = str(tools / "helm")
    run([helm, "lint", "--strict", str(chart), "-f", str(values)])
    templated = run([helm, "template", "release", str(chart), "-f", str(values)])
    objects = by_identity([each for each in yaml.safe_load_all(templated) if each])
    kept = [each for each in objects.values() if marked_to_be_kept(each)]
    assert {each["kind"] for each in kept} <= {"PersistentVolumeClaim", "Namespace"}
    assert kept
    assert objects == rendered(stack)


@pytest.mark.parametrize("form", ["kustomize", "helm"])
def test_what_is_edited_in_the_written_files_is_read_back_into_the_manifests(
    form: str, written: Path, tools: Path, tmp_path: Path, sandbox: LiveSandbox
) -> None:
    """Nothing is lost: each edit lands in a manifest, or is named with why it cannot."""
    (tmp_path / "project").mkdir()
    project = FleetProject.copy(tmp_path / "project", sandbox)
    edited = tmp_path / "edited"
    shutil.copytree(written / form, edited)
    if form == "kustomize":
        [patch] = (edited / "overlays" / "prod").rglob("ops-deployment-k8s-helper.yaml")
        change(patch, lambda patched: patched["spec"].update(replicas=5, paused=True))
        builder = [str(find_program("kubectl")), "kustomize", str(edited / "overlays" / "prod")]
    else:
        values = edited / "values-prod.yaml"
        change(
            values,
            lambda told: told["agents"]["k8s-helper"]["deployment"]["spec"].update(
                replicas=5, paused=True
            ),
        )
        builder = [str(tools / "helm"), "template", "r", str(edited), "-f", str(values)]
    built = tmp_path / "built.yaml"
    built.write_text(run(builder))
    scan = ("-s", "prod", "--live", str(built))
    adopted = project.holdfast("drift", "adopt", *scan, "--write")
    assert "+      scaling: {replicas: 5}" in adopted.stdout, adopted.stderr
    assert "not adopted: Deployment ops/k8s-helper spec.paused: " in adopted.stderr
    left = json.loads(project.holdfast("drift", *scan, "-o", "json").stdout)["findings"]
    # The edited file still has the hash of what was rendered before.
    revision = 'metadata.annotations["holdfast.dev/revision"]'
    paths = {each["path"] for each in left}
    # The stack does not list Helm among its controllers: its mark is drift.
    marks = {'metadata.annotations["helm.sh/resource-policy"]'} if form == "helm" else set()
    assert paths == {"spec.paused", revision, *marks}
    items = json.loads(project.holdfast("render", "-s", "prod", "-o", "json").stdout)["items"]
    assert by_identity(items)["Deployment", "ops", "k8s-helper"]["spec"]["replicas"] == 5


def change(file: Path, edit: Callable[[Any], object]) -> None:
    """Edit a YAML file as somebody would who works with the tool it is for."""
    content = yaml.safe_load(file.read_text())
    edit(content)
    file.write_text(yaml.safe_dump(content))


def marked_to_be_kept(kube_object: Any) -> bool:
    """Whether Helm would keep the object; takes its mark away."""
    annotations = kube_object["metadata"].get("annotations", {})
    return any(annotations.pop(mark, None) for mark in KEEP_MARKS)


def test_a_chart_installs_nothing_without_an_environment_and_one_field_as_requested(
    written: Path, tools: Path
) -> None:
    helm, chart = str(tools / "helm"), str(written / "helm")
    done = subprocess.run(
        [helm, "template", "release", chart], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "choose an environment: -f values-dev.yaml" in done.stderr
    values = ["-f", f"{chart}/values-dev.yaml"]
    change = ["--set", "agents.coder.service.spec.publishNotReadyAddresses=true"]
    changed = run([helm, "template", "release", chart, *values, *change])
    objects = by_identity([each for each in yaml.safe_load_all(changed) if each])
    assert objects["Service", "dev", "coder"]["spec"]["publishNotReadyAddresses"] is True


def test_applied_by_kubectl_an_overlay_is_what_runs_and_a_second_time_changes_nothing(
    written: Path, kubectl: Kubectl, sandbox: LiveSandbox
) -> None:
    folder = str(overlay(written, "dev"))
    options = ("--server-side", "--field-manager=kustomize-controller")
    kubectl("apply", *options, "-k", folder)
    before = versions(kubectl)
    again = kubectl("apply", *options, "-k", folder)
    assert len(again.splitlines()) == len(rendered("dev"))
    assert versions(kubectl) == before
    kubectl("delete", "--wait=false", "-k", folder)
    # The next test but one makes the namespace anew.
    kubectl.wait_for("delete", "namespace/dev", seconds=120)
    del sandbox


def versions(kubectl: Kubectl) -> dict[Identity, str]:
    """Version of the content of every object of the agents, status left out."""
    kinds = "services,serviceaccounts,configmaps,networkpolicies,roles,rolebindings,deployments"
    listed = kubectl.get(kinds, "-A", "-l", "app.kubernetes.io/managed-by=holdfast")["items"]
    assert listed
    return {
        identity: str(each["metadata"].get("generation") or each["metadata"]["resourceVersion"])
        for identity, each in by_identity(listed).items()
    }


def test_argo_cd_and_flux_accept_what_is_written_for_them(
    written: Path, tools: Path, kubectl: Kubectl
) -> None:
    for definition in sorted((tools / "definitions").rglob("*.yaml")):
        kubectl("apply", "--server-side", "-f", str(definition))
        for condition in ("jsonpath={.status.conditions[0].type}", "condition=Established"):
            kubectl.wait_for(condition, f"crd/{definition.stem}")
    for namespace in ("argocd", "flux-system"):
        kubectl("create", "namespace", namespace)
    for form in ("argocd", "flux"):
        for stack in STACKS:
            file = str(written / form / form / f"{stack}.yaml")
            kubectl("apply", "--server-side", "--validate=strict", "-f", file)
            assert overlay(written, stack, form).is_dir()
    application = kubectl.get("applications.argoproj.io/holdfast-prod", "-n", "argocd")
    assert application["spec"]["source"]["path"] == "deploy/overlays/prod"


def test_the_program_for_the_operator_runs_on_the_engine(
    written: Path, tmp_path: Path, kubectl: Kubectl, sandbox: LiveSandbox
) -> None:
    """The operator writes a Program's `program` into a Pulumi.yaml and runs it: so does this."""
    program, stack = yaml.safe_load_all((written / "pko" / "dev.yaml").read_text())
    document = {"name": "holdfast-program", "runtime": "yaml"} | program["program"]
    # One namespace of the fleet is enough, and leaves the others to other tests.
    agent = "coder"
    kept = {"namespace-dev"} | {name for name in document["resources"] if name.startswith(agent)}
    document["resources"] = {name: document["resources"][name] for name in sorted(kept)}
    (tmp_path / "Pulumi.yaml").write_text(yaml.safe_dump(document))
    run_stack = open_stack(tmp_path, stack["spec"]["stack"], kubeconfig=sandbox.kubeconfig())
    run_stack.init_if_absent()
    run_stack.up()
    wanted = rendered("dev")["Deployment", "dev", agent]
    live = kubectl.get(f"deployment/{agent}", "-n", "dev")
    revision = "holdfast.dev/revision"
    assert (
        live["metadata"]["annotations"][revision] == (wanted["metadata"]["annotations"][revision])
    )
    assert not run_stack.preview().steps


def overlay(written: Path, stack: str, form: str = "kustomize") -> Path:
    return written / form / "overlays" / stack


def run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout
