"""Models are asked through a gateway, where requests are seen, limited and filtered."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from urllib.parse import urlsplit

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
    containers,
    each,
    either,
    field_path,
    glob,
    in_containers,
    mapping,
    shown,
    text,
)

HOSTS = Parameter(
    name="hosts",
    description="Hosts that models may be asked at; * stands for any part. An empty list: none.",
    schema={"type": "array", "items": {"type": "string"}, "minItems": 1},
    default=["*.svc", "*.svc.cluster.local"],
)
VARIABLES = Parameter(
    name="variables",
    description="Names of variables that hold the address of a model; * stands for any part.",
    schema={"type": "array", "items": {"type": "string"}, "minItems": 1},
    default=[
        "MODEL_BASE_URL",
        "OPENAI_BASE_URL",
        "OPENAI_API_BASE",
        "ANTHROPIC_BASE_URL",
        "AZURE_OPENAI_ENDPOINT",
        "GOOGLE_GEMINI_BASE_URL",
        "GROQ_BASE_URL",
        "LITELLM_BASE_URL",
        "LLM_BASE_URL",
        "MISTRAL_BASE_URL",
        "OLLAMA_HOST",
        "OLLAMA_BASE_URL",
    ],
)


def check(container: Container, settings: Settings) -> Iterator[Finding]:
    """Variables with the address of a model elsewhere."""
    variables = tuple(settings["variables"])
    names = container.variable_names
    if names is not None and not _are_meant(names, variables):
        return
    hosts = tuple(settings["hosts"])

    def check_variable(variable: object, path: str) -> Iterator[Breach]:
        declared = mapping(variable)
        name = text(declared.get("name"))
        if not _is_meant(name, variables):
            return
        value = text(declared.get("value"))
        host = _host(value)
        if host and not _is_allowed(host, hosts):
            place = field_path(path, "value")
            yield Breach(
                place, got=shown(host), required=f"a host like {either(settings['hosts'])}"
            )

    yield from each(container.value.get("env"), field_path(container.path, "env"), check_variable)


@lru_cache(maxsize=1024)
def _is_allowed(host: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(host, pattern) for pattern in patterns)


def _are_meant(names: frozenset[str], patterns: tuple[str, ...]) -> bool:
    """Whether one of some variables holds the address of a model."""
    plain, others = _sorted_patterns(patterns)
    return not plain.isdisjoint(names) or (
        bool(others) and any(_is_meant(name, others) for name in names)
    )


@lru_cache(maxsize=64)
def _sorted_patterns(patterns: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Patterns that are plain names, and the others."""
    others = tuple(pattern for pattern in patterns if not pattern.isidentifier())
    return frozenset(patterns) - frozenset(others), others


@lru_cache(maxsize=1024)
def _is_meant(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether a variable of this name holds the address of a model; names repeat."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _host(address: str) -> str:
    """Host of an address with or without its scheme; never what stands before an @."""
    try:
        return (urlsplit(address if "://" in address else f"//{address}").hostname or "").lower()
    except ValueError:
        return ""


_VALUE = 'string(e.?value.orValue(""))'
_ADDRESS = f'({_VALUE}.contains("://") ? {_VALUE} : "x://" + {_VALUE})'


RULE = Rule(
    id="model-traffic-via-gateway",
    title="Models behind a gateway",
    description="An agent asks its model past the gateway",
    rationale="Past the gateway nobody sees what is sent, limits its cost or stops what must stay.",
    remedy="set the address of the gateway, or add its host to the parameter hosts",
    source="https://genai.owasp.org/llmrisk/llm022025-sensitive-information-disclosure/",
    severity=Severity.MEDIUM,
    levels=Levels(Level.ADVISORY, Level.MANDATORY, Level.MANDATORY),
    frameworks=(
        "AC-4",
        "SC-7",
        "LLM02",
        "LLM10",
        "ASI02",
        "MCP",
    ),
    fix=Fix.NO,
    kinds=POD_KINDS,
    check=containers(check),
    parameters=(
        HOSTS,
        VARIABLES,
    ),
    admission=Admission(
        (
            in_containers(
                "c.value.?env.orValue([]).exists(e,"
                f" variables.settings.variables.exists(v, e.name.matches({glob('v')}))"
                f' && isURL({_ADDRESS}) && url({_ADDRESS}).getHostname() != ""'
                " && !variables.settings.hosts.exists(h,"
                f" url({_ADDRESS}).getHostname().lowerAscii().matches({glob('h')})))",
                "env",
                "the address of an allowed host",
            ),
        )
    ),
)
