"""Every container says what it needs and what it may take."""

from collections.abc import Iterator

from holdfast_policies.api import (
    POD_KINDS,
    Admission,
    Breach,
    Container,
    Edit,
    Fix,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    Subject,
    containers,
    containers_at,
    field_path,
    in_containers,
    is_set,
    mapping,
    patch_above,
    patch_fields,
    quoted,
)

_NAMES = ["cpu", "memory", "ephemeral-storage"]
RESOURCES = Parameter(
    name="resources",
    description="Resources of which every container must have a request and a limit.",
    schema={"type": "array", "items": {"type": "string", "enum": _NAMES}, "minItems": 1},
    default=_NAMES,
)
DEFAULTS = Parameter(
    name="defaults",
    description="Limits that level remediate sets where neither limit nor request is declared.",
    schema={
        "type": "array",
        "items": {
            "type": "string",
            "pattern": r"(cpu|memory|ephemeral-storage)=[0-9.]+[A-Za-z]*",
            "examples": ["memory=512Mi"],
        },
    },
    default=["cpu=500m", "memory=512Mi", "ephemeral-storage=1Gi"],
)


def check(container: Container, settings: Settings) -> Iterator[Breach]:
    """Requests and limits that are missing, in one breach.

    A limit stands for the request as well, and the pod's own resources for those of its containers,
    as in Kubernetes. Ephemeral containers cannot have any.
    """
    if container.is_ephemeral:
        return
    missing = []
    for name in settings["resources"]:
        has_limit = _is_set(container, "limits", name)
        if not has_limit:
            missing.append(f"limits.{name}")
        if not (has_limit or _is_set(container, "requests", name)):
            missing.append(f"requests.{name}")
    if missing:
        yield Breach(
            field_path(container.path, "resources"),
            got=f"no {', '.join(sorted(missing))}",
            required="requests and limits of " + ", ".join(settings["resources"]),
        )


def _is_set(container: Container, section: str, name: str) -> bool:
    own = mapping(mapping(container.value.get("resources")).get(section))
    if own.get(name) is not None:
        return True
    of_pod = mapping(mapping(container.pod.spec.get("resources")).get(section))
    return of_pod.get(name) is not None


def _set(section: str) -> str:
    """CEL: whether a container, or its pod, has a request or limit of the resource `n`."""
    return " || ".join(
        f"{holder}.?resources.?{section}[?n].orValue(null) != null"
        for holder in ("c.value", "variables.podSpec")
    )


def remediate(subject: Subject, settings: Settings) -> Iterator[Edit]:
    """The limits that are missing: what is requested, else the default; a limit is a request."""
    defaults = dict(each.split("=", 1) for each in settings["defaults"])
    for steps, container in containers_at(subject):
        requests = mapping(mapping(container.value.get("resources")).get("requests"))
        for name in settings["resources"]:
            limit = requests.get(name)
            limit = limit if limit is not None else defaults.get(name)
            if limit is not None and not _is_set(container, "limits", name):
                yield Edit((*steps, "resources", "limits", name), limit)


_LIMITS = ("resources", "limits")


def _given(name: str) -> str:
    """CEL of a list: the default of a resource, or nothing."""
    prefix = f"{name}="
    return (
        f"variables.settings.defaults.filter(d, d.startsWith({quoted(prefix)}))"
        f".map(d, d.substring({len(prefix)}))"
    )


def _lacks(name: str) -> str:
    """CEL: whether a container lacks a limit that its request or the settings give."""
    limits = (
        is_set(f"{holder}.?resources.?limits[?{quoted(name)}]")
        for holder in ("c.value", "variables.podSpec")
    )
    return (
        f"{quoted(name)} in variables.settings.resources && !({' || '.join(limits)})"
        f" && ({is_set(_requested(name))} || {_given(name)}.size() > 0)"
    )


def _limit(name: str) -> str:
    requested = _requested(name)
    return f"({is_set(requested)} ? dyn({requested}.value()) : dyn({_given(name)}[0]))"


def _requested(name: str) -> str:
    return f"c.value.?resources.?requests[?{quoted(name)}]"


RULE = Rule(
    id="requests-and-limits",
    title="Requests and limits set",
    description="A container does not say what it needs or what it may take",
    rationale="An agent in a loop takes all that it can get; without a limit, from its neighbours.",
    remedy="set resources.requests and resources.limits",
    source="https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.REMEDIATE, Level.MANDATORY),
    frameworks=("N", "SC-6", "LLM10", "ASI08"),
    fix=Fix.YES,
    remediate=remediate,
    kinds=POD_KINDS,
    check=containers(check),
    admission=Admission(
        (
            in_containers(
                f"variables.settings.resources.exists(n, !({_set('limits')}))",
                "resources.limits",
                "requests and limits of every resource",
                "variables.settings.resources.filter(n, !("
                f'{_set("limits")})).map(n, "no " + n).join(", ")',
                only='c.role != "ephemeral"',
            ),
        ),
        patches=(
            " + ".join(
                (
                    patch_above(
                        " || ".join(f"({_lacks(name)})" for name in _NAMES), (*_LIMITS, "any")
                    ),
                    *(
                        patch_fields(_lacks(name), (*_LIMITS, name), _limit(name))
                        for name in _NAMES
                    ),
                )
            ),
        ),
    ),
    parameters=(RESOURCES, DEFAULTS),
)
