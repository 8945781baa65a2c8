"""What an import did, and what it could not do."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from holdfast.convert.workloads.remainder import ImportedAgent, Remark
from holdfast.kube.objects import ObjectRef
from holdfast.kube.text import counted, safe_text, yaml_document
from holdfast.report.documents.json_text import json_text

SCHEMA_VERSION: Final = "holdfast.dev/import/v1"
_SCHEMA_LINE: Final = "# yaml-language-server: $schema=../docs/schema/agent.schema.json\n"
_ORDER: Final = ("apiVersion", "kind", "metadata", "spec")
_LONGEST_VALUE_CHARACTERS: Final = 100


def manifest_text(agent: ImportedAgent) -> str:
    """The manifest as a file holds it: the head first, as one reads it."""
    parts = (yaml_document({key: agent.manifest[key]}) for key in _ORDER)
    return _SCHEMA_LINE + "".join(parts)


def import_text(agents: Sequence[ImportedAgent], untouched: Sequence[ObjectRef]) -> str:
    """Agent by agent: where it is from, what is lost, what is changed, what is still to do."""
    lines = [line for agent in agents for line in _agent(agent)]
    if untouched:
        lines += ["left as they are, no agent's: " + ", ".join(str(ref) for ref in untouched)]
    lost = sum(len(agent.findings.lost) for agent in agents)
    images = sum(len(agent.findings.images) for agent in agents)
    escaped = sum(bool(agent.findings.escaped) for agent in agents)
    lines += [
        f"{len(agents)} imported: not carried: {counted(lost, 'field')}; "
        f"to pin: {counted(images, 'image')}; with pod.overrides: {escaped}"
    ]
    return "".join(f"{line}\n" for line in lines)


def import_json(agents: Sequence[ImportedAgent], untouched: Iterable[ObjectRef]) -> str:
    """The same for programs, with the manifests."""
    document = {
        "schemaVersion": SCHEMA_VERSION,
        "agents": [
            {
                "name": agent.name,
                "objects": [str(ref) for ref in agent.objects],
                "manifest": agent.manifest,
                "notCarried": [_remark(each) for each in agent.findings.lost],
                "changed": [_remark(each) for each in agent.findings.changed],
                "imagesToPin": agent.findings.images,
                "podOverrides": agent.findings.escaped,
            }
            for agent in agents
        ],
        "untouched": [str(ref) for ref in untouched],
    }
    return json_text(document)


def _agent(agent: ImportedAgent) -> Iterator[str]:
    yield f"{agent.name}: {', '.join(str(ref) for ref in agent.objects)}"
    for remark in agent.findings.lost:
        yield f"  not carried: {_line(remark)}"
    for remark in agent.findings.changed:
        yield f"  changed: {_line(remark)}"
    for path in agent.findings.escaped:
        yield f"  by pod.overrides, which policy flags: {path}"
    for image in agent.findings.images:
        name = safe_text(image, _LONGEST_VALUE_CHARACTERS)
        command = f"docker buildx imagetools inspect {shlex.quote(name)}"
        yield f"  to pin: {name}: find its digest with `{command}`"


def _line(remark: Remark) -> str:
    value = remark.value
    if not isinstance(value, str):
        value = msgspec.json.encode(value, order="sorted").decode()
    path = f"{remark.path} = " if remark.path else ""
    shown = safe_text(value, _LONGEST_VALUE_CHARACTERS)
    return f"{remark.subject}: {path}{shown}: {remark.reason}"


def _remark(remark: Remark) -> dict[str, Any]:
    return {
        "object": str(remark.subject),
        "path": remark.path,
        "value": remark.value,
        "reason": remark.reason,
    }
