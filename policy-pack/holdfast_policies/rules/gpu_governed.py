"""Accelerators are asked for exactly, in bounded number, through a queue, and not by sandboxes."""

import re
from collections.abc import Iterator

from holdfast_policies.api import (
    POD_KINDS,
    SANDBOX,
    SANDBOX_TEMPLATE,
    Admission,
    Breach,
    Container,
    Finding,
    Fix,
    Kind,
    Level,
    Levels,
    Parameter,
    Pod,
    Rule,
    Settings,
    Severity,
    Subject,
    all_of,
    amount,
    breaches,
    each,
    field_path,
    in_pod,
    items,
    key_path,
    mapping,
    number,
    quoted,
    shown,
    text,
)
from holdfast_policies.facts.quantities import quantity

DEVICE_CLAIMS = frozenset(
    Kind("resource.k8s.io", name) for name in ("ResourceClaim", "ResourceClaimTemplate")
)
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
RESOURCES = Parameter(
    name="resources",
    description="Extended resources that are accelerators.",
    schema={"type": "array", "items": {"type": "string"}, "minItems": 1},
    default=["nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "google.com/tpu"],
)
MOST = Parameter(
    name="most_per_pod",
    description="Most accelerators of one kind that one pod may have.",
    schema={"type": "integer"},
    default=8,
)
QUEUE = Parameter(
    name="queue_required",
    description=f"Whether such pods must carry the label {QUEUE_LABEL}.",
    schema={"type": "boolean"},
    default=True,
)


def check(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """Every container that asks for accelerators, and the pod that holds it."""
    pod = subject.pod
    if pod is None:
        return
    users: list[str] = []

    def check_container(container: object, _: str) -> Iterator[Finding]:
        if not isinstance(container, Container):
            yield container  # type: ignore[misc]  # a container not known yet
            return
        for name in _accelerators(container, settings):
            yield from _check_amounts(container, name, settings, users)
        if items(mapping(container.value.get("resources")).get("claims")):
            users.append(container.path)

    yield from each(list(pod.containers), "", check_container)
    if users:
        yield from _check_pod(subject, pod, settings, users[0])


_VENDORS = re.compile(
    r"(?:nvidia|amd|habana|furiosa|rebellions|tenstorrent|graphcore|cambricon|iluvatar|enflame"
    r"|metax-tech|mthreads|hygon|biren|sophgo|hailo|kunlunxin)\.[a-z.]{1,60}/.{1,100}"
    r"|[^/]{1,100}/.{0,100}(?:gpu|tpu|npu|ipu|hpu|xpu|fpga|neuron|gaudi|ascend|dcu|mlu|qaic|vcuda"
    r"|accelerator|mig-|i915|vpu).{0,100}|gpu\.intel\.com/.{1,100}",
    re.IGNORECASE,
)
"""Extended resources that are accelerators, by their vendors or by what they are called."""


def _accelerators(container: Container, settings: Settings) -> list[str]:
    """Accelerators that a container asks for: those of the list, and all that are called so."""
    resources = mapping(container.value.get("resources"))
    limits, requests = mapping(resources.get("limits")), mapping(resources.get("requests"))
    chosen = settings["resources"]
    others = {name for name in (*limits, *requests) if "/" in name and name not in chosen}
    return [*chosen, *sorted(name for name in others if _VENDORS.fullmatch(name))]


def check_claims(subject: Subject, settings: Settings) -> Iterator[Breach]:
    """Devices that are claimed: in bounded number, and without an administrator's access."""
    if subject.kind not in DEVICE_CLAIMS:
        return
    spec = subject.spec
    devices = mapping(spec.get("devices")) or mapping(mapping(spec.get("spec")).get("devices"))
    for index, request in enumerate(items(devices.get("requests"))):
        declared = mapping(request)
        alternatives = [mapping(one) for one in items(declared.get("firstAvailable"))]
        for one in (declared, mapping(declared.get("exactly")), *alternatives):
            path = f"spec.devices.requests[{index}]"
            if one.get("adminAccess") is True:
                yield Breach(path, "access of an administrator", "no adminAccess")
            if one.get("allocationMode") == "All":
                yield Breach(path, "every device there is", "allocationMode ExactCount")
            if (number(one.get("count")) or 0) > settings["most_per_pod"]:
                yield Breach(path, shown(one.get("count")), f"at most {settings['most_per_pod']}")


def _check_amounts(
    container: Container, name: str, settings: Settings, users: list[str]
) -> Iterator[Breach]:
    resources = mapping(container.value.get("resources"))
    limit = mapping(resources.get("limits")).get(name)
    request = mapping(resources.get("requests")).get(name)
    if limit is None and request is None:
        return
    users.append(container.path)
    path = key_path(field_path(container.path, "resources", "limits"), name)
    asked = limit if request is None else request
    if quantity(limit) is None or quantity(limit) != quantity(asked):
        got = f"a limit of {shown(limit)} and a request of {shown(request)}"
        yield Breach(path, got, "request and limit to be equal")
    elif (quantity(limit) or 0) > settings["most_per_pod"]:
        yield Breach(path, got=shown(limit), required=f"at most {settings['most_per_pod']}")


def _check_pod(subject: Subject, pod: Pod, settings: Settings, user: str) -> Iterator[Breach]:
    if subject.kind in (SANDBOX, SANDBOX_TEMPLATE):
        got = "accelerators in a sandbox"
        remedy = "run the model behind a gateway and let the sandbox call it"
        yield Breach(user, got, "no accelerators", remedy)
    labels = [mapping(pod.metadata.get("labels")), mapping(subject.metadata.get("labels"))]
    queued = any(text(each_labels.get(QUEUE_LABEL)) for each_labels in labels)
    if settings["queue_required"] and not queued:
        path = key_path(field_path(pod.path, "metadata", "labels"), QUEUE_LABEL)
        yield Breach(path, got="no queue", required="the name of a LocalQueue")


_LIMIT = "c.value.?resources.?limits[?n]"
_REQUEST = "c.value.?resources.?requests[?n]"
_HAS = f"({_LIMIT}.orValue(null) != null || {_REQUEST}.orValue(null) != null)"
_LIMIT_AMOUNT = amount(f"{_LIMIT}.value()")
_REQUEST_AMOUNT = amount(f"{_REQUEST}.value()")
_MOST = amount("variables.settings.most_per_pod")
_IS_EXACT = (
    f"{_LIMIT}.orValue(null) != null && ({_REQUEST}.orValue(null) == null"
    f" || {_LIMIT_AMOUNT}.compareTo({_REQUEST_AMOUNT}) == 0)"
)
_QUEUED = " || ".join(
    f'{metadata}.?metadata.?labels[?{quoted(QUEUE_LABEL)}].orValue("") != ""'
    for metadata in ("variables.template", "variables.subject")
)


RULE = Rule(
    id="gpu-governed",
    title="Accelerators under governance",
    description="A pod takes accelerators without bounds, without a queue or in a sandbox",
    rationale="Accelerators are the dearest of all; one that idles on them keeps others waiting.",
    remedy="set request and limit alike, within the bound, and name a queue",
    source="https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "SC-6",
        "LLM10",
    ),
    fix=Fix.NO,
    kinds=POD_KINDS | DEVICE_CLAIMS,
    check=all_of(check, check_claims),
    parameters=(
        RESOURCES,
        MOST,
        QUEUE,
    ),
    admission=Admission(
        (
            breaches(
                "variables.users",
                "c",
                f"variables.settings.resources.exists(n, {_HAS} && !({_IS_EXACT}))",
                'c.path + ".resources.limits"',
                "request and limit of accelerators to be equal",
            ),
            breaches(
                "variables.users",
                "c",
                f"variables.settings.resources.exists(n, {_HAS} && {_IS_EXACT}"
                f" && {_LIMIT_AMOUNT}.isGreaterThan({_MOST}))",
                'c.path + ".resources.limits"',
                "no more accelerators than allowed",
            ),
            in_pod(
                'variables.users.size() > 0 && object.kind in ["Sandbox", "SandboxTemplate"]',
                "containers",
                "no accelerators in a sandbox",
            ),
            in_pod(
                f"variables.users.size() > 0 && variables.settings.queue_required && !({_QUEUED})",
                "",
                f"a label {QUEUE_LABEL}, the name of a LocalQueue",
            ),
        ),
        differs="accelerators on no list, and devices that are claimed, are seen before that only",
        variables=(
            (
                "users",
                f"variables.containers.filter(c, variables.settings.resources.exists(n, {_HAS}))",
            ),
        ),
    ),
)
