"""The engine's stream of JSON lines, decoded into events.

One event a line, from `pulumi up|destroy|refresh|preview --json`. Unknown events and fields are
passed over: newer engines have more of them. A line that cannot be read is counted, never dropped:
it may have been a violation. Debug messages are dropped unread, because they hold the program's
secrets in plain text.
"""

import re
from typing import Any

import msgspec

from holdfast.adapters.engine.run.events import (
    KUBERNETES_TYPE_PREFIX,
    UNCHANGED_OPERATIONS,
    Diagnostic,
    Event,
    Inputs,
    PolicyRemediation,
    PolicySummary,
    PolicyViolation,
    PropertyDifference,
    ResourceStep,
    StepDone,
    StepFailed,
    StepStarted,
    Summary,
    UnreadLine,
)
from holdfast.kube.objects import ObjectRef, mapping_at, reference_of


class _Camel(msgspec.Struct, rename="camel"):
    pass


class _Difference(_Camel):
    diff_kind: str = ""


class _State(_Camel):
    type: str = ""
    inputs: msgspec.Raw = msgspec.Raw(b"{}")
    init_errors: list[str] | None = None


class _EventMetadata(_Camel):
    op: str
    urn: str
    type: str
    old: _State | None = None
    new: _State | None = None
    detailed_diff: dict[str, _Difference] | None = None


class _EventStep(_Camel):
    metadata: _EventMetadata


class _Diagnostic(_Camel):
    message: str = ""
    severity: str = ""
    urn: str = ""
    ephemeral: bool = False


class _Policy(_Camel):
    message: str
    policy_name: str
    policy_pack_name: str
    enforcement_level: str
    severity: str = ""
    resource_urn: str = ""


class _Remediation(_Camel):
    policy_name: str
    policy_pack_name: str
    resource_urn: str = ""
    before: msgspec.Raw = msgspec.Raw(b"{}")
    after: msgspec.Raw = msgspec.Raw(b"{}")


class _PolicySummary(_Camel):
    policy_pack_name: str
    resource_urn: str = ""
    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class _Summary(_Camel):
    resource_changes: dict[str, int] | None = None
    result: str = ""


class _EventLine(_Camel):
    resource_pre_event: _EventStep | None = None
    res_outputs_event: _EventStep | None = None
    res_op_failed_event: _EventStep | None = None
    diagnostic_event: _Diagnostic | None = None
    policy_event: _Policy | None = None
    policy_remediation_event: _Remediation | None = None
    policy_analyze_summary_event: _PolicySummary | None = None
    policy_analyze_stack_summary_event: _PolicySummary | None = None
    summary_event: _Summary | None = None


class _Identity(_Camel):
    api_version: str = ""
    kind: str = ""
    metadata: dict[str, Any] | None = None


# Found in a line that is cut off, too.
_EVENT_NAME = re.compile(rb'"(\w+Event)"\s*:')
_LINES = msgspec.json.Decoder(_EventLine)
_IDENTITIES = msgspec.json.Decoder(_Identity)


def decode_event(line: bytes) -> Event | UnreadLine | None:
    """Decode one line; None for an empty one, and for events that Holdfast does not use."""
    if not line.strip():
        return None
    try:
        event = _LINES.decode(line)
    except msgspec.DecodeError:
        named = _EVENT_NAME.search(line)
        return UnreadLine(named[1].decode() if named else "")
    return _step_event(event) or _policy_event(event) or _message_event(event)


def _step_event(event: _EventLine) -> Event | None:
    if event.resource_pre_event is not None:
        return StepStarted(_step(event.resource_pre_event.metadata))
    if event.res_outputs_event is not None:
        return StepDone(_step(event.res_outputs_event.metadata))
    if event.res_op_failed_event is not None:
        return StepFailed(_step(event.res_op_failed_event.metadata))
    return None


def _message_event(event: _EventLine) -> Event | None:
    if (diagnostic := event.diagnostic_event) is not None:
        if diagnostic.severity == "debug" or diagnostic.ephemeral:
            return None
        return Diagnostic(diagnostic.severity, diagnostic.message.strip(), diagnostic.urn)
    if (summary := event.summary_event) is not None:
        return Summary(summary.resource_changes or {}, summary.result)
    return None


def _step(metadata: _EventMetadata) -> ResourceStep:
    state = metadata.new or metadata.old
    differences = metadata.detailed_diff or {}
    identity = _identity(metadata.type, state)
    is_changed = metadata.op not in UNCHANGED_OPERATIONS
    return ResourceStep(
        urn=metadata.urn,
        type=metadata.type,
        operation=_operation(metadata),
        reference=_reference(identity),
        differences=tuple(
            PropertyDifference(path, difference.diff_kind)
            for path, difference in sorted(differences.items())
        ),
        initialisation_errors=tuple((state.init_errors if state else None) or ()),
        labels=_labels(identity),
        before=Inputs(metadata.old.inputs) if is_changed and metadata.old else None,
        after=Inputs(metadata.new.inputs) if is_changed and metadata.new else None,
    )


def _policy_event(event: _EventLine) -> Event | None:
    if (policy := event.policy_event) is not None:
        return PolicyViolation(
            policy=policy.policy_name,
            pack=policy.policy_pack_name,
            level=policy.enforcement_level,
            message=policy.message.strip(),
            severity=policy.severity,
            urn=policy.resource_urn,
        )
    judged = event.policy_analyze_summary_event or event.policy_analyze_stack_summary_event
    if judged is not None:
        return PolicySummary(
            judged.policy_pack_name, judged.passed, judged.failed, judged.resource_urn
        )
    if (remediated := event.policy_remediation_event) is not None:
        return PolicyRemediation(
            remediated.policy_name,
            remediated.policy_pack_name,
            remediated.resource_urn,
            Inputs(remediated.before),
            Inputs(remediated.after),
        )
    return None


def _operation(metadata: _EventMetadata) -> str:
    """The operation; a refresh before a preview does not say `delete` of what it finds no more."""
    is_gone = metadata.new is None and metadata.op != "delete-replaced"
    return "delete" if is_gone else metadata.op


def _identity(type_token: str, state: _State | None) -> _Identity | None:
    if state is None or not type_token.startswith(KUBERNETES_TYPE_PREFIX):
        return None
    try:
        return _IDENTITIES.decode(state.inputs)
    except msgspec.DecodeError:
        return None


def _labels(identity: _Identity | None) -> dict[str, str]:
    labels = mapping_at(identity.metadata if identity else None, "labels")
    return {key: value for key, value in labels.items() if isinstance(value, str)}


def _reference(identity: _Identity | None) -> ObjectRef | None:
    if identity is None:
        return None
    reference = reference_of(
        {
            "apiVersion": identity.api_version,
            "kind": identity.kind,
            "metadata": identity.metadata,
        }
    )
    return reference if reference.kind and reference.name else None
