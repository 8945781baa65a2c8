"""The rules of preview as policies of the cluster."""

from typing import cast

import pulumi

from holdfast.components.arguments import AdmissionPoliciesArgs
from holdfast.components.deferred import Deferred, deferred
from holdfast.components.inputs import AdmissionPoliciesInputs
from holdfast.components.registration import names_of, register
from holdfast.manifest.publish.component_types import component_type
from holdfast.render.objects.admission import AdmissionPlan, of_kind, render_admission
from holdfast.render.plan.metadata import Provenance

_ORDER = (
    "CustomResourceDefinition",
    "PolicyParameters",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
)
"""Each needs what comes before it: a policy without parameters refuses everything."""


class AdmissionPolicies(pulumi.ComponentResource):
    """Holds a cluster to the rules of preview for every client: kubectl, operator, stolen token.

    Children: `admission-definition`, the kind of the parameters, which stays when this goes;
    `admission-parameters`; `admission-policy-<rules>` and `admission-binding-<rules>`. The objects
    are called after the component: `holdfast-<name>-...`.
    """

    policy_names: pulumi.Output[list[str]]
    """Names of the ValidatingAdmissionPolicies."""

    def __init__(
        self,
        name: str,
        args: AdmissionPoliciesArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        plan = args if isinstance(args, Deferred) else _plan_of(name, args)
        rendered = plan.rendered(render_admission)
        super().__init__(component_type("AdmissionPolicies"), name, dict(plan.inputs), opts)
        before: list[pulumi.Resource] = []
        for kind in _ORDER:
            before += [register(item, self, list(before)) for item in of_kind(rendered, kind)]
        names = names_of(rendered, "ValidatingAdmissionPolicy")
        self.policy_names = pulumi.Output.from_input(names)
        self.register_outputs({"policyNames": self.policy_names})


def declared_admission(
    plan: Deferred[AdmissionPlan], opts: pulumi.ResourceOptions | None = None
) -> AdmissionPolicies:
    """What a stack declares: planned already, so its arguments need no validation."""
    return AdmissionPolicies("admission", cast("AdmissionPoliciesArgs", plan), opts)


def _plan_of(name: str, args: AdmissionPoliciesArgs) -> Deferred[AdmissionPlan]:
    stack = pulumi.get_stack()
    return deferred(
        f"AdmissionPolicies {name}",
        args,
        AdmissionPoliciesInputs,
        lambda given, has_outputs: given.plan(name, Provenance(stack, has_outputs=has_outputs)),
    )
