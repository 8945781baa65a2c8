"""Data rests on storage that someone has approved."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast_policies.api import (
    CLAIM,
    CLAIM_TEMPLATE_KINDS,
    POD_KINDS,
    Admission,
    Breach,
    Finding,
    Fix,
    Kind,
    Level,
    Levels,
    Parameter,
    Pod,
    Rule,
    Settings,
    Severity,
    Subject,
    all_of,
    breaches,
    each,
    either,
    field_path,
    items,
    mapping,
    pods,
    said,
    shown,
    text,
)

_NAMES = {"type": "array", "items": {"type": "string"}}
CLASSES = Parameter(
    name="classes",
    description="Storage classes that are approved: encrypted ones. An empty list allows none.",
    schema=_NAMES,
    default=[],
)
SHARED = Parameter(
    name="shared_classes",
    description="Approved classes whose volumes several nodes may write (ReadWriteMany).",
    schema=_NAMES,
    default=[],
)


def check_claim(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """A PersistentVolumeClaim."""
    if subject.kind == CLAIM:
        yield from _check(subject.spec, "spec", settings)


def check_templates(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """The claims that a StatefulSet or a sandbox makes."""

    def check_template(template: object, path: str) -> Iterator[Finding]:
        spec = mapping(mapping(template).get("spec"))
        yield from _check(spec, field_path(path, "spec"), settings)

    if subject.kind in CLAIM_TEMPLATE_KINDS:
        path = "spec.volumeClaimTemplates"
        yield from each(subject.spec.get("volumeClaimTemplates"), path, check_template, "")


def _check(spec: Mapping[str, Any], path: str, settings: Settings) -> Iterator[Finding]:
    approved = [*settings["classes"], *settings["shared_classes"]]

    def check_class(_: object, __: str) -> Iterator[Breach]:
        name = spec.get("storageClassName")
        if name not in approved:
            required = either(approved) or "an approved class (the parameter `classes` lists none)"
            yield Breach(field_path(path, "storageClassName"), shown(name), required)

    def check_modes(_: object, __: str) -> Iterator[Breach]:
        is_shared = "ReadWriteMany" in items(spec.get("accessModes"))
        if is_shared and spec.get("storageClassName") not in settings["shared_classes"]:
            required = "a class on the list shared_classes, or ReadWriteOnce"
            yield Breach(field_path(path, "accessModes"), "ReadWriteMany", required)

    yield from each([None], "", check_class)
    yield from each([None], "", check_modes)


VOLUME = Kind("", "PersistentVolume")
STORAGE_CLASS = Kind("storage.k8s.io", "StorageClass")
DRIVERS = Parameter(
    name="inline_drivers",
    description="CSI drivers whose volumes a pod may name itself: they show secrets or buckets.",
    schema=_NAMES,
    default=[
        *(
            "secrets-store.csi.k8s.io",
            "csi.cert-manager.io",
            "csi.spiffe.io",
            "spiffe.csi.cert-manager.io",
        ),
        *(
            "gcsfuse.csi.storage.gke.io",
            "blob.csi.azure.com",
            "file.csi.azure.com",
            "s3.csi.aws.com",
        ),
        *(
            "efs.csi.aws.com",
            "gke-managed.gcsfuse.csi.storage.gke.io",
            "csi.sharedresource.openshift.io",
        ),
    ],
)
_OF_A_NODE = ("hostPath", "local", "flexVolume")
_NODE_PROVISIONERS = re.compile(
    r"hostpath|host-path|local-path|no-provisioner|local\.csi|topolvm|/local\b|lvm"
)


def check_volume(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """A PersistentVolume that is a path of a node, or of no approved class."""
    if subject.kind == VOLUME:
        for name in _OF_A_NODE:
            if subject.spec.get(name) is not None:
                yield Breach(
                    field_path("spec", name), "storage of a node", "storage by an approved class"
                )
        driver = text(mapping(subject.spec.get("csi")).get("driver"))
        if _NODE_PROVISIONERS.search(driver):
            yield Breach("spec.csi.driver", shown(driver), "storage that is not of a node")
        yield from _check(subject.spec, "spec", settings)
    elif subject.kind == STORAGE_CLASS:
        provisioner = text(subject.object.get("provisioner"))
        if _NODE_PROVISIONERS.search(provisioner):
            yield Breach("provisioner", shown(provisioner), "storage that is not of a node")


def check_pod(pod: Pod, settings: Settings) -> Iterator[Finding]:
    """Volumes that a pod names itself: claims that live as long as it, and CSI drivers."""

    def check_one(volume: object, path: str) -> Iterator[Finding]:
        declared = mapping(volume)
        claim = mapping(mapping(declared.get("ephemeral")).get("volumeClaimTemplate"))
        if declared.get("ephemeral") is not None:
            place = field_path(path, "ephemeral", "volumeClaimTemplate", "spec")
            yield from _check(mapping(claim.get("spec")), place, settings)
        if declared.get("csi") is not None:
            driver = text(mapping(declared.get("csi")).get("driver"))
            if driver not in settings["inline_drivers"]:
                place = field_path(path, "csi", "driver")
                yield Breach(
                    place, shown(driver), "a driver on the list inline_drivers, or a claim"
                )

    yield from each(pod.spec.get("volumes"), field_path(pod.spec_path, "volumes"), check_one)


def check_source(subject: Subject, _: Settings) -> Iterator[Finding]:
    """A claim that is filled with data of another namespace."""
    source = mapping(subject.spec.get("dataSourceRef"))
    other = text(source.get("namespace"))
    if subject.kind == CLAIM and other and other != subject.namespace:
        yield Breach("spec.dataSourceRef.namespace", shown(other), "data of its own namespace")


RULE = Rule(
    id="pvc-approved-class",
    title="Approved storage",
    description="Data is kept on storage that nobody has approved, or that others can write",
    rationale="What agents remember is often personal; a volume they share is a way between them.",
    remedy="name an approved class, or add this one to the parameter `classes` of the rule",
    source="https://kubernetes.io/docs/concepts/storage/storage-classes/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "SC-28",
        "LLM08",
        "ASI06",
    ),
    fix=Fix.NO,
    kinds=frozenset({CLAIM, *CLAIM_TEMPLATE_KINDS, VOLUME, STORAGE_CLASS}) | POD_KINDS,
    check=all_of(check_claim, check_templates, check_volume, pods(check_pod), check_source),
    parameters=(
        CLASSES,
        SHARED,
        DRIVERS,
    ),
    admission=Admission(
        (
            breaches(
                "variables.claims",
                "c",
                '!(c.spec.?storageClassName.orValue("") in variables.settings.classes'
                " + variables.settings.shared_classes)",
                'c.path + ".storageClassName"',
                "an approved class",
                said("c.spec.?storageClassName"),
            ),
            breaches(
                "variables.claims",
                "c",
                '"ReadWriteMany" in c.spec.?accessModes.orValue([])'
                ' && !(c.spec.?storageClassName.orValue("") in variables.settings.shared_classes)',
                'c.path + ".accessModes"',
                "a class on the list shared_classes, or ReadWriteOnce",
            ),
        ),
        variables=(
            (
                "claims",
                'object.kind == "PersistentVolumeClaim"'
                ' ? [{"path": dyn("spec"), "spec": dyn(variables.subject.?spec.orValue({}))}]'
                " : variables.subject.?spec.?volumeClaimTemplates.orValue([]).map(t,"
                ' {"path": dyn("spec.volumeClaimTemplates.spec"),'
                ' "spec": dyn(t.?spec.orValue({}))})',
            ),
        ),
        differs="what is of a node, and what pods name themselves, is seen before that only",
    ),
)
