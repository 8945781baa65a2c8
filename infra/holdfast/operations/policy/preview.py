"""A preview of a stack under the policy pack: what would change, and what the rules say of it."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from holdfast_policies.evaluation.profile import (
    PolicyConfigError,
    environment_of,
    load_config,
    profile_of,
)
from holdfast_policies.evaluation.rule_set import SHIPPED_RULES, RuleSet

from holdfast.adapters.clock import utc_now
from holdfast.adapters.engine.failures.failures import RunFailedError
from holdfast.adapters.engine.results import RunResult, read_result
from holdfast.adapters.engine.state.kept_objects import KeptObject
from holdfast.errors import InputError, SourceLocation
from holdfast.kube.objects import ObjectRef
from holdfast.kube.paths import Path as FieldPath
from holdfast.operations.deploy.kept_data import kept_objects
from holdfast.operations.policy.engine_verdicts import EngineRun, engine_report
from holdfast.operations.policy.model import PolicyReport
from holdfast.operations.policy.sources import place_of_agent
from holdfast.operations.stack.context import StackContext
from holdfast.operations.stack.project import policy_pack
from holdfast.render.objects.rule_set import rules_of
from holdfast.render.provenance.origins import Origins


@dataclass(frozen=True)
class PreviewRequest:
    """Which stack is previewed, by which pack.

    Attributes:
        stack: Its name.
        context: The stack in its project; None where events alone are read, outside of any.
        pack: Folder of the policy pack; None for that of the project.
        config: JSON config of the pack.
        is_exact: Find the exact place of everything; else only of what would be refused.
        observed_at: RFC 3339 time of the report; default now.
    """

    stack: str
    context: StackContext | None
    pack: Path | None = None
    config: Path | None = None
    is_exact: bool = False
    observed_at: str = field(default_factory=utc_now)


@dataclass(frozen=True)
class PreviewedPolicy:
    """What a preview under the pack has shown.

    Attributes:
        error: Why the preview failed, where that was not for a mandatory rule.
        kept: Objects that an update would leave in the cluster when they leave the stack.
    """

    report: PolicyReport
    error: RunFailedError | None = None
    kept: tuple[KeptObject, ...] = ()


def preview_policy(request: PreviewRequest, context: StackContext) -> PreviewedPolicy:
    """Preview a stack under the policy pack; nothing is written to the cluster.

    Raises:
        InputError: there is no such stack, pack or config.
        ToolchainError: there is no usable `pulumi`.
    """
    folder, config = policy_pack(context.root, request.pack), request.config
    if not (folder / "PulumiPolicy.yaml").is_file():
        raise InputError(f"{folder}: no policy pack", remedy="name it with --policy-pack")
    if config is not None and not config.is_file():
        raise InputError(f"{config}: no such file", remedy="name a JSON file of rules to levels")
    engine = context.engine()
    kept = kept_objects(context, engine)
    excluded = [each.urn for each in kept]
    try:
        result = engine.preview(policy_pack=folder, policy_config=config, excluded=excluded)
    except RunFailedError as error:
        failed = None if error.result.mandatory_violations else error
        return PreviewedPolicy(_report(request, error.result, failed), failed, kept)
    return PreviewedPolicy(_report(request, result), kept=kept)


def saved_preview(request: PreviewRequest, events: bytes, source: str) -> PreviewedPolicy:
    """The same of a stream of events that a plain `pulumi preview` has written.

    Args:
        request: Which stack, and by which config it was judged.
        events: The stream.
        source: Its file, for errors.

    Raises:
        InputError: it holds no events.
    """
    result = read_result("preview", events.splitlines())
    if not (result.has_ended or result.resources or result.judged):
        raise InputError(
            f"{source}: no events of the engine",
            remedy="write them with PULUMI_ENABLE_STREAMING_JSON_PREVIEW=1 and "
            "`pulumi preview --json --policy-pack ...`",
        )
    return PreviewedPolicy(_report(request, result))


def _report(
    request: PreviewRequest, result: RunResult, error: RunFailedError | None = None
) -> PolicyReport:
    context, stack = request.context, request.stack
    report = engine_report(
        EngineRun(
            stack,
            context.policy_profile if context else str(environment_of(stack)),
            result,
            failure=error.message if error else "",
            mandatory=_mandatory(request),
            locations=_Declared.of_stack(context) if context else None,
            is_exact=request.is_exact,
            observed_at=request.observed_at,
        )
    )
    return replace(report, known=_known(request))


def _known(request: PreviewRequest) -> RuleSet:
    return rules_of(request.context.fleet) if request.context else SHIPPED_RULES


def _mandatory(request: PreviewRequest) -> frozenset[str]:
    """Rules that refuse, by the stack's profile, its own settings and the config file."""
    context, config = request.context, request.config
    known = _known(request)
    rules = dict(context.fleet.environment.policy.rules) if context else {}
    try:
        rules |= load_config(config, known) if config else {}
        named = context.policy_profile if context else request.stack
        profile = profile_of(named, rules, known)
    except PolicyConfigError as error:
        raise InputError("\n".join(error.faults), remedy="run `holdfast validate`") from error
    return frozenset(each.rule.id for each in profile.rulings if each.level.refuses)


@dataclass(frozen=True)
class _Declared:
    """Places in the files of a stack."""

    origins: Origins

    @classmethod
    def of_stack(cls, context: StackContext) -> "_Declared":
        return cls(Origins(context.fleet, context.name))

    def of(self, ref: ObjectRef, path: FieldPath) -> SourceLocation | None:
        return self.origins.declared_at(ref, path) or self.origins.fleet.setting_location()

    def near(self, agent: str) -> SourceLocation | None:
        return place_of_agent(self.origins.fleet, agent)
