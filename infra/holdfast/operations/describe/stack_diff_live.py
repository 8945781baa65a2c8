"""`holdfast diff A B --live`: what the same manifests have become in two clusters. Wiring."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath

import click

from holdfast.drift.compare.deviations import deviations_of
from holdfast.drift.finding import NotChecked
from holdfast.errors import ExitCode
from holdfast.kube.objects import KubeObject, ObjectRef, reference_of
from holdfast.kube.paths import Path, format_path
from holdfast.manifest.types.agent_label import agent_of
from holdfast.operations.scan.request import ScanRequest
from holdfast.operations.scan.scanner import Scan, Scanner
from holdfast.operations.stack.agent_names import no_such_agent
from holdfast.report.text.explanation import Difference, difference_json, difference_text

ABSENT = "absent"
AS_RENDERED = "as rendered"
_Key = tuple[str, str, str]


@dataclass(frozen=True)
class LiveComparison:
    """What two clusters have made of the same manifests.

    Attributes:
        differences: Values that are as rendered in one cluster only, or in neither.
        not_checked: Stack and what of it could not be read: nothing is known about that.
    """

    differences: tuple[Difference, ...]
    not_checked: tuple[tuple[str, NotChecked], ...]


def print_live_comparison(
    root: FilePath, stacks: tuple[str, str], agent: str, output: str
) -> ExitCode:
    """Print what two clusters have made of the same manifests; 1 when a part cannot be read."""
    found = compare_live(root, stacks, agent)
    for stack, item in found.not_checked:
        click.echo(f"{stack}: not checked: {item.scope}: {item.reason}", err=True)
    if output == "json":
        click.echo(difference_json(stacks, found.differences), nl=False)
    else:
        text = difference_text(stacks, found.differences)
        alike = f"what {stacks[0]} and {stacks[1]} have made of their manifests does not differ\n"
        click.echo(text or ("" if found.not_checked else alike), nl=False)
    return ExitCode.ERROR if found.not_checked else ExitCode.OK


def compare_live(root: FilePath, stacks: tuple[str, str], agent: str) -> LiveComparison:
    """Compare what runs for two stacks, apart from what they render differently.

    Args:
        root: Folder of Pulumi.yaml.
        stacks: Their names.
        agent: Only this one; empty for all of them.

    Raises:
        InputError: neither stack has the agent.
        HoldfastError: a stack or its cluster cannot be read.
    """
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
    for path, _, found in deviations_of(ref, desired, live, scan.around):
        text = ABSENT if found is None else json.dumps(found, ensure_ascii=False, sort_keys=True)
        yield path, text
