"""No container takes more than an environment grants any one container."""

from collections.abc import Iterator

from holdfast_policies.api import (
    POD_KINDS,
    Admission,
    Breach,
    Container,
    Environment,
    Finding,
    Fix,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    amount,
    containers,
    each,
    field_path,
    in_containers,
    mapping,
    quoted,
    shown,
)
from holdfast_policies.facts.quantities import exceeds

_QUANTITY = {
    "type": "string",
    "pattern": r"\d+(\.\d+)?(m|k|Ki|M|Mi|G|Gi|T|Ti)?",
    "examples": ["8Gi"],
}


def _ceiling(name: str, what: str, dev: str, other: str) -> Parameter:
    return Parameter(
        name=name,
        description=f"Most {what} that one container may request or be limited to.",
        schema=_QUANTITY,
        default=other,
        defaults={Environment.DEV: dev},
    )


CEILINGS = {
    "cpu": _ceiling("cpu", "processor time, in cores,", "4", "16"),
    "memory": _ceiling("memory", "memory", "8Gi", "64Gi"),
    "ephemeral-storage": _ceiling("ephemeral_storage", "scratch space", "10Gi", "50Gi"),
}


_PLACES = [(section, name) for section in ("requests", "limits") for name in CEILINGS]


def check(container: Container, settings: Settings) -> Iterator[Finding]:
    """Requests and limits above the ceiling of their resource."""
    resources = mapping(container.value.get("resources"))

    def check_amount(place: tuple[str, str], _: str) -> Iterator[Breach]:
        section, name = place
        given = mapping(resources.get(section)).get(name)
        if given is None:
            return
        most = settings[CEILINGS[name].name]
        if exceeds(given, most):
            path = field_path(container.path, "resources", section, name)
            yield Breach(path, got=shown(given), required=f"at most {most}")

    yield from each(_PLACES, "", check_amount)


def _above(resource: str, setting: str) -> str:
    """CEL: whether the request or limit `s` of a container is above the ceiling."""
    field = f"c.value.?resources[?s][?{quoted(resource)}]"
    ceiling = f"quantity(variables.settings.{setting})"
    given = amount(f"{field}.value()")
    return f"{field}.orValue(null) != null && {given}.isGreaterThan({ceiling})"


RULE = Rule(
    id="resource-ceilings",
    title="Within the ceiling",
    description="A container may take more than this environment grants one container",
    rationale="One agent in a loop then takes a node, and the next bill, for itself.",
    remedy="lower it, or raise the ceiling of this environment by its parameter",
    source="https://kubernetes.io/docs/concepts/policy/limit-range/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "SC-6",
        "LLM10",
        "ASI08",
    ),
    fix=Fix.PARTLY,
    kinds=POD_KINDS,
    check=containers(check),
    parameters=(*CEILINGS.values(),),
    admission=Admission(
        tuple(
            in_containers(
                f'["requests", "limits"].exists(s, {_above(resource, parameter.name)})',
                f"resources.{resource}",
                "at most what this environment grants",
                f'"more than " + variables.settings.{parameter.name}',
            )
            for resource, parameter in CEILINGS.items()
        )
    ),
)
