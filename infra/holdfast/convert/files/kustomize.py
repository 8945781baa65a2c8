"""A Kustomize base of what all stacks share, and an overlay a stack with what is its own."""

from collections.abc import Mapping, Sequence

from holdfast.convert.files.files import ExportedFile, RenderedStack, object_file
from holdfast.convert.files.split import laid_over, own_part, shared_objects
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of

_API = "kustomize.config.k8s.io/v1beta1"
_BASE = (
    "What all environments share. Build an overlay: this is no environment by itself.\n"
    "Written by `holdfast render -o kustomize`: change the manifests, not these files."
)
_OVERLAY = "The environment {stack}: `kubectl apply --server-side -k` this folder."


def kustomize_files(stacks: Sequence[RenderedStack]) -> list[ExportedFile]:
    """Files of the base and of every overlay.

    Law: `kubectl kustomize overlays/<stack>` gives the stack's objects.
    """
    shared = shared_objects([[item.manifest for item in stack.objects] for stack in stacks])
    base = [item for item in stacks[0].objects if reference_of(item.manifest) in shared]
    names = [object_file(item) for item in base]
    return [
        *(
            ExportedFile(f"base/{name}", (shared[reference_of(item.manifest)],))
            for name, item in zip(names, base, strict=True)
        ),
        _kustomization("base", {"resources": names}, _BASE),
        *(file for stack in stacks for file in _overlay(stack, shared)),
    ]


def _overlay(stack: RenderedStack, shared: Mapping[ObjectRef, KubeObject]) -> list[ExportedFile]:
    folder = f"overlays/{stack.name}"
    files: list[ExportedFile] = []
    resources, patches = ["../../base"], []
    for item in stack.objects:
        part = shared.get(reference_of(item.manifest))
        name = object_file(item)
        if part is None:
            resources.append(f"own/{name}")
            files.append(ExportedFile(f"{folder}/own/{name}", (item.manifest,)))
        elif own := own_part(item.manifest, part):
            patches.append({"path": f"patches/{name}"})
            patch = laid_over(_naming(item.manifest), own)
            files.append(ExportedFile(f"{folder}/patches/{name}", (patch,)))
    content: KubeObject = {"resources": resources} | ({"patches": patches} if patches else {})
    return [*files, _kustomization(folder, content, _OVERLAY.format(stack=stack.name))]


def _naming(manifest: KubeObject) -> KubeObject:
    """What a patch finds its object by; it is shared, so that none of it changes."""
    metadata = {
        key: manifest["metadata"][key]
        for key in ("name", "namespace")
        if key in manifest["metadata"]
    }
    return {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"], "metadata": metadata}


def _kustomization(folder: str, content: KubeObject, comment: str) -> ExportedFile:
    document = {
        "apiVersion": _API,
        "kind": "Kustomization",
        # As rendered: what must exist first stands first.
        "sortOptions": {"order": "fifo"},
    }
    return ExportedFile(f"{folder}/kustomization.yaml", (document | content,), comment=comment)
