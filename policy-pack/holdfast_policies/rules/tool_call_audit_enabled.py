"""Every call of a tool is written down; what people said is not."""

from collections.abc import Iterator

from holdfast_policies.api import (
    CONFIG_MAP,
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
    Subject,
    all_of,
    containers,
    each,
    field_path,
    in_containers,
    items,
    listed,
    mapping,
    text,
)
from holdfast_policies.facts.agent_settings import settings_of
from holdfast_policies.facts.governance import DECLARATIONS, undeclared

KEYS = Parameter(
    name="keys",
    description="Annotations or labels that say where calls of tools are written down.",
    schema=DECLARATIONS,
    default=["holdfast.dev/tool-audit"],
)
CAPTURE = Parameter(
    name="capture_allowed",
    description="Whether traces may hold the content of messages.",
    schema={"type": "boolean"},
    default=False,
)
_CAPTURING = (
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
    "TRACELOOP_TRACE_CONTENT",
    "OPENINFERENCE_CAPTURE_CONTENT",
)


def check_audit(subject: Subject, settings: Settings) -> Iterator[Finding]:
    """An agent with tools that does not say where its calls are written down."""
    agent = settings_of(subject)
    if agent is None or not items(agent.get("tools")):
        return

    yield from undeclared(subject, settings["keys"])


def check_capture(container: Container, settings: Settings) -> Iterator[Finding]:
    """Telemetry that writes down what people said."""

    def check_variable(variable: object, path: str) -> Iterator[Breach]:
        entry = mapping(variable)
        name, value = text(entry.get("name")), text(entry.get("value"))
        if name in _CAPTURING and value.lower() not in ("", "0", "false", "no", "no_content"):
            required = "no content of messages in telemetry"
            yield Breach(field_path(path, "value"), f'{name}="{value}"', required)

    if not settings["capture_allowed"] and container.may_have_variable(_CAPTURING):
        env = field_path(container.path, "env")
        yield from each(container.value.get("env"), env, check_variable)


RULE = Rule(
    id="tool-call-audit-enabled",
    title="Tool calls on record",
    description="Calls of tools are not written down, or what people said is",
    rationale="After an incident the first question is what the agent did, tool by tool.",
    remedy="set spec.governance.toolAudit to where calls are kept, leave content capture off",
    source="https://opentelemetry.io/docs/specs/semconv/gen-ai/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "AU-2",
        "AU-3",
        "AU-12",
        "MCP",
        "ASI09",
        "ASI10",
    ),
    fix=Fix.NO,
    kinds=POD_KINDS | {CONFIG_MAP},
    check=all_of(check_audit, containers(check_capture)),
    parameters=(
        KEYS,
        CAPTURE,
    ),
    admission=Admission(
        (
            in_containers(
                "!variables.settings.capture_allowed && c.value.?env.orValue([]).exists(e,"
                f" e.name in {listed(_CAPTURING)}"
                ' && !(e.?value.orValue("").lowerAscii()'
                ' in ["", "0", "false", "no", "no_content"]))',
                "env",
                "no content of messages in telemetry",
            ),
        ),
        differs="where calls are kept is asked at preview only, for it hangs on agent.json",
    ),
)
