"""The admission policy of a stack: only its deployer writes what its operator follows.

The deployer is who may write the stack's StackDeclaration: the API server asks its own authorizer,
so that no list of users goes stale. Source: Kubernetes documentation, "Validating Admission
Policy", secondary authorization checks.
"""

from typing import Final

from holdfast.kube.objects import KubeObject, api_group
from holdfast.kube.rbac import RBAC_GROUP
from holdfast.manifest.kinds.kinds import KINDS
from holdfast.manifest.publish.custom_resource import plural_of
from holdfast.manifest.publish.resource_interface import STACK_DECLARATION_KIND
from holdfast.manifest.types.manifest import API_VERSION
from holdfast.render.objects.agent_resources import settings_name
from holdfast.render.objects.stack_declaration import declaration_name

_API: Final = "admissionregistration.k8s.io/v1"
_GROUP: Final = api_group(API_VERSION)
_CLEANERS: Final = ("namespace-controller", "generic-garbage-collector")
"""Controllers that delete what a deleted namespace or owner leaves."""

_INSTANCE: Final = "app.kubernetes.io/instance"
_GRANTS: Final = (
    "request.operation != 'DELETE' && request.resource.resource == 'agents' && "
    "has(object.spec.pod) && has(object.spec.pod.security) && has(object.spec.pod.security.rbac) "
    "? object.spec.pod.security.rbac : []"
)
"""CEL: the rights that an agent is given."""


def deployer_policy(stack: str, namespace: str, account: str) -> list[KubeObject]:
    """Policy and binding.

    Args:
        stack: Name of the stack.
        namespace: Of the operator.
        account: Of the operator, which puts altered resources back.
    """
    name = f"holdfast-{declaration_name(stack)}-deployer"
    metadata: KubeObject = {"name": name, "labels": {"app.kubernetes.io/managed-by": "holdfast"}}
    binding = {"policyName": name, "validationActions": ["Deny", "Audit"]}
    policy = _policy(stack, _user(namespace, account))
    return [
        {
            "apiVersion": _API,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": metadata,
            "spec": policy,
        },
        {
            "apiVersion": _API,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": metadata,
            "spec": binding,
        },
    ]


def _policy(stack: str, operator: str) -> KubeObject:
    named = f"name('{declaration_name(stack)}')"
    declarations = plural_of(STACK_DECLARATION_KIND)
    cleaners = [_user("kube-system", each) for each in _CLEANERS]
    return {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "resourceRules": [
                _matched(_GROUP, sorted(plural_of(kind) for kind in KINDS)),
                _matched("", ["configmaps"]),
            ]
        },
        "matchConditions": [
            {
                "name": "of-the-stack",
                "expression": " || ".join(_is_of(each, stack) for each in ("object", "oldObject")),
            },
            {
                "name": "no-other-configuration",
                "expression": "request.resource.resource != 'configmaps' || "
                f"request.name == '{settings_name(stack)}'",
            },
        ],
        "variables": [
            {
                "name": "isDeployer",
                "expression": f"authorizer.group('{_GROUP}').resource('{declarations}')"
                f".{named}.check('patch').allowed()",
            },
            {
                "name": "isCleaner",
                "expression": "request.operation == 'DELETE' && request.userInfo.username in "
                f"{cleaners}",
            },
            {
                "name": "isOperator",
                "expression": f"request.userInfo.username == '{operator}'",
            },
            {"name": "grants", "expression": _GRANTS},
        ],
        "validations": [
            {
                "expression": "variables.isDeployer || variables.isCleaner || variables.isOperator",
                "message": f"only the deployer of stack {stack} writes this: it needs the right "
                f"to patch {declarations}.{_GROUP} {declaration_name(stack)}",
                "reason": "Forbidden",
            },
            *(_may_grant(verb) for verb in ("escalate", "bind")),
        ],
    }


def _matched(group: str, resources: list[str]) -> KubeObject:
    return {
        "apiGroups": [group],
        "apiVersions": ["*"],
        "operations": ["CREATE", "UPDATE", "DELETE"],
        "resources": resources,
    }


def _is_of(variable: str, stack: str) -> str:
    """CEL: whether an object bears the label of the stack."""
    labels = f"{variable}.metadata.labels"
    return (
        f"({variable} != null && has({labels}) && '{_INSTANCE}' in {labels} && "
        f"{labels}['{_INSTANCE}'] == '{stack}')"
    )


def _may_grant(verb: str) -> KubeObject:
    """Who writes an agent that is given rights must be able to give them without the operator."""
    check = f"authorizer.group('{RBAC_GROUP}').resource('roles')"
    here = f"{check}.namespace(request.namespace).check('{verb}').allowed()"
    anywhere = f"{check}.check('{verb}').allowed()"
    is_here = "variables.grants.all(g, !has(g.namespaces) || g.namespaces == [request.namespace])"
    return {
        "expression": "variables.isOperator || size(variables.grants) == 0 || "
        f"({is_here} ? {here} : {anywhere})",
        "message": f"the agent is given rights (pod.security.rbac): its deployer needs the right "
        f"to {verb} roles, in its namespace, or in all of them where it names others",
        "reason": "Forbidden",
    }


def _user(namespace: str, account: str) -> str:
    return f"system:serviceaccount:{namespace}:{account}"
