"""One form for what is compared: without status, bookkeeping and the server's own notes.

Law: `normalise_object` is idempotent and does not change its input. Values are left as they are
written; that `1000m` equals `1` and that a default equals its absence is for the comparison.

Source: Kubernetes API conventions, "Metadata"; kubectl's last-applied annotation.
"""

import base64
from collections.abc import Mapping
from typing import Any, Final

from holdfast.kube.objects import KubeObject, mapping_at

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
BOOKKEEPING: Final = frozenset(
    {
        "managedFields",
        "resourceVersion",
        "uid",
        "generation",
        "creationTimestamp",
        "selfLink",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    }
)
_SERVER_ANNOTATIONS: Final = frozenset(
    {
        "deployment.kubernetes.io/revision",
        "deprecated.daemonset.template.generation",
        LAST_APPLIED,
    }
)


def normalise_object(kube_object: Mapping[str, Any]) -> KubeObject:
    """Copy of an object without what the server or a controller keeps in it for itself.

    Secrets have `stringData` folded into `data`; an aggregated ClusterRole has no rules of its own.
    """
    normal = {key: value for key, value in kube_object.items() if key != "status"}
    normal["metadata"] = _normalise_metadata(mapping_at(kube_object, "metadata"))
    kind = kube_object.get("kind")
    if kind == "Secret":
        _fold_string_data(normal)
    elif kind == "ClusterRole" and normal.get("aggregationRule"):
        normal.pop("rules", None)
    elif kind == "StatefulSet":
        _drop_claim_status(normal)
    elif kind == "ReplicationController":
        _label_as_template(normal)
    return normal


def _normalise_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    normal = {key: value for key, value in metadata.items() if key not in BOOKKEEPING}
    annotations = mapping_at(normal, "annotations")
    if annotations and not _SERVER_ANNOTATIONS.isdisjoint(annotations):
        normal["annotations"] = {
            key: value for key, value in annotations.items() if key not in _SERVER_ANNOTATIONS
        }
    return normal


def _fold_string_data(secret: KubeObject) -> None:
    plain = secret.pop("stringData", None)
    if isinstance(plain, Mapping) and plain:
        encoded = {
            key: base64.b64encode(str(value).encode()).decode() for key, value in plain.items()
        }
        secret["data"] = {**mapping_at(secret, "data"), **encoded}


def _label_as_template(controller: KubeObject) -> None:
    """Give a ReplicationController the labels of its pods, as the server does where it has none.

    Source: core/v1 SetDefaults_ReplicationController.
    """
    labels = mapping_at(controller, "spec", "template", "metadata", "labels")
    if labels and not mapping_at(controller, "metadata", "labels"):
        controller["metadata"]["labels"] = dict(labels)


def _drop_claim_status(stateful_set: KubeObject) -> None:
    spec = mapping_at(stateful_set, "spec")
    templates = spec.get("volumeClaimTemplates")
    if isinstance(templates, list):
        stateful_set["spec"] = {
            **spec,
            "volumeClaimTemplates": [
                normalise_object(item) if isinstance(item, Mapping) else item for item in templates
            ],
        }
