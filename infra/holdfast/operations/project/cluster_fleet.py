"""What runs in a cluster, as the files of a new repository; what cannot be said is listed."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.inventory import Inventory, read_inventory
from holdfast.adapters.cluster.kubeconfig import connection_of
from holdfast.convert.workloads.foreign import (
    FOREIGN_KINDS,
    KAGENT,
    companion_of,
    is_platform_agent,
    owner_of,
    with_platform_fields,
)
from holdfast.convert.workloads.remainder import ImportedAgent, Remark
from holdfast.convert.workloads.workloads import import_workloads, is_workload
from holdfast.errors import InputError, InvalidFilesError
from holdfast.kube.objects import KubeObject, api_group, mapping_at, reference_of
from holdfast.kube.text import yaml_document
from holdfast.manifest.fleet.credential_scan import RULE as CREDENTIALS
from holdfast.manifest.fleet.loader import load_fleet
from holdfast.manifest.fleet.project_files import STACKS_FOLDER
from holdfast.manifest.types.marks import agent_of
from holdfast.operations.describe.workload_import import BESIDE, WORKLOADS
from holdfast.operations.policy.live import OWN_NAMESPACES
from holdfast.operations.project.redaction import (
    has_masked_words,
    holds_credentials,
    is_credential,
    without_credentials,
)
from holdfast.sandbox.paths import sandbox_kubeconfig

PENDING: Final = "pending"
"""Folder of manifests that lack something, beside `agents/`: nothing there is deployed."""
StackText = tuple[str, str]
"""Name of a stack and the text of its file."""
_READ: Final = frozenset(
    {(api_group(version), kind) for version, kind in (*WORKLOADS, *BESIDE)}
    | set(FOREIGN_KINDS)
    | {("", "Pod")}
)


@dataclass(frozen=True)
class Unsaid:
    """One field of an object, or a whole object, that no manifest declares.

    Attributes:
        subject: The object.
        path: Field of it; empty for the whole.
        reason: Why, or what to do.
    """

    subject: str
    path: str
    reason: str


@dataclass(frozen=True)
class ClusterFleet:
    """What became of a cluster's workloads.

    Attributes:
        files: Path in the repository to the text of a manifest that is valid.
        pending: The same of manifests that lack something; deployed by nobody.
        unsaid: Every field and object that no manifest declares, and what a pending one lacks.
        changed: Every field that is declared in another form.
        unread: What could not be read, and why.
        namespaces: Where the objects are.
    """

    files: Mapping[str, str]
    pending: Mapping[str, str]
    unsaid: tuple[Unsaid, ...]
    changed: tuple[Unsaid, ...] = ()
    unread: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()


@dataclass
class _Draft:
    """Manifests on their way to files."""

    manifests: dict[str, dict[str, Any]] = field(default_factory=dict)
    unsaid: list[Unsaid] = field(default_factory=list)
    changed: list[Unsaid] = field(default_factory=list)
    incomplete: dict[str, list[Unsaid]] = field(default_factory=dict)

    def add(self, subject: str, manifest: dict[str, Any], lacks: Iterable[Unsaid] = ()) -> None:
        """Take a manifest, unless its place is taken."""
        metadata = manifest["metadata"]
        file = f"{metadata['namespace']}/{metadata['name']}.yaml"
        if manifest["kind"] != "Agent":
            file = f"{metadata['namespace']}/{manifest['kind'].lower()}-{metadata['name']}.yaml"
        if file in self.manifests:
            reason = "another workload of its namespace has this name: `holdfast agent import` it"
            self.unsaid.append(Unsaid(subject, "", reason))
            return
        self.manifests[file] = manifest
        self.incomplete[file] = list(lacks)


def read_fleet(
    kubeconfig: Path | None, context: str | None, namespaces: Sequence[str], stack: StackText
) -> ClusterFleet:
    """Convert what runs in a cluster; nothing is written, and no Secret is read.

    Args:
        kubeconfig: Default: as kubectl finds it.
        context: Default: the current one.
        namespaces: Where to look; everywhere but in Kubernetes' own when empty.
        stack: The stack that the manifests are for.

    Raises:
        InputError: there is no such context, or nothing to import.
        ClusterError: the cluster does not say what it serves.
    """
    if kubeconfig is None and context is not None:
        kubeconfig = sandbox_kubeconfig(context)
    client = ApiClient(connection_of(kubeconfig, context))
    inventory = read_inventory(client, _READ, namespaces)
    found = fleet_of_objects(inventory, stack, everywhere=not namespaces)
    if not found.files and not found.pending and not found.unsaid:
        raise InputError(
            "no workload to import",
            remedy="name its namespace with -n; objects that Holdfast deployed are left out",
        )
    return found


def fleet_of_objects(inventory: Inventory, stack: StackText, *, everywhere: bool) -> ClusterFleet:
    """Convert what was read.

    Args:
        inventory: Objects of a cluster.
        stack: The stack that the manifests are for.
        everywhere: Whether Kubernetes' own namespaces are left out.
    """
    objects = [
        each
        for each in inventory.objects
        if not (everywhere and reference_of(each).namespace in OWN_NAMESPACES)
    ]
    draft = _Draft()
    digests = running_digests(each for each in objects if each["kind"] == "Pod")
    platforms = {
        (ref.namespace, ref.name): each
        for each in objects
        if is_platform_agent(each)
        for ref in [reference_of(each)]
    }
    imported: set[tuple[str, str]] = set()
    for namespace, group in sorted(_by_namespace(objects).items()):
        beside = [each for each in group if _stands_beside(each)]
        for workload in (each for each in group if is_workload(each)):
            platform = _platform_of(workload, platforms)
            if (owner_of(workload) is not None and platform is None) or agent_of(workload):
                continue
            _import(workload, beside, digests, draft, platform)
            if platform is not None:
                imported.add((namespace, reference_of(platform).name))
    for place, each in platforms.items():
        if place not in imported:
            reason = "its platform runs no Deployment for it"
            draft.unsaid.append(Unsaid(str(reference_of(each)), "", reason))
    _companions(objects, draft)
    return replace(
        _sorted_out(draft, stack),
        unread=tuple(f"{scope}: {reason}" for scope, reason in inventory.unread),
    )


def running_digests(pods: Iterable[KubeObject]) -> dict[str, str]:
    """Image as pods name it to the digest that runs; without those that run in several versions."""
    found: dict[str, set[str]] = {}
    for pod in pods:
        images = {
            each["name"]: each.get("image", "")
            for each in mapping_at(pod, "spec").get("containers") or ()
        }
        for status in mapping_at(pod, "status").get("containerStatuses") or ():
            _, separator, digest = str(status.get("imageID") or "").rpartition("@")
            if separator and digest.startswith("sha256:") and images.get(status["name"]):
                found.setdefault(images[status["name"]], set()).add(digest)
    return {image: digests.pop() for image, digests in found.items() if len(digests) == 1}


def _by_namespace(objects: Iterable[KubeObject]) -> dict[str, list[KubeObject]]:
    found: dict[str, list[KubeObject]] = {}
    for each in objects:
        found.setdefault(reference_of(each).namespace, []).append(each)
    return found


def _stands_beside(one: KubeObject) -> bool:
    """Whether an object may belong to an agent, and may be written into its manifest."""
    if is_workload(one) or one["kind"] == "Pod" or _is_foreign(one):
        return False
    return one["kind"] != "ConfigMap" or not holds_credentials(one)


def _is_foreign(one: KubeObject) -> bool:
    ref = reference_of(one)
    return (ref.group, ref.kind) in FOREIGN_KINDS


def _platform_of(
    workload: KubeObject, platforms: Mapping[tuple[str, str], KubeObject]
) -> KubeObject | None:
    owner = owner_of(workload)
    if owner is None or owner[:2] != (KAGENT, "Agent"):
        return None
    return platforms.get((reference_of(workload).namespace, owner[2]))


def _import(
    workload: KubeObject,
    beside: Sequence[KubeObject],
    digests: Mapping[str, str],
    draft: _Draft,
    platform: KubeObject | None,
) -> None:
    subject = str(reference_of(workload))
    clean, hidden = without_credentials(workload)
    if platform is not None:
        clean["metadata"].pop("ownerReferences", None)
    try:
        (agent,) = import_workloads([clean, *beside], digests)
    except InputError as error:
        draft.unsaid.append(Unsaid(subject, "", error.message))
        return
    if platform is not None:
        with_platform_fields(agent, platform)
    draft.unsaid += [_unsaid(each) for each in (*hidden, *agent.findings.lost)]
    draft.changed += [_unsaid(each) for each in agent.findings.changed]
    draft.add(subject, agent.manifest, _lacks(subject, agent))


def _lacks(subject: str, agent: ImportedAgent) -> Iterator[Unsaid]:
    for image in agent.findings.images:
        reason = "no pod says which digest runs: name it, then move the file to agents/"
        yield Unsaid(subject, f"image {image}", reason)
    if has_masked_words(agent.manifest):
        yield Unsaid(subject, "command and args", "masked words: name a Secret, then move the file")


def _companions(objects: Iterable[KubeObject], draft: _Draft) -> None:
    for one in objects:
        if not _is_foreign(one) or is_platform_agent(one):
            continue
        ref = reference_of(one)
        found = companion_of(one)
        draft.unsaid += [_unsaid(each) for each in found.lost]
        for manifest in found.manifests:
            spec = manifest["spec"]
            if is_credential(str(spec.get("url") or spec.get("baseUrl") or "")):
                draft.unsaid.append(Unsaid(str(ref), "", "its address holds a credential"))
            else:
                draft.add(str(ref), manifest)


def _unsaid(remark: Remark) -> Unsaid:
    """A remark without the value: a file of a repository is public to its readers."""
    return Unsaid(str(remark.subject), remark.path, remark.reason)


def _sorted_out(draft: _Draft, stack: StackText) -> ClusterFleet:
    """Which manifests are valid together; the others are pending, with what they lack."""
    texts = {file: _text(manifest) for file, manifest in draft.manifests.items()}
    faults = {file: lacks for file, lacks in draft.incomplete.items() if lacks}
    refused: set[str] = set()
    while True:
        left = {file: text for file, text in texts.items() if file not in faults}
        found = {file: lacks for file, lacks in _faults(left, stack).items() if file in left}
        if not found:
            break
        # What refers to a manifest that is set aside is faulty in the next round.
        faults |= found
    for file in [*faults]:
        # What lacks a digest may hold a credential, too; it is never written.
        alone = _faults({file: texts[file]}, stack, rules=True).get(file, [])
        if any(each.reason == CREDENTIALS for each in alone):
            refused.add(file)
            faults[file] = [*faults[file], Unsaid(file, "", "holds a credential: not written")]
    namespaces = {str(each["metadata"]["namespace"]) for each in draft.manifests.values()}
    return ClusterFleet(
        files={f"agents/{file}": text for file, text in texts.items() if file not in faults},
        pending={
            f"{PENDING}/{file}": texts[file]
            for file in texts
            if file in faults and file not in refused
        },
        unsaid=(*draft.unsaid, *(each for lacks in faults.values() for each in lacks)),
        changed=tuple(draft.changed),
        namespaces=tuple(sorted(namespaces)),
    )


def _faults(
    files: Mapping[str, str], stack: StackText, *, rules: bool = False
) -> dict[str, list[Unsaid]]:
    """What is wrong with manifests that stand together, by file below `agents/`."""
    with tempfile.TemporaryDirectory(prefix="holdfast-init-") as scratch:
        root = Path(scratch)
        (root / "agents").mkdir()
        name, settings = stack
        written = {f"agents/{file}": text for file, text in files.items()}
        written[f"{STACKS_FOLDER}/Pulumi.{name}.yaml"] = settings
        for file, text in written.items():
            target = root / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        try:
            load_fleet(root, name)
        except InvalidFilesError as invalid:
            found: dict[str, list[Unsaid]] = {}
            for error in invalid.errors:
                file = error.location.file.removeprefix("agents/")
                reason = error.rule if rules else error.expected
                found.setdefault(file, []).append(Unsaid(f"{PENDING}/{file}", error.path, reason))
            return found
    return {}


def _text(manifest: Mapping[str, Any]) -> str:
    schema = "# yaml-language-server: $schema=../../docs/schema/agent.schema.json\n"
    parts = (
        yaml_document({key: manifest[key]}) for key in ("apiVersion", "kind", "metadata", "spec")
    )
    return schema + "".join(parts)
