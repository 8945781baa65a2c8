"""What the cases of a cluster share: a custom resource and admission, both in every namespace."""

from typing import Any

DEFINED = "taxonomy.example/v1"
OLDER = "taxonomy.example/v1alpha1"
DEFINITION = "CustomResourceDefinition"


def definition(*, with_default: bool) -> dict[str, Any]:
    """The custom resource of the cases, before and after an upgrade that adds a default."""
    mood: dict[str, Any] = {"type": "string"}
    if with_default:
        mood["default"] = "calm"
    fields = {"size": {"type": "integer"}, "mood": mood}
    spec = {"type": "object", "properties": fields}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    versions = [
        {"name": "v1", "served": True, "storage": True, "schema": schema},
        {"name": "v1alpha1", "served": True, "storage": False, "schema": schema},
    ]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": DEFINITION,
        "metadata": {"name": "moods.taxonomy.example"},
        "spec": {
            "group": "taxonomy.example",
            "scope": "Namespaced",
            "names": {"kind": "Mood", "plural": "moods", "singular": "mood"},
            "versions": versions,
        },
    }


def mutation(
    name: str, operation: str, resource: str, value: str, expression: str
) -> list[dict[str, Any]]:
    """A mutating admission policy for objects with the label `taxonomy: VALUE`, and its binding."""
    group = "apps" if resource == "deployments" else ""
    registration = "admissionregistration.k8s.io/v1"
    policy = {
        "apiVersion": registration,
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "matchConstraints": {
                "objectSelector": {"matchLabels": {"taxonomy": value}},
                "resourceRules": [
                    {
                        "apiGroups": [group],
                        "apiVersions": ["v1"],
                        "operations": [operation],
                        "resources": [resource],
                    }
                ],
            },
            "mutations": [
                {
                    "patchType": "ApplyConfiguration",
                    "applyConfiguration": {"expression": expression},
                }
            ],
        },
    }
    binding = {
        "apiVersion": registration,
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name},
    }
    return [policy, binding]


ADMISSION = (
    *mutation(
        "taxonomy-pods",
        "CREATE",
        "pods",
        "pods",
        'Object{metadata: Object.metadata{annotations: {"taxonomy.example/injected": "yes"}}}',
    ),
    *mutation(
        "taxonomy-create",
        "CREATE",
        "deployments",
        "create",
        'Object{metadata: Object.metadata{annotations: {"taxonomy.example/injected": "yes"}},'
        " spec: Object.spec{minReadySeconds: 7}}",
    ),
    *mutation(
        "taxonomy-update",
        "UPDATE",
        "deployments",
        "update",
        "Object{spec: Object.spec{minReadySeconds: 30}}",
    ),
)
"""Admission of the whole cluster, told to look at the cases' own labels alone."""
