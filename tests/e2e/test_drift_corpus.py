"""Drift on real manifests: other people's multi-agent applications, applied as they stand.

Each edit is made with kubectl as a person would, found by its path with its author, and put back.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from holdfast.kube.objects import reference_of
from holdfast.manifest.text.kube_files import read_kube_objects

from tests.e2e.live_sandbox import Kubectl, LiveSandbox, run_holdfast
from tests.shared_material import shared_folder

pytestmark = pytest.mark.e2e

ALICE = "alice@example.test"
NOT_APPLIED = {
    # Read by the command line of Drasi: these are no Kubernetes objects.
    "ext-drasi-change-driven-agents-k8s/critical-stock-event.yaml",
    "ext-drasi-change-driven-agents-k8s/inventory-events-publisher.yaml",
    "ext-drasi-change-driven-agents-k8s/low-stock-event.yaml",
    "ext-drasi-change-driven-agents-k8s/products.yaml",
    # Another application's component of the same name.
    "ext-drasi-change-driven-agents-k8s/agent-runtime.yaml",
}
SIDECAR = json.dumps(
    [
        {
            "op": "add",
            "path": "/spec/template/spec/containers/-",
            "value": {"name": "tap", "image": "registry.example.test/tools/tap:1"},
        }
    ]
)


@dataclass(frozen=True)
class Corpus:
    """The applications, deployed unchanged."""

    folder: Path
    sandbox: LiveSandbox

    def drift(
        self, *arguments: str, verb: tuple[str, ...] = ("drift",)
    ) -> tuple[int, dict[str, Any]]:
        """Exit code and report of `holdfast drift --desired`."""
        done = run_holdfast(
            *verb,
            "--desired",
            str(self.folder),
            "--kubeconfig",
            str(self.sandbox.kubeconfig()),
            "--audit-log",
            str(self.sandbox.audit_log),
            "--output",
            "json",
            *arguments,
        )
        assert done.stdout, done.stderr
        report: dict[str, Any] = json.loads(done.stdout)
        return done.returncode, report


@pytest.fixture(scope="module")
def corpus(
    sandbox: LiveSandbox, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Corpus]:
    folder = tmp_path_factory.mktemp("desired")
    for file in sorted(shared_folder("corpus/dapr-agents").rglob("*.yaml")):
        if file.relative_to(file.parents[1]).as_posix() not in NOT_APPLIED:
            (folder / f"{file.parent.name}-{file.name}").write_bytes(file.read_bytes())
    _define_custom_kinds(kubectl, folder)
    for namespace in _namespaces(folder) - {"", "default"}:
        kubectl.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    kubectl("apply", "--server-side", "--field-manager=holdfast", "-R", "-f", str(folder))
    yield Corpus(folder, sandbox)
    kubectl("delete", "-R", "-f", str(folder), "--wait=false")


def _namespaces(folder: Path) -> set[str]:
    return {reference_of(one.kube_object).namespace for one in read_kube_objects(folder)}


def _define_custom_kinds(kubectl: Kubectl, folder: Path) -> None:
    """Permissive definitions for every kind that Kubernetes itself does not have."""
    objects = [one.kube_object for one in read_kube_objects(folder)]
    kinds = {(one["apiVersion"], one["kind"]) for one in objects if "." in one["apiVersion"]}
    for api_version, kind in sorted(kinds):
        group, _, version = api_version.partition("/")
        plural = kind.lower().removesuffix("y") + ("ies" if kind.endswith("y") else "s")
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        served = {"name": version, "served": True, "storage": True}
        definition = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {
                "group": group,
                "scope": "Namespaced",
                "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
                "versions": [{**served, "schema": {"openAPIV3Schema": schema}}],
            },
        }
        kubectl.apply(definition)
        kubectl.wait_for("condition=Established", f"crd/{plural}.{group}")


def test_what_was_just_applied_is_in_sync(corpus: Corpus) -> None:
    code, report = corpus.drift()
    assert report["findings"] == []
    assert report["notChecked"] == []
    assert code == 0


CONTAINERS = "spec.template.spec.containers"


@pytest.mark.parametrize(
    ("user", "edit", "found"),
    [
        pytest.param(
            "alice",
            ["set", "image", "deployment/frodo", "frodo=registry.example.test/evil:1"],
            ("changed", "Deployment", "frodo", f"{CONTAINERS}[name=frodo].image", "kubectl-set"),
            id="image",
        ),
        pytest.param(
            "alice",
            ["set", "env", "deployment/gandalf", "EXFILTRATE=https://203.0.113.9"],
            ("added", "Deployment", "gandalf", f"{CONTAINERS}[name=gandalf].env[name=EXFILTRATE]",
             "kubectl-set"),
            id="variable added",
        ),
        pytest.param(
            "alice",
            ["set", "env", "deployment/legolas", "APP_ID=mallory"],
            ("changed", "Deployment", "legolas",
             f"{CONTAINERS}[name=legolas].env[name=APP_ID].value", "kubectl-set"),
            id="variable changed",
        ),
        pytest.param(
            "alice",
            ["set", "env", "deployment/legolas", "DAPR_METRICS_PORT-"],
            ("removed", "Deployment", "legolas",
             f"{CONTAINERS}[name=legolas].env[name=DAPR_METRICS_PORT]", "kubectl-set"),
            id="variable removed",
        ),
        pytest.param(
            "alice",
            ["patch", "deployment/sam", "--type=json", "-p", SIDECAR],
            ("added", "Deployment", "sam", f"{CONTAINERS}[name=tap]", "kubectl-patch"),
            id="sidecar",
        ),
        pytest.param(
            "alice",
            ["scale", "deployment/sam", "--replicas=4"],
            ("changed", "Deployment", "sam", "spec.replicas", "kubectl"),
            id="replicas",
        ),
        pytest.param(
            "alice",
            ["label", "deployment/frodo", "owner=mallory"],
            ("added", "Deployment", "frodo", "metadata.labels.owner", "kubectl-label"),
            id="label",
        ),
        pytest.param(
            "alice",
            ["patch", "service/workflow-agent", "--type=json", "-p",
             '[{"op":"replace","path":"/spec/ports/0/targetPort","value":9999}]'],
            ("changed", "Service", "workflow-agent", "spec.ports[port=80,protocol=TCP].targetPort",
             "kubectl-patch"),
            id="service port",
        ),
        pytest.param(
            "alice",
            ["delete", "service/workflow-agent"],
            ("missing", "Service", "workflow-agent", "", "kubectl"),
            id="object deleted",
        ),
        pytest.param(
            "admin",
            ["patch", "component/openai", "--type=merge", "-p", '{"spec":{"version":"v0"}}'],
            ("changed", "Component", "openai", "spec.version", "kubectl-patch"),
            id="custom resource changed",
        ),
        pytest.param(
            "admin",
            ["patch", "component/openai", "--type=merge", "-p", '{"spec":{"ignoreErrors":true}}'],
            ("added", "Component", "openai", "spec.ignoreErrors", "kubectl-patch"),
            id="custom resource field added",
        ),
        pytest.param(
            "alice",
            ["patch", "deployment/gandalf", "--type=merge", "-p",
             '{"spec":{"template":{"spec":{"hostNetwork":true}}}}'],
            ("added", "Deployment", "gandalf", "spec.template.spec.hostNetwork", "kubectl-patch"),
            id="host network",
        ),
    ],
)  # fmt: skip
def test_an_edit_is_found_with_its_author_and_reverted(
    corpus: Corpus, kubectl: Kubectl, user: str, edit: list[str], found: tuple[str, ...]
) -> None:
    kubectl(*edit, user=user)

    code, report = corpus.drift()
    assert code == 7
    assert [_summary(finding) for finding in report["findings"]] == [found]
    actor = report["findings"][0]["actors"][0]
    assert actor["user"] == (ALICE if user == "alice" else "admin")
    assert actor["source"] == "audit"

    code, after = corpus.drift("--yes", verb=("drift", "revert"))
    assert after["findings"] == []
    assert code == 0


def _summary(finding: dict[str, Any]) -> tuple[str, ...]:
    manager = next((actor["manager"] for actor in finding["actors"]), "")
    what = finding["object"]
    return (finding["class"], what["kind"], what["name"], finding["path"], manager)


def test_nothing_is_written_without_consent(corpus: Corpus, kubectl: Kubectl) -> None:
    kubectl("label", "deployment/sam", "owner=mallory", user="alice")
    before = kubectl.get("deployment", "sam")["metadata"]["resourceVersion"]
    done = run_holdfast(
        "drift",
        "revert",
        "--desired",
        str(corpus.folder),
        "--kubeconfig",
        str(corpus.sandbox.kubeconfig()),
    )
    assert done.returncode == 2
    assert "remove            Deployment default/sam  metadata.labels.owner" in done.stderr
    assert "pass --yes to confirm" in done.stderr
    assert kubectl.get("deployment", "sam")["metadata"]["resourceVersion"] == before
    kubectl("label", "deployment/sam", "owner-")


def test_read_only_rights_are_enough_to_look_and_what_they_hide_is_said(
    corpus: Corpus,
) -> None:
    """bob may read workloads, but neither custom resources nor secrets."""
    done = run_holdfast(
        "drift",
        "--desired",
        str(corpus.folder),
        "--kubeconfig",
        str(corpus.sandbox.kubeconfig("bob")),
        "-o",
        "json",
    )
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert report["complete"] is False
    assert report["findings"] == []
    assert {item["scope"].split()[0] for item in report["notChecked"]} == {
        "Component",
    }
    assert all("grant get and list on" in item["reason"] for item in report["notChecked"])
