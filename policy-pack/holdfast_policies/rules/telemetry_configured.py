"""An agent tells what it does, under its own name."""

from collections.abc import Iterator

from holdfast_policies.api import (
    POD_KINDS,
    Admission,
    Breach,
    Container,
    Finding,
    Fix,
    Level,
    Levels,
    Parameter,
    Rule,
    Settings,
    Severity,
    UndeterminedError,
    containers,
    each,
    either,
    field_path,
    in_containers,
    items,
    listed,
    mapping,
    text,
)

CONTAINERS = Parameter(
    name="containers",
    description="Names of the containers that are agents.",
    schema={"type": "array", "items": {"type": "string"}, "minItems": 1},
    default=["agent"],
)
_SETTINGS = {
    "an OTLP endpoint": ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
    "a service name": ("OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"),
}


def check(container: Container, settings: Settings) -> Iterator[Finding]:
    """An agent's container without endpoint or name; what a ConfigMap brings counts as set."""
    if container.is_init or container.is_ephemeral:
        return
    if text(container.value.get("name")) not in settings["containers"]:
        return
    if items(container.value.get("envFrom")):
        return
    declared, unknown = _variables(container)

    def check_setting(what: str, _: str) -> Iterator[Breach]:
        names = _SETTINGS[what]
        if declared.isdisjoint(names):
            if unknown is not None:
                raise unknown
            yield Breach(field_path(container.path, "env"), f"no {either(names)}", what)

    yield from each(list(_SETTINGS), "", check_setting)


def _variables(container: Container) -> tuple[set[str], UndeterminedError | None]:
    """Names of the variables that are set, and why some are not known."""
    if container.variables is not None:
        return {
            text(entry.get("name"))
            for entry in container.variables
            if entry.get("value") or entry.get("valueFrom")
        }, None
    names: set[str] = set()
    unknown: UndeterminedError | None = None

    def note(variable: object, _: str) -> Iterator[Finding]:
        nonlocal unknown
        try:
            declared = mapping(variable)
            if declared.get("value") or declared.get("valueFrom"):
                names.add(text(declared.get("name")))
        except UndeterminedError as signal:
            unknown = signal
        yield from ()

    for finding in each(container.value.get("env"), "env", note):
        if not isinstance(finding, Breach):
            unknown = UndeterminedError(finding.path)
    return names, unknown


_IS_AGENT = (
    'c.role == "main" && c.value.name in variables.settings.containers'
    " && c.value.?envFrom.orValue([]).size() == 0"
)


RULE = Rule(
    id="telemetry-configured",
    title="Telemetry set up",
    description="An agent does not say where its telemetry goes, or under which name",
    rationale="What an agent did can only be told from traces that it wrote before anyone asked.",
    remedy="set telemetry.traces.endpoint of the agent, or the endpoint of the stack",
    source="https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/",
    severity=Severity.LOW,
    levels=Levels(Level.ADVISORY, Level.ADVISORY, Level.MANDATORY),
    frameworks=(
        "AU-2",
        "AU-12",
        "SI-4",
        "ASI08",
    ),
    fix=Fix.PARTLY,
    kinds=POD_KINDS,
    check=containers(check),
    parameters=(CONTAINERS,),
    admission=Admission(
        tuple(
            in_containers(
                "!c.value.?env.orValue([]).exists(e,"
                f" e.name in {listed(names)}"
                ' && (e.?value.orValue("") != "" || e.?valueFrom.orValue(null) != null))',
                "env",
                what,
                only=_IS_AGENT,
            )
            for what, names in _SETTINGS.items()
        )
    ),
)
