"""Workloads as agents: Deployments, StatefulSets, CronJobs, Sandboxes of agent-sandbox."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from holdfast.convert.workloads.belongings import Belongings
from holdfast.convert.workloads.containers import Fields, tag_of
from holdfast.convert.workloads.kinds import CONVERTERS
from holdfast.convert.workloads.pending_import import PendingImport
from holdfast.convert.workloads.pods import Pod
from holdfast.convert.workloads.remainder import ImportedAgent, Remainder
from holdfast.errors import InputError
from holdfast.kube.normalisation import normalise_object
from holdfast.kube.objects import KubeObject, mapping_at, reference_of
from holdfast.kube.syntax import fault_in_label_name
from holdfast.manifest.types.manifest import API_VERSION, OWN_PREFIXES
from holdfast.manifest.types.names import BACKED_UP_AGENT_NAME_MAX
from holdfast.manifest.types.values import SEMVER

UNKNOWN_VERSION: Final = "0.0.0"
_TEMPLATES: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("apps", "Deployment"): ("spec", "template"),
    ("apps", "StatefulSet"): ("spec", "template"),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
    ("agents.x-k8s.io", "Sandbox"): ("spec", "podTemplate"),
    ("extensions.agents.x-k8s.io", "SandboxTemplate"): ("spec", "podTemplate"),
}
"""Kind of a workload to where its pods are described."""


_CONTAINER: Final = ("container",)
_POD: Final = ("pod",)
_PARENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "command": _CONTAINER,
    "args": _CONTAINER,
    "workingDir": _CONTAINER,
    "ports": _CONTAINER,
    "env": _CONTAINER,
    "envFrom": _CONTAINER,
    "resources": _CONTAINER,
    "probes": _CONTAINER,
    "preStop": ("container", "lifecycle"),
    "security": _POD,
    "imagePullSecrets": _POD,
    "priorityClassName": _POD,
    "runtimeClassName": _POD,
    "nodeSelector": _POD,
    "tolerations": _POD,
    "affinity": _POD,
    "topologySpreadConstraints": _POD,
    "sidecars": _POD,
    "initContainers": _POD,
    "terminationGracePeriodSeconds": _POD,
    "overrides": _POD,
    "volumes": ("storage",),
    "availability": ("scaling",),
    "schedules": ("job",),
}
"""Field that a workload's parts say to where it stands below `spec`; others stand there itself."""


def is_workload(kube_object: Mapping[str, Any]) -> bool:
    """Whether an object can become an agent."""
    ref = reference_of(kube_object)
    return (ref.group, ref.kind) in _TEMPLATES


def import_workloads(
    objects: Sequence[KubeObject], digests: Mapping[str, str]
) -> list[ImportedAgent]:
    """Every workload as an agent, with the objects beside it that belong to it.

    Args:
        objects: Whatever stands together in files or a namespace.
        digests: Image as it is written to its digest, `sha256:` and 64 hexadecimal digits.

    Raises:
        InputError: a workload has a name that no agent can have, or no container.
    """
    normal = [normalise_object(each) for each in objects]
    others = [each for each in normal if not is_workload(each)]
    return [_agent(PendingImport(each, others), digests) for each in normal if is_workload(each)]


def _agent(work: PendingImport, digests: Mapping[str, str]) -> ImportedAgent:
    ref, template = work.ref, _TEMPLATES[work.ref.group, work.ref.kind]
    if found := fault_in_label_name(ref.name, BACKED_UP_AGENT_NAME_MAX):
        raise InputError(f"{ref}: name {found}", remedy="import it under another name")
    of_pod = mapping_at(work.workload, *template, "spec")
    if not of_pod.get("containers"):
        raise InputError(f"{ref}: no container in {'.'.join(template)}")
    account = of_pod.get("serviceAccountName", "")
    metadata = _metadata(work, template)
    pod = _pod(work, template, digests)
    is_called = ref.kind != "CronJob"
    spec = pod.fields(is_called=is_called)
    CONVERTERS[ref.kind](work, spec)
    _take_belongings(work, spec, pod, account)
    if is_called:
        _ports(spec, pod)
    _rest(work, template)
    version = _version(work, pod.image)
    manifest = {"apiVersion": API_VERSION, "kind": "Agent", "metadata": metadata}
    manifest["spec"] = {"version": version} | _grouped(spec)
    return ImportedAgent(manifest, tuple(work.taken), work.findings)


def _pod(work: PendingImport, template: Sequence[str], digests: Mapping[str, str]) -> Pod:
    return Pod(
        Remainder.of(_part(work, *template, "spec")),
        workload=work.ref.name,
        agent=work.ref.name,
        digests=digests,
        objects={(each["kind"], each["metadata"]["name"]): each for each in work.others},
        findings=work.findings,
    )


def _take_belongings(work: PendingImport, spec: Fields, pod: Pod, account: str) -> None:
    """What stands beside the workload: what its pods mount, and what selects them."""
    work.taken += [
        reference_of(each)
        for each in work.others
        if (each["kind"], each["metadata"]["name"]) in pod.used
    ]
    template = _TEMPLATES[work.ref.group, work.ref.kind]
    labels = mapping_at(work.workload, *template, "metadata", "labels")
    belongings = Belongings(work.workload, labels, work.others)
    belongings.carry(spec, account, pod.container.ports, work.findings)
    work.taken += belongings.taken


def _part(work: PendingImport, *path: str) -> dict[str, Any]:
    """A part of the workload, which shrinks with what is taken from it."""
    node: Any = work.left.left
    for part in path:
        node = node.setdefault(part, {})
    found: dict[str, Any] = node
    return found


def _metadata(work: PendingImport, template: Sequence[str]) -> Fields:
    """Name, namespace, and the labels and annotations of the object and of its pods."""
    metadata: Fields = {"name": work.left.take("metadata", "name")}
    if namespace := work.left.take("metadata", "namespace"):
        metadata["namespace"] = namespace
    for field in ("labels", "annotations"):
        own = work.left.take("metadata", field) or {}
        of_pods = work.left.take(*template, "metadata", field) or {}
        merged = {k: v for k, v in (own | of_pods).items() if not k.startswith(OWN_PREFIXES)}
        if merged:
            metadata[field] = merged
        for key in own:
            if key in of_pods and own[key] != of_pods[key]:
                work.lose(f"metadata.{field}.{key}", own[key], "its pods have another value")
    work.left.take(*template, "metadata", "creationTimestamp")
    return metadata


def _version(work: PendingImport, image: str) -> str:
    labels = mapping_at(work.workload, "metadata", "labels")
    for text in (labels.get("app.kubernetes.io/version"), tag_of(image)):
        plain = str(text or "").removeprefix("v")
        if plain and SEMVER.matches(plain):
            return plain
    reason = "neither the label app.kubernetes.io/version nor the image's tag is a version"
    work.change("", UNKNOWN_VERSION, f"{reason}: set spec.version")
    return UNKNOWN_VERSION


def _ports(spec: Fields, pod: Pod) -> None:
    served = spec.pop("ports_served", [])
    declared = dict(pod.container.ports)
    expose = served[0] if served else pod.container.expose_port()
    if expose is not None:
        spec["network"] = {"expose": {"port": expose}}
    others = {name: number for name, number in declared.items() if number != expose}
    metrics = others.pop("metrics", None)
    if metrics:
        spec["telemetry"] = {"metrics": {"port": metrics}}
    ports = [{"name": name, "containerPort": number} for name, number in others.items()]
    if ports := ports + pod.container.other_ports:
        spec["ports"] = ports


def _grouped(fields: Fields) -> Fields:
    """The fields of a spec, each where a manifest has it."""
    spec: Fields = {}
    for name, value in fields.items():
        place = spec
        for parent in _PARENTS.get(name, ()):
            place = place.setdefault(parent, {})
        # A budget may have come before the autoscaler.
        place[name] = value | place[name] if name in place else value
    return spec


def _rest(work: PendingImport, template: Sequence[str]) -> None:
    """Everything that is not taken."""
    left = work.left
    for known in ("apiVersion", "kind"):
        left.take(known)
    left.drop_equal({"metadata": {}})
    work.change(
        ".".join((*template, "spec", "containers")),
        work.ref.name,
        "the container is called agent",
    )
    for path, value in left.leaves():
        if value != {}:
            work.lose(path, value, "no field says it")
