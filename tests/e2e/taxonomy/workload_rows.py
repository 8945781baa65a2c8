"""Rows 1, 2 and 13 to 28: pod templates, and what people and controllers do to them."""

from tests.e2e.taxonomy.case import Case, Write, added, changed, patched, put, removed, take
from tests.e2e.taxonomy.objects import (
    AGENT,
    CONTAINER,
    POD,
    deployment,
    template,
)

_D = "Deployment"
_DIGEST = f"registry.example/agents/agent@sha256:{'4' * 64}"
_TAP = {"name": "tap", "image": "registry.example/tools/tap:1"}
_TEMPLATE_ANNOTATIONS = "/spec/template/metadata/annotations"


WORKLOADS = (
    Case(
        1,
        "image changed",
        (deployment(),),
        (patched(_D, put(f"{CONTAINER}/image", "x:hotfix"), manager="kubectl-set"),),
        (changed(_D, f"{AGENT}.image"),),
    ),
    Case(
        2,
        "tag to digest",
        (deployment(),),
        (patched(_D, put(f"{CONTAINER}/image", _DIGEST), manager="image-updater"),),
        (changed(_D, f"{AGENT}.image"),),
    ),
    Case(
        13,
        "sidecar added",
        (deployment(),),
        (patched(_D, put(f"{POD}/containers/-", _TAP), manager="kubectl-patch"),),
        (added(_D, "spec.template.spec.containers[name=tap]"),),
    ),
    Case(
        14,
        "expected injector",
        (deployment(),),
        (patched(_D, put(f"{POD}/containers/-", _TAP), manager="mesh-injector", user="admin"),),
        proof=(_D, ("spec", "template", "spec", "containers", 1, "name"), "tap"),
    ),
    Case(
        15,
        "pods injected",
        (
            deployment(
                {
                    "replicas": 1,
                    "template": {
                        **template(),
                        "metadata": {"labels": {"app": "$name", "taxonomy": "pods"}},
                    },
                }
            ),
        ),
    ),
    Case(
        16,
        "arguments reordered",
        (deployment(),),
        (patched(_D, put(f"{CONTAINER}/args", ["--port=8080", "serve"])),),
        (changed(_D, f"{AGENT}.args"),),
    ),
    Case(
        17,
        "quantity spelt otherwise",
        (deployment(),),
        (patched(_D, put(f"{CONTAINER}/resources/limits/memory", "1073741824")),),
        proof=(
            _D,
            ("spec", "template", "spec", "containers", 0, "resources", "limits", "memory"),
            "1073741824",
        ),
    ),
    Case(
        18,
        "limit raised",
        (deployment(),),
        (patched(_D, put(f"{CONTAINER}/resources/limits/memory", "8Gi"), manager="kubectl-set"),),
        (changed(_D, f"{AGENT}.resources.limits.memory"),),
    ),
    Case(
        18,
        "limit removed",
        (deployment(),),
        (patched(_D, take(f"{CONTAINER}/resources/limits/memory")),),
        (removed(_D, f"{AGENT}.resources.limits.memory"),),
    ),
    Case(
        19,
        "privileged",
        (deployment(),),
        (
            patched(
                _D,
                put(f"{CONTAINER}/securityContext/privileged", value=True),
                take(f"{CONTAINER}/securityContext/runAsNonRoot"),
            ),
        ),
        (
            added(_D, f"{AGENT}.securityContext.privileged", "critical"),
            removed(_D, f"{AGENT}.securityContext.runAsNonRoot", "critical"),
        ),
    ),
    Case(
        20,
        "host network",
        (deployment(ports=[{"containerPort": 8080}]),),
        (patched(_D, put(f"{POD}/hostNetwork", value=True)),),
        (added(_D, "spec.template.spec.hostNetwork", "critical"),),
    ),
    Case(
        20,
        "host path",
        (deployment(),),
        (patched(_D, put(f"{POD}/volumes", [{"name": "root", "hostPath": {"path": "/"}}])),),
        (added(_D, "spec.template.spec.volumes[name=root]", "critical"),),
    ),
    Case(
        21,
        "account changed",
        (deployment(pod={"serviceAccountName": "quiet"}),),
        (patched(_D, put(f"{POD}/serviceAccountName", "loud")),),
        (changed(_D, "spec.template.spec.serviceAccountName", "high"),),
    ),
    Case(
        22,
        "restarted",
        (deployment(),),
        (
            patched(
                _D,
                put(_TEMPLATE_ANNOTATIONS, {"kubectl.kubernetes.io/restartedAt": "2026-11-22"}),
                manager="kubectl-rollout",
            ),
        ),
        remarks=(
            added(
                _D,
                'spec.template.metadata.annotations["kubectl.kubernetes.io/restartedAt"]',
            ),
        ),
    ),
    Case(
        23,
        "revision",
        (deployment(),),
        proof=(_D, ("metadata", "annotations", "deployment.kubernetes.io/revision"), "1"),
    ),
    Case(
        24,
        "status written",
        (deployment({"replicas": 1}),),
        (
            Write(
                "merge",
                _D,
                {"status": {"conditions": [{"type": "Odd", "status": "True"}]}},
                manager="some-operator",
                user="admin",
                subresource="status",
            ),
        ),
    ),
    Case(
        25,
        "defaults",
        (deployment(),),
        proof=(_D, ("spec", "strategy", "type"), "RollingUpdate"),
    ),
    Case(
        26,
        "declared defaults",
        (
            deployment(
                {"paused": False},
                {"hostNetwork": False, "restartPolicy": "Always"},
                ports=[{"containerPort": 8080, "protocol": "TCP"}],
            ),
        ),
    ),
    Case(
        27,
        "paused",
        (deployment(),),
        (patched(_D, put("/spec/paused", value=True), manager="kubectl-rollout"),),
        (added(_D, "spec.paused"),),
    ),
    Case(
        28,
        "label on object",
        (deployment(),),
        (patched(_D, put("/metadata/labels", {"tier": "x"}), manager="kubectl-label"),),
        (added(_D, "metadata.labels.tier"),),
    ),
    Case(
        28,
        "label on template",
        (deployment(),),
        (patched(_D, put("/spec/template/metadata/labels/tier", "x")),),
        (added(_D, "spec.template.metadata.labels.tier"),),
    ),
)
