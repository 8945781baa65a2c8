"""A Kustomize base with an overlay a stack, and a Helm chart with values a stack.

What all stacks share is the base, or the files of the chart. In the chart every field of every
object is a value: `--set agents.support.deployment.spec.replicas=3`.
"""

from collections.abc import Mapping, Sequence

from holdfast.convert.files.files import (
    ExportedFile,
    RenderedStack,
    kept,
    laid_over,
    object_file,
    own_part,
    shared_objects,
)
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of
from holdfast.render.plan.metadata import RenderedObject, content_hash

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


CHART = "holdfast-agents"
KEEP = ("helm.sh/resource-policy", "keep")

_TEMPLATE = """\
{{- /*
One object an entry of the values: what all environments share (files under objects/) with the
environment's own fields laid over it. Written by `holdfast render -o helm`.
*/}}
{{- define "holdfast.lay-over" }}
{{- $shared := index . 0 }}
{{- range $key, $value := index . 1 }}
{{- if and (kindIs "map" $value) (kindIs "map" (get $shared $key)) }}
{{- include "holdfast.lay-over" (list (get $shared $key) $value) }}
{{- else }}
{{- $_ := set $shared $key $value }}
{{- end }}
{{- end }}
{{- end }}
{{- if not .Values.agents }}
{{- fail "choose an environment: @CHOICES@" }}
{{- end }}
{{- range $group, $objects := merge (dict "@STACK@" .Values.stack) .Values.agents }}
{{- range $role, $own := $objects }}
{{- $object := $.Files.Get (printf "objects/%s/%s.yaml" $group $role) | fromYaml }}
{{- include "holdfast.lay-over" (list $object $own) }}
---
{{ toYaml $object }}
{{- end }}
{{- end }}
"""
_NO_AGENT = "_stack"
"""Group of what belongs to no agent: no agent can be called so."""


def helm_files(stacks: Sequence[RenderedStack]) -> list[ExportedFile]:
    """Files of the chart, and one of values a stack.

    Law: `helm template CHART -f values-<stack>.yaml` gives the stack's objects, those that must
    outlive the release marked to be kept.
    """
    marked = [kept(stack, *KEEP) for stack in stacks]
    shared = shared_objects([[item.manifest for item in stack.objects] for stack in marked])
    # A role may name another object in another environment, such as a ConfigMap named by content.
    roles = {_role(item) for stack in marked for item in stack.objects if _ref(item) not in shared}
    files = [
        ExportedFile(f"objects/{group}/{role}.yaml", (shared[_ref(item)],))
        for item in marked[0].objects
        for group, role in [_role(item)]
        if _ref(item) in shared and (group, role) not in roles
    ]
    values = [
        ExportedFile(
            f"values-{stack.name}.yaml",
            (_values(stack, shared, roles),),
            comment=f"What is {stack.name}'s own.",
        )
        for stack in marked
    ]
    choices = " or ".join(f"-f values-{stack.name}.yaml" for stack in stacks)
    return [_chart(stacks), _no_values(choices), *values, _template(choices), *files]


def _values(
    stack: RenderedStack, shared: Mapping[ObjectRef, KubeObject], whole: set[tuple[str, str]]
) -> KubeObject:
    groups: dict[str, KubeObject] = {}
    for item in stack.objects:
        group, role = _role(item)
        part = {} if (group, role) in whole else shared[_ref(item)]
        groups.setdefault(group, {})[role] = own_part(item.manifest, part)
    return {"stack": groups.pop(_NO_AGENT, {}), "agents": groups}


def _chart(stacks: Sequence[RenderedStack]) -> ExportedFile:
    content = content_hash([item.manifest for stack in stacks for item in stack.objects], 12)
    document = {
        "apiVersion": "v2",
        "name": CHART,
        "description": "AI agents, as their manifests declare them",
        "type": "application",
        # Another content is another version, without anybody's counting.
        "version": f"0.1.0+{content}",
    }
    return ExportedFile("Chart.yaml", (document,))


def _no_values(choices: str) -> ExportedFile:
    document: KubeObject = {"stack": {}, "agents": {}}
    comment = f"Nothing is installed without an environment: {choices}."
    return ExportedFile("values.yaml", (document,), comment=comment)


def _template(choices: str) -> ExportedFile:
    text = _TEMPLATE.replace("@CHOICES@", choices).replace("@STACK@", _NO_AGENT)
    return ExportedFile("templates/objects.yaml", text=text)


def _role(item: RenderedObject) -> tuple[str, str]:
    return item.agent or _NO_AGENT, item.role


def _ref(item: RenderedObject) -> ObjectRef:
    return reference_of(item.manifest)
