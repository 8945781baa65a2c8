"""What the policies of one stack are set to, as an object of a kind of its own.

The API server checks it against the schema of that kind, so that a setting that means nothing is
refused there too.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast_policies.evaluation.profile import Profile, Ruling
from holdfast_policies.evaluation.waivers import Waiver
from holdfast_policies.model.rule import Level, Parameter, Rule
from holdfast_policies.table import RULES

GROUP = "policy.holdfast.dev"
VERSION = "v1alpha1"
KIND = "PolicyParameters"
PLURAL = "policyparameters"
DEFAULT_CONTROLLERS = (
    "system:kube-controller-manager",
    "system:serviceaccount:agent-sandbox-system:agent-sandbox-controller",
    "system:serviceaccount:argo-rollouts:argo-rollouts",
)
"""Who makes pods from what was judged, beside the controllers in kube-system."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which objects of a cluster the policies of a stack are for.

    Attributes:
        stack: Name of the stack, after which the policies are called.
        namespaces: Its namespaces; empty for every one but those left out.
        left_out: Namespaces that are left out where all are judged.
        controllers: Users who make pods from what was judged already.
    """

    stack: str
    namespaces: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ("kube-node-lease", "kube-public", "kube-system")
    controllers: tuple[str, ...] = DEFAULT_CONTROLLERS

    @property
    def namespace_selector(self) -> dict[str, Any]:
        """Label selector of the namespaces."""
        operator = "In" if self.namespaces else "NotIn"
        values = sorted(self.namespaces or self.left_out)
        key = "kubernetes.io/metadata.name"
        return {"matchExpressions": [{"key": key, "operator": operator, "values": values}]}


def in_cluster(profile: Profile) -> tuple[Ruling, ...]:
    """The rules of a profile that CEL can say and that are not disabled."""
    return tuple(
        ruling
        for ruling in profile.rulings
        if ruling.rule.admission is not None and ruling.level is not Level.DISABLED
    )


def parameters_object(
    rulings: Iterable[Ruling], waivers: Iterable[Waiver], scope: Scope
) -> dict[str, Any]:
    """The settings of all rules, the waivers and the scope of one stack."""
    settings = {each.rule.id: dict(each.settings) for each in rulings if each.rule.parameters}
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": KIND,
        "metadata": {"name": f"holdfast-{scope.stack}"},
        "spec": {
            "namespaces": sorted(scope.namespaces),
            "controllers": sorted(scope.controllers),
            "rules": dict(sorted(settings.items())),
            "waivers": waiver_entries(waivers),
        },
    }


def waiver_entries(waivers: Iterable[Waiver]) -> list[dict[str, Any]]:
    """Waivers as policies read them; their reasons stay where they were granted."""
    return [
        {
            "rules": list(each.rules),
            "kind": each.kind,
            "namespace": each.namespace,
            "name": each.object_name,
            "approver": each.approver,
            "expires": each.expires.isoformat(),
        }
        for each in sorted(waivers, key=lambda waiver: waiver.name)
    ]


def definition(known: Iterable[Rule] = RULES) -> dict[str, Any]:
    """The kind of the parameters: one property a rule, with the schema of its own parameters.

    Args:
        known: All rules that there are.
    """
    rules = {
        rule.id: _object({each.name: _schema(each) for each in rule.parameters})
        for rule in known
        if rule.admission is not None and rule.parameters
    }
    texts = {"type": "array", "items": {"type": "string"}}
    waiver = _object(
        {name: {"type": "string"} for name in ("kind", "namespace", "name", "approver")}
        | {"rules": texts, "expires": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"}}
    )
    waiver["required"] = ["rules", "kind", "namespace", "name", "approver", "expires"]
    # Parameters may come before the newer definition that knows all of them has taken effect.
    kept = {"x-kubernetes-preserve-unknown-fields": True}
    spec = _object(
        {
            "namespaces": texts,
            "controllers": texts,
            "rules": _object(dict(sorted(rules.items()))) | kept,
            "waivers": {"type": "array", "items": waiver},
        }
    )
    spec["required"] = ["namespaces", "controllers", "rules", "waivers"]
    schema = {"openAPIV3Schema": _object({"spec": spec}) | {"required": ["spec"]}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Cluster",
            "names": {
                "kind": KIND,
                "listKind": f"{KIND}List",
                "plural": PLURAL,
                "singular": PLURAL,
            },
            "versions": [{"name": VERSION, "served": True, "storage": True, "schema": schema}],
        },
    }


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties)}


def _schema(parameter: Parameter) -> dict[str, Any]:
    return {"description": parameter.description, **_anchored(parameter.schema)}


def _anchored(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A parameter's schema in the words of a definition, which knows no examples."""
    kept: dict[str, Any] = {name: schema[name] for name in ("type", "enum") if name in schema}
    if "pattern" in schema:
        kept["pattern"] = f"^(?:{schema['pattern']})$"
    if "items" in schema:
        kept["items"] = _anchored(schema["items"])
    return kept
