"""The rules as policies that a cluster judges every client by."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from holdfast_policies.admission.gatekeeper import gatekeeper_constraints
from holdfast_policies.admission.kyverno import kyverno_policies
from holdfast_policies.admission.mutating import remediated, remediations
from holdfast_policies.admission.parameters import in_cluster
from holdfast_policies.admission.validating import Mode, bundle
from holdfast_policies.evaluation.profile import profile_of
from holdfast_policies.evaluation.rule_set import SHIPPED_RULES, RuleSet
from holdfast_policies.model.rule import Environment, Level

from holdfast.convert.files.files import ExportedFile
from holdfast.kube.objects import KubeObject
from holdfast.manifest.stack.admission import AdmissionSettings
from holdfast.operations.stack.context import StackContext
from holdfast.render.objects.admission import AdmissionPlan, judged_by, waivers_of
from holdfast.render.objects.rule_set import rules_of
from holdfast.render.plan.metadata import Provenance
from holdfast.render.plan.planning import plan_fleet

TARGETS: Final[Mapping[str, Callable[..., list[KubeObject]]]] = {
    "vap": bundle,
    "map": remediations,
    "kyverno": kyverno_policies,
    "gatekeeper": gatekeeper_constraints,
}
"""What judges in the cluster, to what makes its objects."""


@dataclass(frozen=True)
class ExportedPolicies:
    """Objects that hold the rules.

    Attributes:
        rules: How many rules they hold.
        not_in_cluster: How many rules are judged at preview only.
    """

    objects: Sequence[KubeObject]
    rules: int
    not_in_cluster: int

    @property
    def files(self) -> list[ExportedFile]:
        """A file an object, numbered: definitions come before objects of their kinds."""
        names = [f"{each['kind'].lower()}-{each['metadata']['name']}" for each in self.objects]
        return [
            ExportedFile(f"{index:02}-{name}.yaml", (each,))
            for index, (name, each) in enumerate(zip(names, self.objects, strict=True))
        ]


def export_policies(plan: AdmissionPlan, target: str, mode: str | None) -> ExportedPolicies:
    """The rules of a plan as objects for one of the targets.

    Args:
        plan: Levels, parameters, waivers and namespaces.
        target: One of `TARGETS`.
        mode: Instead of the plan's: enforce, warn or audit.
    """
    chosen = Mode(mode or plan.settings.mode)
    objects = TARGETS[target](plan.profile, plan.scope, plan.waivers, chosen)
    if target == "map":
        at_preview = [each for each in plan.profile.rulings if each.level is Level.REMEDIATE]
        done = len(list(remediated(plan.profile)))
        return ExportedPolicies(objects, done, len(at_preview) - done)
    left_out = sum(bool(each.rule.not_in_cluster) for each in plan.profile.rulings)
    return ExportedPolicies(objects, len(in_cluster(plan.profile)), left_out)


def plan_of_stack(context: StackContext) -> AdmissionPlan:
    """As the stack deploys them; where it does not, as its settings say.

    Raises:
        InvalidFilesError: the manifests are not valid.
    """
    fleet, stack = context.fleet, context.name
    declared = plan_fleet(fleet, stack)
    if declared.admission is not None:
        return declared.admission
    return AdmissionPlan(
        stack.rpartition("/")[2],
        judged_by(context.policy_profile, fleet.environment.policy.rules, rules_of(fleet)),
        AdmissionSettings(),
        Provenance(stack),
        tuple(sorted(declared.namespaces)),
        waivers_of(fleet),
    )


def plan_of_profile(profile: Environment, known: RuleSet = SHIPPED_RULES) -> AdmissionPlan:
    """A profile as it is, for a whole cluster.

    Args:
        profile: Its name.
        known: All rules that there are.
    """
    settings = AdmissionSettings(scope="cluster")
    judged = profile_of(profile, None, known)
    return AdmissionPlan(str(profile), judged, settings, Provenance(str(profile)))
