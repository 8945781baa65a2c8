"""Rows 29 to 37 and 75 to 79: what can happen to any object, admission, and forged evidence."""

from tests.e2e.taxonomy.case import (
    Case,
    Expected,
    Write,
    added,
    changed,
    patched,
    put,
    removed,
    take,
)
from tests.e2e.taxonomy.cluster_parts import DEFINED, OLDER, definition
from tests.e2e.taxonomy.objects import AGENT, CONTAINER, config_map, deployment, thing

_C = "ConfigMap"
_D = "Deployment"
_LABELLED = {"labels": {"tier": "x"}}
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

METADATA = (
    Case(
        29,
        "label changed",
        (config_map(metadata=_LABELLED),),
        (patched(_C, put("/metadata/labels/tier", "y"), manager="kubectl-label"),),
        (changed(_C, "metadata.labels.tier"),),
    ),
    Case(
        29,
        "label removed",
        (config_map(metadata=_LABELLED),),
        (patched(_C, take("/metadata/labels/tier"), manager="kubectl-label"),),
        (removed(_C, "metadata.labels.tier"),),
    ),
    Case(
        30,
        "annotation",
        (config_map(),),
        (patched(_C, put("/metadata/annotations", {"tool.example/x": "1"}), manager="some-tool"),),
        (added(_C, 'metadata.annotations["tool.example/x"]', "low"),),
    ),
    Case(
        31,
        "last applied",
        (config_map(),),
        (
            patched(
                _C,
                put("/metadata/annotations", {_LAST_APPLIED: "{}"}),
                manager="kubectl-client-side-apply",
            ),
        ),
        remarks=(added(_C, f'metadata.annotations["{_LAST_APPLIED}"]'),),
    ),
    Case(
        32,
        "finalizer of a controller",
        (config_map(),),
        (
            patched(
                _C,
                put("/metadata/finalizers", ["foregroundDeletion"]),
                manager="kube-controller-manager",
                user="system:serviceaccount:kube-system:generic-garbage-collector",
            ),
        ),
        proof=(_C, ("metadata", "finalizers", 0), "foregroundDeletion"),
    ),
    Case(
        32,
        "finalizer by a controller's name",
        (config_map(),),
        (
            patched(
                _C,
                put("/metadata/finalizers", ["taxonomy.example/hold"]),
                manager="backup-controller",
            ),
        ),
        (added(_C, "metadata.finalizers", "low"),),
    ),
    Case(
        32,
        "finalizer of a human",
        (config_map(),),
        (patched(_C, put("/metadata/finalizers", ["taxonomy.example/hold"])),),
        (added(_C, "metadata.finalizers", "low"),),
    ),
)

LIVES = (
    Case(
        33,
        "terminating",
        (config_map(metadata={"finalizers": ["taxonomy.example/hold"]}),),
        (Write("delete", _C),),
        (Expected("terminating", _C),),
    ),
    Case(34, "deleted", (config_map(),), (Write("delete", _C),), (Expected("missing", _C),)),
    Case(
        35,
        "made again",
        (config_map(),),
        (Write("delete", _C), Write("apply", _C, config_map(), manager="holdfast", user="admin")),
        (Expected("recreated", _C),),
    ),
    Case(
        36,
        "nobody declared",
        (),
        (Write("create", _C, config_map(), manager="kubectl-create"),),
        (Expected("unmanaged", _C),),
    ),
    Case(
        37,
        "other version",
        (thing(OLDER, "Mood", spec={"size": 1}),),
        (Write("merge", "Mood", {"spec": {"size": 1}}, user="admin", api_version=DEFINED),),
    ),
    Case(
        75,
        "default after upgrade",
        (thing(DEFINED, "Mood", spec={"size": 1}),),
        (
            Write(
                "apply",
                "CustomResourceDefinition",
                definition(with_default=True),
                manager="installer",
                user="admin",
                name="moods.taxonomy.example",
            ),
        ),
        proof=("Mood", ("spec", "mood"), "calm"),
    ),
    Case(
        76,
        "admission on create",
        (deployment(metadata={"labels": {"taxonomy": "create"}}),),
        proof=(_D, ("spec", "minReadySeconds"), 7),
    ),
    Case(
        77,
        "admission later",
        (deployment({"minReadySeconds": 5}, metadata={"labels": {"taxonomy": "update"}}),),
        (
            # Whoever touches the object next, without a word about the field.
            Write(
                "merge",
                _D,
                {"status": {"observedGeneration": 1}, "spec": {"revisionHistoryLimit": 10}},
                manager="some-controller",
                user="admin",
            ),
        ),
        (changed(_D, "spec.minReadySeconds"),),
    ),
    Case(
        78,
        "changed and put back",
        (deployment(),),
        (
            patched(_D, put(f"{CONTAINER}/image", "x:hotfix")),
            Write("apply", _D, deployment(), manager="holdfast", user="admin"),
        ),
    ),
)

FORGERIES = (
    Case(
        79,
        "our manager forged",
        (deployment(),),
        (patched(_D, put(f"{CONTAINER}/image", "x:hotfix"), manager="holdfast"),),
        (changed(_D, f"{AGENT}.image"),),
    ),
    Case(
        79,
        "engine forged",
        (config_map(),),
        (patched(_C, put("/data/extra", "2"), manager="pulumi-kubernetes-0a1b2c3d"),),
        (added(_C, "data.extra"),),
    ),
    Case(
        79,
        "managers wiped",
        (config_map(metadata=_LABELLED),),
        (
            patched(_C, put("/data/extra", "2"), put("/metadata/labels/odd", "1")),
            patched(_C, put("/metadata/managedFields", [{}])),
        ),
        (added(_C, "data.extra"), added(_C, "metadata.labels.odd")),
    ),
)

ANY_OBJECTS = (*METADATA, *LIVES, *FORGERIES)
