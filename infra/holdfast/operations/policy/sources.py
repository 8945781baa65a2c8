"""The objects that are judged: those of manifests, of files, or of a recorded state."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from holdfast_policies.decode.recorded import decode_recorded
from holdfast_policies.decode.resource import is_patch, kind_of_token, stack_of_urn
from holdfast_policies.evaluation.profile import PolicyConfigError, Profile, load_config, profile_of
from holdfast_policies.evaluation.rule_set import SHIPPED_RULES, RuleSet
from holdfast_policies.evaluation.waivers import Waiver, Waivers
from holdfast_policies.model.subject import Options, Subject

from holdfast.adapters.engine.state.checkpoint import Deployment, RecordedResource, decode_export
from holdfast.drift.finding import NotChecked
from holdfast.errors import InputError, SourceLocation
from holdfast.kube.objects import ObjectRef, mapping_at, reference_of
from holdfast.kube.paths import parse_path
from holdfast.kube.text import counted
from holdfast.manifest.fleet.fleet import Fleet
from holdfast.manifest.kinds.kinds import PolicyException
from holdfast.manifest.text.kube_files import read_kube_objects
from holdfast.manifest.text.kube_places import KubeFilePlaces
from holdfast.manifest.types.manifest import API_VERSION
from holdfast.manifest.types.marks import AGENT_LABEL, agent_of
from holdfast.operations.policy.evaluate import Judged
from holdfast.operations.stack.context import StackContext
from holdfast.render.objects.admission import waivers_of
from holdfast.render.objects.rule_set import rules_of
from holdfast.render.plan.metadata import RenderedObject
from holdfast.render.provenance.origins import Origins

_MANIFEST_GROUP = API_VERSION.partition("/")[0]
_RENDER_FIRST = "policy covers the objects rendered from them; run `holdfast policy check -s STACK`"


@dataclass(frozen=True)
class PolicyInput:
    """Objects to judge.

    Attributes:
        judged: The objects.
        not_checked: What could not be had.
        remarks: What was left out on purpose, in words.
    """

    judged: tuple[Judged, ...]
    not_checked: tuple[NotChecked, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class StackPolicy:
    """How a stack wants to be judged.

    Attributes:
        profile: `dev`, `staging` or `prod`.
        rules: What it says of single rules, over the profile.
        waivers: What single objects may break.
        today: The day by which waivers end.
        known: All rules that there are.
    """

    profile: str
    today: date
    rules: Mapping[str, Any] = field(default_factory=dict)
    waivers: tuple[Waiver, ...] = ()
    known: RuleSet = SHIPPED_RULES


def policy_of(state: StackContext, today: date) -> StackPolicy:
    """Profile, rules and waivers of a stack."""
    fleet = state.fleet
    rules = fleet.environment.policy.rules
    return StackPolicy(state.policy_profile, today, rules, waivers_of(fleet), rules_of(fleet))


def profile_by(
    policy: StackPolicy, named: str | None = None, config: Path | None = None
) -> Profile:
    """Rules, levels and waivers by which something is judged.

    Args:
        policy: As the stack says.
        named: Profile in place of the stack's.
        config: JSON file of levels and parameters, over everything else.

    Raises:
        InputError: the settings of a rule are not what it takes.
    """
    rules: Mapping[str, Any] = policy.rules
    try:
        if config is not None:
            rules = {**rules, **load_config(config, policy.known)}
        chosen = profile_of(named or policy.profile, rules, policy.known)
    except PolicyConfigError as error:
        faults = "\n".join(error.faults)
        raise InputError(faults, remedy="run `holdfast validate`") from error
    return replace(chosen, waivers=Waivers(policy.waivers, policy.today))


def rendered_objects(state: StackContext) -> PolicyInput:
    """What the manifests stand for on a stack."""
    origins = Origins(state.fleet, state.name)
    return PolicyInput(tuple(judged_objects(state.rendered, origins)))


def judged_objects(rendered: Iterable[RenderedObject], origins: Origins) -> Iterator[Judged]:
    """Rendered objects with their places: exact ones for who asks, else those of their agents."""
    for item in rendered:
        yield Judged(
            Subject.of(item.manifest, options=Options(item.is_protected)),
            item.agent,
            _declared(origins, reference_of(item.manifest)),
            place_of_agent(origins.fleet, item.agent),
        )


def _declared(origins: Origins, ref: ObjectRef) -> Callable[[str], SourceLocation | None]:
    def place_of(path: str) -> SourceLocation | None:
        return origins.declared_at(ref, parse_path(path)) or origins.fleet.setting_location()

    return place_of


def place_of_agent(fleet: Fleet, name: str) -> SourceLocation:
    """Where an agent is declared; the stack's file for what belongs to none."""
    agent = next((each for each in fleet.workloads if each.name == name), None)
    return agent.location_of("metadata.name") if agent else fleet.setting_location()


def place_of_waiver(fleet: Fleet, name: str) -> SourceLocation | None:
    """Where the target of a waiver is declared."""
    found = (each for each in fleet.of(PolicyException) if each.name == name)
    return next((each.location_of("spec.target") for each in found), None)


def objects_of_files(paths: Iterable[Path]) -> PolicyInput:
    """Objects of YAML and JSON files, each field with its line and column.

    Raises:
        InputError: a file cannot be read, or holds what is no object.
    """
    places: dict[str, KubeFilePlaces] = {}
    read: Counter[str] = Counter()
    judged, manifests = [], 0
    for path in paths:
        for one in read_kube_objects(path):
            known = places.setdefault(one.file, KubeFilePlaces(one.file))
            subject = Subject.of(one.kube_object)
            index = read[one.file]
            read[one.file] += 1
            if subject.kind.group == _MANIFEST_GROUP:
                manifests += 1
            else:
                place_of = _in_file(known, index)
                judged.append(Judged(subject, agent_of(one.kube_object), place_of))
    return PolicyInput(tuple(judged), _not_checked(manifests))


def _not_checked(manifests: int) -> tuple[NotChecked, ...]:
    """Rules cover what manifests render, not the manifests: no violation would prove nothing."""
    if not manifests:
        return ()
    return (NotChecked(counted(manifests, "Holdfast manifest"), _RENDER_FIRST),)


def _in_file(places: KubeFilePlaces, index: int) -> Callable[[str], SourceLocation | None]:
    return lambda path: places.place_of(index, path)


def recorded_objects(context: StackContext) -> PolicyInput:
    """What the newest state of a stack records.

    Raises:
        EngineError: it cannot be had.
    """
    return objects_of_state(context.engine().export())


def read_export(file: Path) -> Deployment:
    """A file that `pulumi stack export` has written.

    Raises:
        InputError: it cannot be read.
        EngineError: it is no export, or newer than this reader.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from error
    deployment = decode_export(data, place=str(file))
    if not deployment.resources:
        raise InputError(
            f"{file}: a state without resources", remedy="write one with `pulumi stack export`"
        )
    return deployment


def stack_in(deployment: Deployment) -> str:
    """Name of the stack that a state is of."""
    return stack_of_urn(deployment.resources[0].urn)


def objects_of_state(deployment: Deployment) -> PolicyInput:
    """The Kubernetes objects among the resources of a state."""
    judged = tuple(_judged_resources(deployment))
    others = sum(not each.delete for each in deployment.resources) - len(judged)
    left_out = f"{others} resources that are no Kubernetes objects, or parts of some, were left out"
    return PolicyInput(judged, remarks=(left_out,) if others else ())


def _judged_resources(deployment: Deployment) -> Iterator[Judged]:
    for resource in deployment.resources:
        kind = kind_of_token(resource.type)
        if kind is not None and resource.custom and not resource.delete:
            yield from _judged_resource(resource)


def _judged_resource(resource: RecordedResource) -> Iterator[Judged]:
    kind = kind_of_token(resource.type)
    if kind is None or is_patch(resource.type):
        return
    asked, answered = resource.properties
    options = Options(resource.protect, tuple(resource.ignore_changes or ()))
    inputs = Subject(decode_recorded(asked), kind, resource.urn, options)
    outputs = Subject(decode_recorded(answered), kind, resource.urn, options)
    agent = mapping_at(asked, "metadata", "labels").get(AGENT_LABEL)
    yield Judged(inputs, agent if isinstance(agent, str) else "", stack_view=outputs)
