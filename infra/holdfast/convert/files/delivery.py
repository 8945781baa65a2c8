"""The objects by which Argo CD, Flux and the Pulumi Kubernetes Operator take a stack over."""

from collections.abc import Sequence
from typing import Any

from holdfast.convert.files.files import ExportedFile, RenderedStack, RepositorySource, kept
from holdfast.convert.files.packages import kustomize_files
from holdfast.kube.objects import KubeObject, reference_of
from holdfast.render.objects.services import moved_weights
from holdfast.render.plan.metadata import RenderedObject

NAME = "holdfast"
ARGO_KEEP = ("argocd.argoproj.io/sync-options", "Prune=false,Delete=false")
FLUX_KEEP = ("kustomize.toolkit.fluxcd.io/prune", "disabled")

_ARGO = (
    "Argo CD applies {stack}. Register the cluster under the name that `destination` gives, and\n"
    "let Argo CD track by annotation (the default since 3.0): its tracking label\n"
    "would overwrite app.kubernetes.io/instance."
)
_FLUX = "Flux applies {stack}: `kubectl apply --server-side -f` this file on its cluster."
_PKO = (
    "The Pulumi Kubernetes Operator runs {stack} as a Pulumi YAML program of these objects.\n"
    "Its ServiceAccount needs the rights of the objects; where its state is kept is yours to say\n"
    "(spec.backend, or spec.envRefs.PULUMI_ACCESS_TOKEN)."
)


def argocd_files(stacks: Sequence[RenderedStack], source: RepositorySource) -> list[ExportedFile]:
    """A Kustomize tree, and an Application a stack that points into it."""
    marked = [kept(stack, *ARGO_KEEP) for stack in stacks]
    applications = [
        ExportedFile(
            f"argocd/{stack.name}.yaml",
            (_application(stack, source),),
            comment=_ARGO.format(stack=stack.name),
        )
        for stack in stacks
    ]
    return [*kustomize_files(marked), *applications]


def _application(stack: RenderedStack, source: RepositorySource) -> KubeObject:
    left = _left_to_controllers(stack)
    # Declared fields only: what the API server fills in is no drift.
    options = ["ServerSideApply=true"] + (["RespectIgnoreDifferences=true"] if left else [])
    spec: KubeObject = {"ignoreDifferences": left} if left else {}
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": f"{NAME}-{stack.name}", "namespace": "argocd"},
        "spec": spec
        | {
            "project": "default",
            "source": {
                "repoURL": source.repository,
                "targetRevision": source.revision,
                "path": source.below("overlays", stack.name),
            },
            "destination": {"name": stack.cluster},
            "syncPolicy": {
                "automated": {"prune": True, "selfHeal": True},
                "syncOptions": options,
            },
        },
    }


def _left_to_controllers(stack: RenderedStack) -> list[KubeObject]:
    """Fields that another controller moves: selectors and weights in a rollout."""
    return [
        {
            "group": ref.group,
            "kind": ref.kind,
            "namespace": ref.namespace,
            "name": ref.name,
            "jsonPointers": pointers,
        }
        for item in stack.objects
        if (pointers := _moved_fields(item))
        for ref in [reference_of(item.manifest)]
    ]


def _moved_fields(item: RenderedObject) -> list[str]:
    fields = [f"/{path.replace('.', '/')}" for path in item.left_to_controllers]
    return [*fields, *moved_weights(item.manifest)]


def flux_files(stacks: Sequence[RenderedStack], source: RepositorySource) -> list[ExportedFile]:
    """A Kustomize tree, and a GitRepository with a Kustomization a stack that point into it."""
    marked = [kept(stack, *FLUX_KEEP) for stack in stacks]
    kustomizations = [
        ExportedFile(
            f"flux/{stack.name}.yaml",
            (_git_repository(source), _kustomization(stack, source)),
            comment=_FLUX.format(stack=stack.name),
        )
        for stack in stacks
    ]
    return [*kustomize_files(marked), *kustomizations]


def _git_repository(source: RepositorySource) -> KubeObject:
    return {
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "GitRepository",
        "metadata": {"name": NAME, "namespace": "flux-system"},
        "spec": {
            "interval": "1m",
            "url": source.repository,
            "ref": {"branch": source.revision},
        },
    }


def _kustomization(stack: RenderedStack, source: RepositorySource) -> KubeObject:
    return {
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": {"name": f"{NAME}-{stack.name}", "namespace": "flux-system"},
        "spec": {
            "interval": "10m",
            "timeout": "10m",
            "sourceRef": {"kind": "GitRepository", "name": NAME},
            "path": f"./{source.below('overlays', stack.name)}",
            "prune": True,
            "wait": True,
        },
    }


def pko_files(stacks: Sequence[RenderedStack]) -> list[ExportedFile]:
    """A Program with a stack's objects, and the Stack that runs it."""
    return [
        ExportedFile(
            f"{stack.name}.yaml",
            (_program(stack), _stack(stack)),
            comment=_PKO.format(stack=stack.name),
        )
        for stack in stacks
    ]


def _program(stack: RenderedStack) -> KubeObject:
    return {
        "apiVersion": "pulumi.com/v1",
        "kind": "Program",
        "metadata": {"name": f"{NAME}-{stack.name}", "namespace": NAME},
        "program": {"resources": program_resources(stack.objects)},
    }


def _stack(stack: RenderedStack) -> KubeObject:
    return {
        "apiVersion": "pulumi.com/v1",
        "kind": "Stack",
        "metadata": {"name": f"{NAME}-{stack.name}", "namespace": NAME},
        "spec": {
            "serviceAccountName": NAME,
            "programRef": {"name": f"{NAME}-{stack.name}"},
            "stack": stack.name,
            "refresh": True,
            # Removing this object must not remove the agents.
            "destroyOnFinalize": False,
        },
    }


def program_resources(objects: Sequence[RenderedObject]) -> dict[str, KubeObject]:
    """Resources of a Pulumi YAML program: each after its namespace and after the Jobs before it.

    A Job among an agent's objects is a gate, such as a check of a new version or a backup.
    """
    namespaces = {
        item.manifest["metadata"]["name"]: item.resource_name
        for item in objects
        if item.manifest["kind"] == "Namespace"
    }
    resources: dict[str, KubeObject] = {}
    gates: dict[str, list[str]] = {}
    for item in objects:
        name, before = item.resource_name, gates.setdefault(item.agent, [])
        namespace = namespaces.get(item.manifest["metadata"].get("namespace", ""))
        resources[name] = _resource(item, ([namespace] if namespace else []) + before)
        if item.manifest["kind"] == "Job":
            before.append(name)
    return resources


def _resource(item: RenderedObject, after: list[str]) -> KubeObject:
    manifest = item.manifest
    api_version = manifest["apiVersion"]
    module = api_version if "/" in api_version else f"core/{api_version}"
    properties = {
        key: value for key, value in manifest.items() if key not in ("apiVersion", "kind")
    }
    options: KubeObject = {}
    if after:
        options["dependsOn"] = [f"${{{name}}}" for name in after]
    if item.left_to_controllers:
        options["ignoreChanges"] = list(item.left_to_controllers)
    if item.is_protected or item.is_retained:
        # The operator's Programs know no retainOnDelete.
        options["protect"] = True
    resource = {
        "type": f"kubernetes:{module}:{manifest['kind']}",
        "properties": _literal(properties),
    }
    return resource | ({"options": options} if options else {})


def _literal(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The value with everything escaped that Pulumi YAML would interpolate."""
    if isinstance(value, str):
        return value.replace("${", "$${")
    if isinstance(value, dict):
        return {key: _literal(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_literal(each) for each in value]
    return value
