"""Code that a model wrote runs behind more than a shared kernel."""

from collections.abc import Iterator

from holdfast_policies.api import (
    POD_KINDS,
    SANDBOX,
    SANDBOX_TEMPLATE,
    Admission,
    Breach,
    Fix,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Subject,
    declared_in,
    either,
    field_path,
    in_pod,
    quoted,
    said,
    shown,
)
from holdfast_policies.facts.governance import declared

EXECUTES_CODE = "executes-code"
RUNTIME_CLASSES = Parameter(
    name="runtime_classes",
    description="Runtime classes that isolate a pod by more than the kernel it shares.",
    schema={"type": "array", "items": {"type": "string"}, "minItems": 1},
    default=["gvisor", "kata", "kata-qemu", "kata-clh", "kata-fc", "kata-vm-isolation"],
)


def check(subject: Subject, settings: Settings) -> Iterator[Breach]:
    """Sandboxes, and what says of itself (label or annotation executes-code) that it runs code."""
    pod = subject.pod
    if pod is None:
        return
    is_sandbox = subject.kind in (SANDBOX, SANDBOX_TEMPLATE)
    marks = [subject.metadata, pod.metadata]
    if not is_sandbox and not any(declared(each, EXECUTES_CODE) == "true" for each in marks):
        return
    runtime = pod.spec.get("runtimeClassName")
    if runtime not in settings["runtime_classes"] and pod.spec.get("hostUsers") is not False:
        required = f"{either(settings['runtime_classes'])}, or hostUsers: false"
        yield Breach(field_path(pod.spec_path, "runtimeClassName"), shown(runtime), required)


_EXECUTES_CODE = " || ".join(
    f'{declared_in(metadata, quoted(EXECUTES_CODE))} == "true"'
    for metadata in ("variables.subject.?metadata", "variables.template.?metadata")
)


RULE = Rule(
    id="sandboxed-runtime-class",
    title="Code behind a second wall",
    description="Code that a model wrote runs in a plain container",
    rationale="One flaw in the kernel then stands between what was just generated and the node.",
    remedy="set runtimeClassName, or hostUsers to false",
    source="https://kubernetes.io/docs/concepts/containers/runtime-class/",
    severity=Severity.HIGH,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "SC-39",
        "SC-44",
        "LLM05",
        "LLM06",
        "ASI05",
        "MCP",
    ),
    fix=Fix.YES,
    kinds=POD_KINDS,
    check=check,
    parameters=(RUNTIME_CLASSES,),
    admission=Admission(
        (
            in_pod(
                f'(object.kind in ["Sandbox", "SandboxTemplate"] || {_EXECUTES_CODE})'
                ' && !(variables.podSpec.?runtimeClassName.orValue("")'
                " in variables.settings.runtime_classes)"
                " && variables.podSpec.?hostUsers.orValue(true) != false",
                "runtimeClassName",
                "a runtime class of the list, or hostUsers: false",
                said("variables.podSpec.?runtimeClassName"),
            ),
        )
    ),
)
