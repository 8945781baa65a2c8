"""Workloads of public projects: imported, rendered back, and compared on the real API server."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from holdfast.convert.workloads.workloads import is_workload
from holdfast.kube.objects import KubeObject, mapping_at
from holdfast.kube.paths import format_path
from holdfast.operations.describe.workload_import import objects_from_files
from holdfast.render.provenance.flatten import leaves_of

from tests.e2e.fleet_project import FleetProject
from tests.e2e.live_sandbox import Kubectl, LiveSandbox, run_holdfast
from tests.shared_material import shared_folder

pytestmark = pytest.mark.e2e

DIGEST = "a" * 64
CONTAINER = r"spec\.template\.spec\.containers\[name=agent\]\."
BY_RULE = {
    r"spec\.selector\..*": "Holdfast's own labels select the pods",
    r"spec\.strategy\.rollingUpdate\..*": "one pod more, none less, while it rolls",
    r"spec\.template\.spec\.terminationGracePeriodSeconds": "at least 60 s to end",
    rf"{CONTAINER}imagePullPolicy": "an image with a digest never changes",
    rf"{CONTAINER}image": "pinned by digest",
    rf"{CONTAINER}terminationMessagePolicy": "the last log lines say why it failed",
    rf"{CONTAINER}name": "the agent's container is called agent",
    rf"{CONTAINER}resources": "requests and limits have defaults",
    r"spec\.template\.spec\.securityContext": "restricted Pod Security",
    r"spec\.template\.spec\.volumes\[.*": "volumes have Holdfast's names",
    rf"{CONTAINER}volumeMounts\[mountPath=[^]]*\]\.readOnly": "configuration is read only",
}
"""What the imported agent has otherwise than the original, and why; nothing else may differ."""


def pinned(image: str) -> str:
    folder, separator, last = image.partition("@")[0].rpartition("/")
    return f"{folder}{separator}{last.partition(':')[0]}@sha256:{DIGEST}"


def digests_for(files: list[Path], folder: Path) -> Path:
    """A digest for every image that stands in some files."""
    images = {
        image
        for file in files
        for image in re.findall(r'image: *"?([^\s"]+)', file.read_text())
        if "@sha256" not in image
    }
    target = folder / "digests.yaml"
    target.write_text("".join(f'"{image}": sha256:{DIGEST}\n' for image in sorted(images)))
    return target


def defaulted(one: KubeObject, kubectl: Kubectl, namespace: str) -> KubeObject:
    """The object as the server would keep it, defaults filled in."""
    placed = one | {"metadata": one["metadata"] | {"namespace": namespace}}
    text = kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", stdin=json.dumps(placed))
    answer: KubeObject = json.loads(text)
    return answer


def as_agents(workload: KubeObject) -> KubeObject:
    """A copy of a Deployment with its container under the name that agents have for it."""
    copy: KubeObject = json.loads(json.dumps(workload))
    copy["spec"]["template"]["spec"]["containers"][0]["name"] = "agent"
    return copy


def leaves(one: KubeObject) -> dict[str, Any]:
    for container in one["spec"]["template"]["spec"]["containers"]:
        # Ports and volumes have Holdfast's names: their numbers and folders tell them.
        for named in (*container.get("ports", ()), *container.get("volumeMounts", ())):
            named.pop("name", None)
    return {format_path(path): value for path, value in leaves_of({"spec": one["spec"]})}


def rendered_of(
    root: Path, sandbox: LiveSandbox, files: list[Path], namespace: str
) -> tuple[dict[str, Any], dict[tuple[str, str], KubeObject]]:
    """What `holdfast agent import` says about files, and what its manifests are rendered to."""
    root.mkdir(exist_ok=True)
    project = FleetProject.write(root, sandbox, "", {"namespace": namespace, "controllers": ALL})
    (root / "agents" / "declared.yaml").unlink()
    arguments = [*map(str, files), "--digests", str(digests_for(files, root)), "-o", "json"]
    done = run_holdfast("agent", "import", *arguments, "--to", str(root / "agents"))
    assert done.returncode in {0, 1}, done.stderr
    for file in (root / "agents").glob("*.yaml"):
        # All of them into the test's own namespace, wherever their authors had them.
        text = re.sub(r"(?m)^  namespace: .*$", f'  namespace: "{namespace}"', file.read_text())
        file.write_text(text)
    rendered = project.holdfast("render", "-s", "dev", "-o", "json")
    assert rendered.returncode == 0, rendered.stderr
    objects = json.loads(rendered.stdout)["items"]
    found = {(each["kind"], each["metadata"]["name"]): each for each in objects}
    return json.loads(done.stdout), found


ALL = ["agent-sandbox"]
ALL_EXAMPLES, PLAIN_EXAMPLES = 27, 14
"""Sandboxes and templates among the project's examples; those that need no pod.overrides."""


def test_every_deployment_of_a_public_project_renders_back_to_its_equal(
    sandbox: LiveSandbox,
    kubectl: Kubectl,
    namespace: str,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    corpus = shared_folder("corpus") / "dapr-agents"
    files = [
        file for file in sorted(corpus.rglob("*.yaml")) if "kind: Deployment" in file.read_text()
    ]
    originals = [one for one in objects_from_files(files) if one["kind"] == "Deployment"]
    report, rendered = rendered_of(tmp_path, sandbox, files, namespace)
    assert len(report["agents"]) == len(originals) >= 11

    equal, ruled = 0, Counter[str]()
    for original in originals:
        before = leaves(defaulted(as_agents(original), kubectl, namespace))
        ours = rendered["Deployment", original["metadata"]["name"]]
        after = leaves(defaulted(ours, kubectl, namespace))
        for path, value in before.items():
            expected = pinned(value) if path.endswith("containers[name=agent].image") else value
            if path in after and after[path] == expected:
                equal += 1
                continue
            reason = next((why for rule, why in BY_RULE.items() if re.fullmatch(rule, path)), "")
            assert reason, (
                f"{original['metadata']['name']}: {path}: {value!r} → {after.get(path)!r}"
            )
            ruled[reason] += 1
        labels = mapping_at(original, "spec", "template", "metadata", "labels")
        assert labels.items() <= ours["spec"]["template"]["metadata"]["labels"].items()
    record_property("deployments", len(originals))
    record_property("fields equal", equal)
    record_property("fields by rule", dict(ruled))
    assert equal > 15 * len(originals)
    lost = {remark["path"]: remark["value"] for a in report["agents"] for remark in a["notCarried"]}
    assert lost == {"spec.type": "NodePort"}
    assert all(not agent["podOverrides"] for agent in report["agents"])


def filled_in(file: Path, folder: Path) -> Path:
    """A copy of an example in which what its readers are to fill in is filled in."""
    copy = folder / file.name
    word = re.compile(r"\$\{([A-Z_]+)[^}]*\}|\$([A-Z_]+)")
    text = word.sub(
        lambda found: str(found[1] or found[2]).lower().replace("_", "-"), file.read_text()
    )
    copy.write_text(text)
    return copy


def test_sandboxes_of_the_project_that_defines_them_are_imported_and_accepted(
    defined_sandbox: LiveSandbox,
    kubectl: Kubectl,
    namespace: str,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    examples = shared_folder("corpus") / "agent-sandbox" / "examples"
    plain: list[str] = []
    escaped: list[str] = []
    refused: list[str] = []
    for number, file in enumerate(sorted(examples.rglob("*.yaml"))):
        documents = list(yaml.safe_load_all(file.read_text()))
        if any(not isinstance(each, dict) or "apiVersion" not in each for each in documents):
            continue
        sandboxes = [each for each in documents if is_workload(each) and "Sandbox" in each["kind"]]
        if not sandboxes:
            continue
        root = tmp_path / str(number)
        root.mkdir()
        example = filled_in(file, root)
        report, rendered = rendered_of(root / "project", defined_sandbox, [example], namespace)
        for agent in report["agents"]:
            (escaped if agent["podOverrides"] else plain).append(agent["name"])
        for (kind, name), one in rendered.items():
            if kind in {"Sandbox", "SandboxTemplate", "SandboxWarmPool"}:
                done = kubectl.run("create", "--dry-run=server", "-f", "-", stdin=json.dumps(one))
                if done.returncode:
                    refused.append(f"{file.name} {name}: {done.stderr}")
    record_property("without escape hatch", plain)
    record_property("with escape hatch", escaped)
    print(f"{len(plain)} of {len(plain) + len(escaped)} examples need no pod.overrides")  # noqa: T201 - the figure
    assert refused == []
    assert len(plain) == PLAIN_EXAMPLES
    assert len(plain) + len(escaped) == ALL_EXAMPLES


def test_a_namespace_of_a_cluster_is_imported_as_its_files_are(
    sandbox: LiveSandbox, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    del sandbox
    container = {"name": "web", "image": f"registry.example/web@sha256:{DIGEST}"}
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template},
    }
    kubectl.apply(deployment)
    file = tmp_path / "web.json"
    file.write_text(json.dumps(deployment))
    kubeconfig = str(kubectl.sandbox.kubeconfig())
    live = run_holdfast(
        "agent",
        "import",
        "--from-cluster",
        "-n",
        namespace,
        "--kubeconfig",
        kubeconfig,
        "-o",
        "json",
    )
    assert live.returncode == 0, live.stderr
    [agent] = json.loads(live.stdout)["agents"]
    [ours] = json.loads(run_holdfast("agent", "import", str(file), "-o", "json").stdout)["agents"]
    filled_in = {"maxSurge": "25%", "maxUnavailable": "25%", "progressDeadlineSeconds": 600}
    assert agent["manifest"]["spec"].pop("rollout") == filled_in
    assert agent["manifest"] == ours["manifest"]
