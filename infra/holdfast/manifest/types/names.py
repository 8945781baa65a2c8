"""The names of a manifest: a table of texts, each with its pattern, words and errors."""

from typing import Annotated, Final

from holdfast.kube.syntax import (
    fault_in_label_name,
    fault_in_label_value,
    fault_in_qualified_key,
    fault_in_subdomain_name,
)
from holdfast.manifest.types import text_faults
from holdfast.manifest.types.text_type import TextType, named

BACKED_UP_AGENT_NAME_MAX: Final = 52
PART_NAME_MAX_CHARACTERS: Final = 50

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_MAX_CHARACTERS: Final = 63
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"


def _label(max_characters: int = _LABEL_MAX_CHARACTERS) -> TextType:
    is_shorter = max_characters < _LABEL_MAX_CHARACTERS
    shorter = f", at most {max_characters} characters" if is_shorter else ""
    return TextType(
        f"^{_LABEL}$",
        f"RFC 1123 label{shorter}",
        max_characters=max_characters,
        fault_in=named("name", lambda value: fault_in_label_name(value, max_characters)),
        is_exact=True,
    )


LabelName = Annotated[str, _label()]
AgentName = Annotated[str, _label(BACKED_UP_AGENT_NAME_MAX)]
PartName = Annotated[str, _label(PART_NAME_MAX_CHARACTERS)]
ShortLabel = Annotated[str, _label(20)]
PortName = Annotated[
    str,
    TextType(
        "^([0-9]+-)*[0-9]*[a-z][a-z0-9]*(-[a-z0-9]+)*$",
        "port name (RFC 6335), at most 15 characters",
        ("grpc",),
        max_characters=15,
        fault_in=named("name", text_faults.why_no_port_name),
        is_exact=True,
    ),
]
ResourceName = Annotated[
    str,
    TextType(
        rf"^(cpu|memory|ephemeral-storage|hugepages-[0-9]+[KMGTPE]i|{_SUBDOMAIN}/[-A-Za-z0-9_.]+)$",
        "resource name",
        ("nvidia.com/gpu",),
        expected="expected a resource such as cpu, hugepages-2Mi or nvidia.com/gpu",
        fault_in=text_faults.fault_in_resource_name,
    ),
]
ObjectName = Annotated[
    str,
    TextType(
        f"^{_SUBDOMAIN}$",
        "object name (RFC 1123 subdomain)",
        ("llm-credentials",),
        max_characters=253,
        fault_in=named("name", fault_in_subdomain_name),
        is_exact=True,
    ),
]
LabelValue = Annotated[
    str,
    TextType(
        "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$",
        "label value",
        ("internal",),
        max_characters=63,
        fault_in=named("label value", fault_in_label_value),
        is_exact=True,
    ),
]
TeamName = Annotated[
    str,
    TextType(
        "^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$",
        "name of a team, as a label's value",
        ("customer-care",),
        max_characters=63,
        fault_in=named("name of a team", text_faults.why_no_team),
        is_exact=True,
    ),
]
QualifiedKey = Annotated[
    str,
    TextType(
        rf"^({_SUBDOMAIN}/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$",
        "label key",
        ("example.com/team",),
        fault_in=named("key", fault_in_qualified_key),
    ),
]
EnvName = Annotated[
    str,
    TextType(
        "^[A-Za-z_][A-Za-z0-9_]*$",
        "variable name",
        ("CACHE_FOLDER",),
        expected="variable name must match [A-Za-z_][A-Za-z0-9_]*",
    ),
]
Domain = Annotated[
    str,
    TextType(
        rf"^(\*\.)?({_LABEL}\.)+{_LABEL}$",
        "domain, *. before it allowed",
        ("api.example.com",),
        expected='domain must be a domain such as "api.example.com" or "*.example.com"',
        remedy="write the domain alone, in lower case, without scheme, port and path",
    ),
]
HostName = Annotated[
    str,
    TextType(
        "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?|[0-9a-f:]+)$",
        "host: Service, domain or address",
        ("db.example.com",),
        expected='expected a host such as "db.example.com", "postgres.data.svc" or an address',
        remedy="give the host alone, without scheme, port and credentials",
    ),
]
FileName = Annotated[
    str,
    TextType(
        r"^(\.\.[-._a-zA-Z0-9]+|\.?[-_a-zA-Z0-9][-._a-zA-Z0-9]*)$",
        "file name",
        ("settings.json",),
        expected="key must hold only letters, digits, '-', '_' and '.'",
    ),
]
ToolName = Annotated[
    str,
    TextType(
        "^[A-Za-z0-9_./-]{1,128}$",
        "tool name",
        ("search_docs",),
        max_characters=128,
        expected="expected a tool's name: 1 to 128 letters, digits, '_', '-', '.' and '/'",
        fault_in=text_faults.fault_in_tool_name,
        is_exact=True,
    ),
]
HeaderName = Annotated[
    str,
    TextType(
        "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$",
        "HTTP header",
        ("X-Team",),
        expected="expected the name of an HTTP header",
    ),
]
AlertName = Annotated[
    str,
    TextType(
        "^[A-Za-z_][A-Za-z0-9_]{0,99}$",
        "alert name",
        ("QueueIsLong",),
        expected="expected a name of letters, digits and '_', at most 100, such as QueueIsLong",
    ),
]
RbacWord = Annotated[
    str,
    TextType(
        r"^[^* \t\n\r\f\v]*$",
        "word of RBAC, no wildcard",
        ("pods",),
        expected="expected a word without spaces",
        fault_in=text_faults.fault_in_rbac_word,
        is_exact=True,
    ),
]
KindName = Annotated[
    str,
    TextType(
        "^[A-Z][A-Za-z0-9]*$",
        "kind",
        ("Deployment",),
        expected="expected a kind such as Deployment",
        remedy="an exception names exactly one object",
    ),
]
