"""What the same manifests have become in two clusters."""

import json
from collections.abc import Iterator
from pathlib import Path as FilePath

from holdfast.drift.object_drift import deviations_of
from holdfast.errors import InputError
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of
from holdfast.kube.paths import Path, format_path
from holdfast.manifest.types.agent_label import agent_of
from holdfast.operations.describe.compare import ABSENT, Difference, LiveComparison
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scanner import Scan, Scanner
from holdfast.operations.stack.lookup import no_such_agent

AS_RENDERED = "as rendered"
_Key = tuple[str, str, str]


def compare_live(root: FilePath, stacks: tuple[str, str], agent: str) -> LiveComparison:
    """Compare what runs for two stacks, apart from what they render differently.

    Args:
        root: Folder of Pulumi.yaml.
        stacks: Their names.
        agent: Only this one; empty for all of them.

    Raises:
        InputError: neither stack has the agent, or they are one stack.
        HoldfastError: a stack or its cluster cannot be read.
    """
    if len(set(stacks)) == 1:
        raise InputError("these are the same stack", remedy="name two")
    scans = [Scanner(ScanRequest(root, stack)).scan(keeps_all=True) for stack in stacks]
    names = {agent_of(one) for scan in scans for one in scan.desired.values()} - {""}
    if agent and agent not in names:
        raise no_such_agent(agent, sorted(names))
    first, second = (dict(_deviations(scan, agent)) for scan in scans)
    differences = [
        Difference(key[0], f"{key[1]}: {key[2]}".removesuffix(": "), values)
        for key in sorted({*first, *second})
        if len(set(values := (first.get(key, AS_RENDERED), second.get(key, AS_RENDERED)))) > 1
    ]
    not_checked = [
        (stack, item)
        for stack, scan in zip(stacks, scans, strict=True)
        for item in scan.report.not_checked
    ]
    return LiveComparison(tuple(differences), tuple(not_checked))


def _deviations(scan: Scan, wanted: str) -> Iterator[tuple[_Key, str]]:
    """Agent, object and path of each deviation, with the live value as text."""
    for identity, desired in scan.desired.items():
        agent = agent_of(desired)
        if (wanted and agent != wanted) or identity in scan.live.unread:
            continue
        ref = reference_of(desired)
        for path, value in _of_object(scan, ref, desired):
            yield (agent, str(ref), format_path(path)), value


def _of_object(scan: Scan, ref: ObjectRef, desired: KubeObject) -> Iterator[tuple[Path, str]]:
    live = scan.live.objects.get(ref.identity)
    if live is None:
        yield (), ABSENT
        return
    for path, _, found in deviations_of(ref, desired, live, scan.context):
        text = ABSENT if found is None else json.dumps(found, ensure_ascii=False, sort_keys=True)
        yield path, text
