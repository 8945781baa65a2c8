"""Accelerators are asked for exactly, in bounded number, through a queue, and not by sandboxes."""

from collections.abc import Iterator

from holdfast_policies.cel import Admission, amount, breaches, in_pod, quoted
from holdfast_policies.finding import Breach, Finding
from holdfast_policies.kinds import POD_KINDS, SANDBOX, SANDBOX_TEMPLATE
from holdfast_policies.parts import each
from holdfast_policies.quantities import quantity
from holdfast_policies.rule import Fix, Level, Levels, Parameter, Rule, Settings, Severity
from holdfast_policies.subject import Container, Pod, Subject, field_path, key_path, mapping, text
from holdfast_policies.wording import shown

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
        for name in settings["resources"]:
            yield from _check_amounts(container, name, settings, users)

    yield from each(list(pod.containers), "", check_container)
    if users:
        yield from _check_pod(subject, pod, settings, users[0])


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
    kinds=POD_KINDS,
    check=check,
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
        variables=(
            (
                "users",
                f"variables.containers.filter(c, variables.settings.resources.exists(n, {_HAS}))",
            ),
        ),
    ),
)
