"""Answers the engine: decodes a request once, runs the table of rules, answers rule by rule.

The SDK decodes a request again for every policy, which makes seventy rules take 20 ms a resource;
here it is decoded once for all. What the SDK tells the engine about policies is left to it; a test
pins the versions of it that this was written for.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn, TypeVar

import grpc
from pulumi_policy import EnforcementLevel

from holdfast_policies.decode.properties import decode_properties
from holdfast_policies.decode.resource import (
    decode_resource,
    is_patch,
    kind_of_token,
    stack_of_urn,
)
from holdfast_policies.evaluation.census import hidden_in
from holdfast_policies.evaluation.judge import Judgement, judgement_of, judgements, stack_judgements
from holdfast_policies.evaluation.profile import (
    LEVEL_KEY,
    PolicyConfigError,
    Profile,
    Ruling,
    environment_of,
    profile_of,
)
from holdfast_policies.evaluation.remediation import (
    AppliedRemediation,
    remediating_rulings,
    remediation_of,
)
from holdfast_policies.evaluation.rule_set import SHIPPED_RULES, RuleSet
from holdfast_policies.evaluation.waivers import NO_WAIVERS, Target, Waivers, target_of
from holdfast_policies.model.finding import Undecided
from holdfast_policies.model.kinds import Kind
from holdfast_policies.model.rule import Environment, Level
from holdfast_policies.model.stack import Hidden, Stack
from holdfast_policies.model.subject import Subject
from holdfast_policies.pack import answers
from holdfast_policies.pack.patching import patched
from holdfast_policies.pack.policies import policies
from holdfast_policies.pack.sdk import AnalyzerServicer, empty_pb2, proto
from holdfast_policies.pack.stack_settings import StackSettings, read_stack_settings
from holdfast_policies.pack.watchdog import LateRuleError, in_time
from holdfast_policies.version import PACK_NAME, PACK_VERSION

T = TypeVar("T")


class Servicer(AnalyzerServicer):
    """The pack as a service of the engine.

    The engine first names the stack (not for `policy analyze`, which knows none), then asks for the
    policies, then sends the config in force: what it was told, with what a file overrides.
    """

    def __init__(self, waivers: Waivers = NO_WAIVERS, rules: RuleSet = SHIPPED_RULES) -> None:
        super().__init__(PACK_NAME, PACK_VERSION, policies(rules), EnforcementLevel.MANDATORY)
        self._rules = rules
        self._stack = StackSettings()
        self._config: dict[str, Any] = {}
        self._hidden: list[Hidden] = []
        self._waivers = waivers
        self._seen: set[Target] = set()
        self._used: set[str] = set()
        self._remediated: dict[str, tuple[Ruling, ...]] = {}
        self._last: tuple[Any, Subject] | None = None
        self._profiles: dict[Environment, Profile] = {}
        self._templates: dict[tuple[Environment, Kind | None], proto.AnalyzeResponse] = {}

    def ConfigureStack(self, request: Any, context: Any) -> Any:  # noqa: ANN401, N802  # gRPC's
        """Learn the name and the settings of the stack."""
        try:
            self._stack = read_stack_settings(request.stack, request.config, self._rules)
        except PolicyConfigError as error:
            _refuse(context, error)
        self._config = dict(self._stack.rules)
        return super().ConfigureStack(request, context)

    def GetAnalyzerInfo(self, request: Any, context: Any) -> Any:  # noqa: ANN401, N802  # gRPC's
        """All rules with their levels on this stack.

        Without a stack (`policy analyze`, which changes nothing) every level is `remediate`, so
        that Configure can tell a level that a file gives from one that was only announced.
        """
        info: Any = super().GetAnalyzerInfo(request, context)  # type: ignore[no-untyped-call]
        levels = {each.rule.id: each.level for each in self._profile("").rulings}
        for policy in info.policies:
            announced = levels[policy.name] if self._stack.name else Level.REMEDIATE
            policy.enforcementLevel = answers.level_number(announced)
        return info

    def Configure(self, request: Any, context: Any) -> Any:  # noqa: ANN401, N802  # gRPC's
        """Take the config in force; refuse unknown rules, unknown parameters and wrong values."""
        config: dict[str, Any] = {}
        for name, given in request.policyConfig.items():
            level = answers.level_of(given.enforcementLevel)
            is_only_announced = not self._stack.name and level is Level.REMEDIATE
            config[name] = {
                **self._stack.rules.get(name, {}),
                **decode_properties(given.properties),
                **({} if is_only_announced else {LEVEL_KEY: str(level)}),
            }
        try:
            profile_of(Environment.PROD, config, self._rules)
        except PolicyConfigError as error:
            _refuse(context, error)
        self._config, self._profiles, self._templates = config, {}, {}
        return empty_pb2.Empty()

    def Analyze(self, request: Any, context: Any) -> Any:  # noqa: ANN401, N802  # gRPC's
        """Judge one resource by its inputs."""
        profile, kind = self._profile(request.urn), kind_of_token(request.type)
        response = proto.AnalyzeResponse()
        response.CopyFrom(self._template(profile, kind))
        if kind is None:
            return response
        if is_patch(request.type):
            answers.add_judgements(response, _open_judgements(profile, kind, request.type))
        else:
            subject = self._decoded(request, kind)
            found = _in_time(context, request.urn, lambda: list(judgements(subject, profile)))
            answers.add_judgements(response, found)
            response.not_applicable.extend(answers.left_out(subject, profile))
            self._hidden.extend(hidden_in(subject, found))
            self._note_waivers(subject, found)
        return response

    def _note_waivers(self, subject: Subject, found: list[Judgement]) -> None:
        """Keep which objects were judged and which waivers they needed."""
        if self._waivers.entries and (target := target_of(subject)) is not None:
            self._seen.add(target)
        self._use(found)

    def _use(self, found: list[Judgement]) -> None:
        violations = (violation for judgement in found for violation in judgement.violations)
        self._used.update(each.waiver.name for each in violations if each.waiver)

    def AnalyzeStack(self, request: Any, context: Any) -> Any:  # noqa: ANN401, N802  # gRPC's
        """Judge the resources together, by their outputs; only of kinds that stack rules read."""
        profile = self._profile(request.resources[0].urn if request.resources else "")
        wanted = {kind for ruling in profile.stack_rulings for kind in ruling.rule.kinds}
        subjects = [
            decode_resource(resource, kind)
            for resource in request.resources
            if (kind := kind_of_token(resource.type)) is not None
            and (kind in wanted or resource.urn in self._remediated)
            and not is_patch(resource.type)
        ]
        response = proto.AnalyzeResponse()
        stack = Stack.of(subjects, self._hidden)
        whole = "the stack as a whole"
        found = _in_time(context, whole, lambda: list(stack_judgements(stack, profile)))
        self._use(found)
        answers.add_judgements(response, found)
        response.diagnostics.extend(answers.of_lost(self._lost(subjects, profile.waivers)))
        response.diagnostics.extend(answers.of_weakened(profile, self._stack.name))
        existing = None
        if self._waivers.entries:
            existing = [target for target in _all_targets(request) if target is not None]
        faults = profile.waivers.faults(self._seen, self._used, profile.levels, existing)
        response.diagnostics.extend(answers.of_waivers(faults))
        return response

    def Remediate(self, request: Any, context: Any) -> Any:  # noqa: ANN401, N802  # gRPC's
        """Put right what rules of level `remediate` can, each after the one before.

        Every other rule is named as changing nothing: silence would count as passed.
        """
        profile, kind = self._profile(request.urn), kind_of_token(request.type)
        rulings = remediating_rulings(profile, kind)
        if kind is None or not rulings or is_patch(request.type):
            return answers.no_remediation_response(self._rules)
        properties, subject = request.properties, self._decoded(request, kind)
        remediations: list[AppliedRemediation] = []
        steps: list[Any] = []
        for ruling in rulings:
            remediate = partial(remediation_of, subject, ruling, profile.waivers)
            remediation = _in_time(context, request.urn, remediate)
            if remediation is not None:
                properties, subject = patched(properties, remediation.edits), remediation.subject
                remediations.append(remediation)
                steps.append(properties)
        if remediations:
            self._remediated[request.urn] = tuple(each.ruling for each in remediations)
        return answers.remediation_response(remediations, steps, self._rules)

    def _lost(self, subjects: Iterable[Subject], waivers: Waivers) -> Iterator[Judgement]:
        """What was put right in this run, and is wrong in what the update has made."""
        for subject in subjects:
            for ruling in self._remediated.get(subject.urn, ()):
                judgement = judgement_of(subject, ruling, waivers)
                if judgement is not None:
                    yield judgement

    def _decoded(self, request: Any, kind: Kind) -> Subject:  # noqa: ANN401  # gRPC's
        """The object of a request; the engine sends most twice, to be put right and to be judged.

        Equal properties are decoded once. What is secret comes marked the first time and plain the
        second, so that such objects never count as equal.
        """
        last = self._last  # other resources are judged meanwhile
        if last is None or last[1].urn != request.urn or last[0] != request.properties:
            last = self._last = (request.properties, decode_resource(request, kind))
        return last[1]

    def _profile(self, urn: str) -> Profile:
        chosen = self._stack.profile or self._stack.name or stack_of_urn(urn)
        environment = environment_of(chosen)
        if environment not in self._profiles:
            profile = profile_of(environment, self._config, self._rules)
            self._profiles[environment] = replace(
                profile, waivers=self._waivers.on(self._stack.name)
            )
        return self._profiles[environment]

    def _template(self, profile: Profile, kind: Kind | None) -> proto.AnalyzeResponse:
        """Answer for a resource of a kind that passes everything; made once a kind."""
        key = (profile.environment, kind)
        if key not in self._templates:
            rules = answers.not_applicable(kind, profile)
            self._templates[key] = proto.AnalyzeResponse(not_applicable=rules)
        return self._templates[key]


def _all_targets(request: Any) -> Iterator[Target | None]:  # noqa: ANN401  # gRPC's
    """Kind, namespace and name of every object of the stack, judged in this run or not."""
    for resource in request.resources:
        kind = kind_of_token(resource.type)
        if kind is not None:
            yield target_of(decode_resource(resource, kind))


def _open_judgements(profile: Profile, kind: Kind, token: str) -> list[Judgement]:
    """What can be said about a Patch resource: that what it leaves out is not known."""
    undecided = (Undecided(f"{token} carries a part of an object only"),)
    return [Judgement(ruling, (), undecided) for ruling in profile.for_kind(kind)]


def _in_time(
    context: Any,  # noqa: ANN401  # gRPC's
    subject: str,
    judge: Callable[[], T],
) -> T:
    try:
        return in_time(subject, judge)
    except LateRuleError as error:
        context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, str(error))
        raise  # abort has raised already


def _refuse(context: Any, error: PolicyConfigError) -> NoReturn:  # noqa: ANN401  # gRPC's
    context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"policy config: {error}")
    raise error  # abort has raised already
