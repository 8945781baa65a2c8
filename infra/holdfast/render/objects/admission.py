"""The rules of a stack as policies that its cluster judges every client by."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from holdfast_policies.admission.parameters import DEFAULT_CONTROLLERS, Scope
from holdfast_policies.admission.validating import Mode, bundle
from holdfast_policies.evaluation.profile import PolicyConfigError, Profile, profile_of
from holdfast_policies.evaluation.rule_set import SHIPPED_RULES, RuleSet
from holdfast_policies.evaluation.waivers import Waiver
from holdfast_policies.model.kinds import DEFINITION

from holdfast.errors import RenderError
from holdfast.kube.objects import KubeObject
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.kinds.kinds import PolicyException
from holdfast.manifest.stack.admission import AdmissionSettings
from holdfast.render.objects.rule_set import rules_of
from holdfast.render.plan.metadata import Provenance, RenderedObject, revised

_ROLES = {
    "CustomResourceDefinition": "definition",
    "PolicyParameters": "parameters",
    "ValidatingAdmissionPolicy": "policy",
    "ValidatingAdmissionPolicyBinding": "binding",
}


@dataclass(frozen=True)
class AdmissionPlan:
    """Which rules a cluster is held to, and where.

    Attributes:
        name: What the policies are called after: the stack, or a component of its own.
        profile: The rules as they are in force.
        settings: How strictly, and for whose objects.
        namespaces: The namespaces of the stack.
        waivers: What single objects may break, and until when; ended ones too, for the cluster
            has a clock.
    """

    name: str
    profile: Profile
    settings: AdmissionSettings
    origin: Provenance
    namespaces: tuple[str, ...] = ()
    waivers: tuple[Waiver, ...] = ()

    @property
    def scope(self) -> Scope:
        """Whose objects are judged.

        Raises:
            RenderError: those of the stack's namespaces, and it has none.
        """
        is_wide = self.settings.scope == "cluster"
        if not is_wide and not self.namespaces:
            raise RenderError(
                "admission policies for the namespaces of a stack that has none",
                remedy="declare an agent, name the namespaces, or set scope to cluster",
            )
        return Scope(
            stack=self.name,
            namespaces=() if is_wide else tuple(sorted(set(self.namespaces))),
            left_out=self.settings.left_out_namespaces,
            controllers=tuple(sorted({*DEFAULT_CONTROLLERS, *self.settings.controllers})),
        )


def render_admission(plan: AdmissionPlan) -> tuple[RenderedObject, ...]:
    """The kind of the parameters, the parameters, the policies and their bindings, in this order.

    Raises:
        RenderError: the policies would be for namespaces, and there are none.
    """
    objects = bundle(plan.profile, plan.scope, plan.waivers, Mode(plan.settings.mode))
    return tuple(revised(_rendered(each, plan)) for each in objects)


def admission_of(fleet: Fleet, stack: str, namespaces: Iterable[str]) -> AdmissionPlan | None:
    """What a stack with objects in these namespaces wants of its cluster; None where nothing.

    Raises:
        RenderError: the stack says something of rules that they do not know.
    """
    policy = fleet.environment.policy
    if policy.admission is None:
        return None
    return AdmissionPlan(
        name=stack.rpartition("/")[2],
        profile=judged_by(fleet.environment.profile_for(stack), policy.rules, rules_of(fleet)),
        settings=policy.admission,
        origin=Provenance(stack),
        namespaces=tuple(sorted(namespaces)),
        waivers=waivers_of(fleet),
    )


def judged_by(profile: str, rules: Mapping[str, Any], known: RuleSet = SHIPPED_RULES) -> Profile:
    """The rules as a stack has them in force.

    Raises:
        RenderError: it says something of rules that they do not know.
    """
    try:
        return profile_of(profile, rules, known)
    except PolicyConfigError as error:
        raise RenderError(str(error), remedy="run `holdfast validate`") from error


def waivers_of(fleet: Fleet) -> tuple[Waiver, ...]:
    """Every declared exception for the stack of the fleet, in the pack's words."""
    return tuple(
        Waiver(
            name=each.name,
            rules=each.spec.rules,
            kind=each.spec.target.kind,
            namespace=each.spec.target.namespace,
            object_name=each.spec.target.name,
            reason=each.spec.reason,
            owner=each.spec.owner,
            ticket=each.spec.ticket,
            approver=each.spec.approver,
            expires=each.spec.expires,
            stacks=each.spec.stacks,
        )
        for each in fleet.of(PolicyException)
        if not (fleet.stack and each.spec.stacks)
        or fleet.stack.rpartition("/")[2] in each.spec.stacks
    )


def of_kind(rendered: Iterable[RenderedObject], kind: str) -> list[RenderedObject]:
    """Those of the rendered objects that are of one kind."""
    return [item for item in rendered if item.manifest["kind"] == kind]


def _rendered(kube_object: KubeObject, plan: AdmissionPlan) -> RenderedObject:
    metadata = kube_object["metadata"]
    annotations = metadata.get("annotations", {}) | plan.origin.annotations()
    labels = {"app.kubernetes.io/managed-by": "holdfast"}
    about = metadata["name"].removeprefix(f"holdfast-{plan.name}").removeprefix("-")
    kind = kube_object["kind"]
    role = "-".join(part for part in ("admission", _ROLES[kind], _group(kind, about)) if part)
    item = RenderedObject(
        "",
        role,
        kube_object | {"metadata": metadata | {"labels": labels, "annotations": annotations}},
    )
    # Other stacks of the cluster have parameters of this kind as well: it outlives this one.
    is_shared = kind == "CustomResourceDefinition"
    return replace(item, is_retained=is_shared, is_protected=is_shared and _protects(plan.profile))


def _protects(profile: Profile) -> bool:
    """Whether the rules that are in force want definitions protected."""
    return any(ruling.rule.id == "stateful-protected" for ruling in profile.for_kind(DEFINITION))


def _group(kind: str, about: str) -> str:
    return about if kind.startswith("ValidatingAdmission") else ""
