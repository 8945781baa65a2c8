"""What each form writes: the files, what is in them, and what a tool would make of them."""

from pathlib import Path
from typing import Any

import pytest
from holdfast.convert.files.delivery import argocd_files, flux_files, pko_files
from holdfast.convert.files.files import ExportedFile, RenderedStack, RepositorySource, laid_over
from holdfast.convert.files.packages import helm_files, kustomize_files
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.render.fleet import render_fleet
from holdfast.render.plan.metadata import RenderedObject
from holdfast.render.plan.planning import plan_fleet

ROOT = Path(__file__).resolve().parents[4]
STACKS = ("dev", "prod")
SOURCE = RepositorySource("https://git.example.com/team/agents.git", "main", "deploy")


def rendered(stack: str) -> RenderedStack:
    return RenderedStack(
        stack, f"cluster-{stack}", render_fleet(plan_fleet(load_fleet(ROOT, stack), stack))
    )


@pytest.fixture(scope="module")
def stacks() -> list[RenderedStack]:
    return [rendered(stack) for stack in STACKS]


def by_path(files: list[ExportedFile]) -> dict[str, ExportedFile]:
    found = {file.path: file for file in files}
    assert len(found) == len(files), "two files of one path"
    assert all(path == Path(path).as_posix() and ".." not in path for path in found)
    return found


def test_a_kustomize_overlay_lays_what_is_its_own_over_the_base(
    stacks: list[RenderedStack],
) -> None:
    files = by_path(kustomize_files(stacks))
    base = files["base/kustomization.yaml"].documents[0]["resources"]
    for stack in stacks:
        overlay = files[f"overlays/{stack.name}/kustomization.yaml"].documents[0]
        patches = {each["path"].removeprefix("patches/") for each in overlay["patches"]}
        made = [
            laid_over(
                files[f"base/{name}"].documents[0],
                files[f"overlays/{stack.name}/patches/{name}"].documents[0],
            )
            for name in base
        ]
        assert patches == set(base)
        own = [name for name in overlay["resources"] if name != "../../base"]
        made += [files[f"overlays/{stack.name}/{name}"].documents[0] for name in own]
        assert_same(made, [item.manifest for item in stack.objects])


def test_the_base_says_nothing_of_one_environment(stacks: list[RenderedStack]) -> None:
    for file in kustomize_files(stacks):
        if file.path.startswith("base/") and file.path != "base/kustomization.yaml":
            labels = file.documents[0]["metadata"].get("labels", {})
            assert "app.kubernetes.io/instance" not in labels


def test_one_stack_alone_is_all_base(stacks: list[RenderedStack]) -> None:
    files = by_path(kustomize_files(stacks[:1]))
    overlay = files["overlays/dev/kustomization.yaml"].documents[0]
    assert overlay["resources"] == ["../../base"]
    assert "patches" not in overlay


def test_values_of_a_chart_lay_over_its_objects(stacks: list[RenderedStack]) -> None:
    files = by_path(helm_files(stacks))
    for stack in stacks:
        values = files[f"values-{stack.name}.yaml"].documents[0]
        made = []
        for group, objects in (values["agents"] | {"_stack": values["stack"]}).items():
            for role, own in objects.items():
                shared = files.get(f"objects/{group}/{role}.yaml")
                made.append(laid_over(shared.documents[0] if shared else {}, own))
        keep = {"helm.sh/resource-policy": "keep"}
        assert_same(made, [expected(item, keep) for item in stack.objects])
    assert files["values.yaml"].documents[0] == {"stack": {}, "agents": {}}
    assert "-f values-dev.yaml or -f values-prod.yaml" in files["templates/objects.yaml"].text


def test_another_content_is_another_version_of_the_chart(stacks: list[RenderedStack]) -> None:
    def version(of: list[RenderedStack]) -> str:
        return str(by_path(helm_files(of))["Chart.yaml"].documents[0]["version"])

    assert version(stacks) == version(list(stacks))
    assert version(stacks) != version(stacks[:1])


def test_argo_cd_takes_an_overlay_to_the_cluster_of_its_stack(stacks: list[RenderedStack]) -> None:
    files = by_path(argocd_files(stacks, SOURCE))
    spec = files["argocd/prod.yaml"].documents[0]["spec"]
    assert spec["source"]["path"] == "deploy/overlays/prod"
    assert spec["destination"] == {"name": "cluster-prod"}
    assert "ServerSideApply=true" in spec["syncPolicy"]["syncOptions"]
    meta = claim_in(files)["metadata"]["annotations"]
    assert meta["argocd.argoproj.io/sync-options"] == "Prune=false,Delete=false"


def test_flux_takes_an_overlay_and_keeps_data(stacks: list[RenderedStack]) -> None:
    files = by_path(flux_files(stacks, SOURCE))
    repository, kustomization = files["flux/dev.yaml"].documents
    assert repository["spec"]["url"] == SOURCE.repository
    assert kustomization["spec"]["path"] == "./deploy/overlays/dev"
    assert kustomization["spec"]["sourceRef"]["name"] == repository["metadata"]["name"]
    meta = claim_in(files)["metadata"]["annotations"]
    assert meta["kustomize.toolkit.fluxcd.io/prune"] == "disabled"


def claim_in(files: dict[str, ExportedFile]) -> Any:
    """The first claim of the base: every claim of the samples is kept."""
    path = next(path for path in files if path.startswith("base/") and "volumeclaim" in path)
    return files[path].documents[0]


def test_the_operator_gets_a_program_that_waits_for_namespaces_and_protects_data(
    stacks: list[RenderedStack],
) -> None:
    program, stack = by_path(pko_files(stacks))["prod.yaml"].documents
    assert stack["spec"]["programRef"]["name"] == program["metadata"]["name"]
    resources = program["program"]["resources"]
    for each in resources.values():
        if each["type"] == "kubernetes:core/v1:PersistentVolumeClaim":
            assert each["options"]["protect"] is True
        namespace = each["properties"]["metadata"].get("namespace")
        if namespace:
            assert f"${{namespace-{namespace}}}" in each["options"]["dependsOn"]
    types = {each["type"] for each in resources.values()}
    assert {"kubernetes:apps/v1:Deployment", "kubernetes:core/v1:Service"} <= types
    assert "kubernetes:core/v1:PersistentVolumeClaim" in types


def fields(kind: str, name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "cx"}}


ROLLOUT = RenderedStack(
    "dev",
    "dev",
    (
        RenderedObject("a", "config", fields("ConfigMap", "a-config")),
        RenderedObject("a", "check", fields("Job", "a-check")),
        RenderedObject(
            "a", "service", fields("Service", "a"), left_to_controllers=("spec.selector",)
        ),
        RenderedObject("b", "service", fields("Service", "b")),
    ),
)


def test_fields_that_a_controller_moves_are_left_to_it() -> None:
    spec = by_path(argocd_files([ROLLOUT], SOURCE))["argocd/dev.yaml"].documents[0]["spec"]
    moved = {"group": "", "kind": "Service", "namespace": "cx", "name": "a"}
    assert spec["ignoreDifferences"] == [moved | {"jsonPointers": ["/spec/selector"]}]
    assert "RespectIgnoreDifferences=true" in spec["syncPolicy"]["syncOptions"]
    resources = pko_files([ROLLOUT])[0].documents[0]["program"]["resources"]
    assert resources["a-service"]["options"]["ignoreChanges"] == ["spec.selector"]


def test_what_follows_a_gate_waits_for_it_in_a_program() -> None:
    resources = pko_files([ROLLOUT])[0].documents[0]["program"]["resources"]
    assert resources["a-service"]["options"]["dependsOn"] == ["${a-check}"]
    assert "options" not in resources["a-config"]
    assert "options" not in resources["b-service"]


def test_what_pulumi_yaml_would_interpolate_stands_literally() -> None:
    text = {"data": {"run": "echo ${HOME} $HOME"}, "list": ["${x}"]}
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}} | text
    stack = RenderedStack("dev", "dev", (RenderedObject("a", "config", manifest),))
    program = pko_files([stack])[0].documents[0]["program"]
    properties = program["resources"]["a-config"]["properties"]
    assert properties["data"]["run"] == "echo $${HOME} $HOME"
    assert properties["list"] == ["$${x}"]


def expected(item: RenderedObject, keep: dict[str, str]) -> dict[str, Any]:
    if not item.is_retained:
        return item.manifest
    return laid_over(item.manifest, {"metadata": {"annotations": keep}})


def assert_same(made: list[Any], wanted: list[Any]) -> None:
    def key(each: Any) -> tuple[str, str, str]:
        return (each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"])

    assert sorted(map(key, made)) == sorted(map(key, wanted))
    assert {key(each): each for each in made} == {key(each): each for each in wanted}
