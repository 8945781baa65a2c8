"""Resources removed from a stack's state, and a lost state rebuilt from declaration and cluster.

Removal is `pulumi state delete` for many in one write: the state is exported, edited as plain JSON
with its secrets encrypted, and imported, under the engine's own lock and checks. To rebuild, the
engine plans the program as if nothing existed; the plan becomes a state in which each object has
the name it declares; a refresh then fills in what the cluster has and drops what it has not.
Nothing is written to the cluster.
"""

import json
import re
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import msgspec

from holdfast.adapters.engine.results import RunResult
from holdfast.adapters.engine.run.events import KUBERNETES_TYPE_PREFIX
from holdfast.adapters.engine.stack import Stack
from holdfast.adapters.engine.state.checkpoint import NOT_KNOWN_YET
from holdfast.errors import EngineError

_REFERENCES = ("dependencies", "propertyDependencies", "deletedWith", "replaceWith")


def remove_from_state(stack: Stack, urns: Collection[str]) -> int:
    """Take resources out of the record of a stack, protected ones as well.

    Args:
        stack: The stack.
        urns: Resources; those that are not recorded do not matter.

    Returns:
        How many were taken out.

    Raises:
        EngineError: an update is under way or was interrupted, or the state cannot be written.
    """
    state = stack.state()
    resources = (state.get("deployment") or {}).get("resources") or []
    if (state.get("deployment") or {}).get("pending_operations"):
        raise EngineError(
            f"an update of stack {stack.name} was interrupted",
            remedy="run `pulumi cancel`, then `holdfast up`, then this again",
        )
    kept = without(resources, set(urns))
    count = len(resources) - len(kept)
    if not count:
        return 0
    state["deployment"]["resources"] = kept
    stack.import_state(state)
    return count


def without(resources: list[dict[str, Any]], urns: Collection[str]) -> list[dict[str, Any]]:
    """Recorded resources without some of them, and without what refers to those. Pure.

    A resource whose parent goes would be an orphan: it goes, too.
    """
    gone = set(urns)
    for each in resources:  # parents stand before their children
        if each.get("parent") in gone:
            gone.add(str(each["urn"]))
    return [_unreferring(each, gone) for each in resources if each["urn"] not in gone]


def _unreferring(resource: Mapping[str, Any], gone: set[str]) -> dict[str, Any]:
    cleaned = dict(resource)
    for key in _REFERENCES:
        value = cleaned.get(key)
        if isinstance(value, list):
            cleaned[key] = [each for each in value if each not in gone]
        elif isinstance(value, dict):
            cleaned[key] = {
                name: [each for each in urns or () if each not in gone]
                for name, urns in value.items()
            }
        elif value in gone:
            del cleaned[key]
    return cleaned


Resource = dict[str, Any]

_PROVIDER_TYPE = "pulumi:providers:"
_MANAGER_ANNOTATION = "pulumi.com/patchFieldManager"
_MADE_UP = re.compile(r"pulumi-kubernetes-[0-9a-f]{8}")
# What the engine shows in place of a value that the program calls secret.
_BLINDED = "[secret]"


class Draft(msgspec.Struct, frozen=True):
    """A state before a refresh has filled it in.

    Attributes:
        resources: As a checkpoint has them, parents and providers first.
        left_out: Names of resources that of which a plan does not say enough, each with the reason.
    """

    resources: tuple[Resource, ...]
    left_out: tuple[str, ...] = ()


class _Plan(msgspec.Struct):
    steps: list[dict[str, Any]] = []


def draft_of(planned: Sequence[Resource], new_id: Callable[[], str]) -> Draft:
    """Make a state of what a plan would create.

    Law: what is in it refers only to what is in it.

    Args:
        planned: The resources as the plan has them, in its order.
        new_id: Makes the identifier of a provider, another one at each call.
    """
    provider_ids: dict[str, str] = {}
    kept: dict[str, Resource] = {}
    left_out = []
    for each in planned:
        resource = dict(each)
        reason = _why_left_out(resource, kept)
        if reason:
            left_out.append(f"{resource['urn'].rpartition('::')[2]}: {reason}")
            continue
        if resource["type"].startswith(_PROVIDER_TYPE):
            provider_ids[resource["urn"]] = new_id()
            _identify_provider(resource, provider_ids[resource["urn"]])
        elif resource.get("custom"):
            _identify_object(resource, provider_ids)
        kept[resource["urn"]] = _without_references_to_others(resource, kept)
    return Draft(tuple(kept.values()), tuple(left_out))


def _why_left_out(resource: Resource, kept: Mapping[str, Resource]) -> str:
    inputs = json.dumps(resource.get("inputs") or {})
    if resource.get("parent", "") and resource["parent"] not in kept:
        return "what it belongs to is left out"
    if not resource.get("custom") or resource["type"].startswith(_PROVIDER_TYPE):
        return ""
    if json.dumps(_BLINDED) in inputs:
        return "it holds values that the program calls secret"
    if NOT_KNOWN_YET in inputs:
        return "it holds values that only an update knows"
    if not resource["type"].startswith(KUBERNETES_TYPE_PREFIX) or not _name_of(resource):
        return "it is no Kubernetes object with a name of its own"
    return ""


def _name_of(resource: Resource) -> str:
    """Identifier of an object in a state: `namespace/name`, or the name alone."""
    metadata = resource["inputs"].get("metadata") or {}
    parts = (metadata.get("namespace"), metadata.get("name"))
    return "/".join(part for part in parts if part) if metadata.get("name") else ""


def _identify_provider(resource: Resource, identifier: str) -> None:
    resource["id"] = identifier
    inputs = resource.get("inputs") or {}
    resource["outputs"] = {key: value for key, value in inputs.items() if key != "__internal"}


def _identify_object(resource: Resource, provider_ids: Mapping[str, str]) -> None:
    inputs = resource["inputs"]
    provider = resource["provider"].rpartition("::")[0]
    annotations = inputs["metadata"].get("annotations") or {}
    resource["provider"] = f"{provider}::{provider_ids[provider]}"
    resource["id"] = _name_of(resource)
    # The provider's own notes: by them a refresh compares with what the program declares.
    resource["outputs"] = {
        **{key: inputs[key] for key in ("apiVersion", "kind", "metadata")},
        "__inputs": inputs,
        "__initialApiVersion": inputs["apiVersion"],
        "__fieldManager": annotations.get(_MANAGER_ANNOTATION, ""),
    }


def _without_references_to_others(resource: Resource, kept: Mapping[str, Resource]) -> Resource:
    if "dependencies" in resource:
        known = [urn for urn in resource["dependencies"] if urn in kept]
        resource["dependencies"] = known
    by_property = resource.get("propertyDependencies")
    if by_property:
        resource["propertyDependencies"] = {
            name: [urn for urn in urns or () if urn in kept] for name, urns in by_property.items()
        }
    return resource


def rebuild(stack: Stack) -> tuple[Draft, RunResult]:
    """Fill the empty state of a stack.

    Returns:
        The draft, and what the refresh said of it: `drifted` names what differs or is not there.

    Raises:
        EngineError: the program, the cluster or the backend fails; the state is as before then.
    """
    before = stack.state()
    draft = draft_of(_planned(stack), lambda: str(uuid.uuid4()))
    deployment = dict(before["deployment"], resources=list(draft.resources))
    # Refused beside a run that holds the lock: then there is nothing of ours to take back.
    stack.import_state(dict(before, deployment=deployment))
    try:
        found = stack.refresh()
        _take_over(stack)
    except BaseException:
        # Half a state would let the next update create what is there already.
        stack.import_state(before)
        raise
    return draft, found


def _take_over(stack: Stack) -> None:
    """Write down under which manager objects without one of their own were applied."""
    state = stack.state()
    found = [with_former_manager(each) for each in state["deployment"].get("resources", ())]
    if found != state["deployment"].get("resources", []):
        stack.import_state(dict(state, deployment=dict(state["deployment"], resources=found)))


def with_former_manager(resource: Resource) -> Resource:
    """A resource as it is recorded, with the manager that the lost state knew.

    An object that asks for no manager was applied under a name that the provider made up. Its
    fields are still owned by that name: with another one the next update would conflict with it.
    """
    outputs = resource.get("outputs") or {}
    metadata = outputs.get("metadata") or {}
    if "__fieldManager" not in outputs or _MANAGER_ANNOTATION in (
        metadata.get("annotations") or {}
    ):
        return resource
    former = sorted(
        (str(entry.get("time", "")), str(entry["manager"]))
        for entry in metadata.get("managedFields") or ()
        if entry.get("operation") == "Apply" and _MADE_UP.fullmatch(str(entry.get("manager", "")))
    )
    if not former:
        return resource
    return dict(resource, outputs={**outputs, "__fieldManager": former[-1][1]})


def _planned(stack: Stack) -> list[Resource]:
    """What the program would create, as a checkpoint would have it."""
    try:
        text = stack.command(
            ["preview", "--json"], {"PULUMI_ENABLE_STREAMING_JSON_PREVIEW": "false"}
        )
    except EngineError:
        stack.preview()  # its events say why
        raise
    if not text:
        raise EngineError(f"the preview of stack {stack.name} is empty")
    steps = msgspec.json.decode(text, type=_Plan).steps
    return [step["newState"] for step in steps if step.get("newState")]
