"""The value types of a manifest: each with its check, and with the schema that editors see."""

from collections.abc import Callable
from typing import Annotated, Any, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    Strict,
    StringConstraints,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel

from holdfast.kube.syntax import (
    fault_in_cron,
    fault_in_label_name,
    fault_in_label_value,
    fault_in_qualified_key,
    fault_in_subdomain_name,
)
from holdfast.manifest.text.faults import branch, chosen_by, fault
from holdfast.manifest.types.text_checks import (
    AGENT_NAME_MAX_CHARACTERS,
    PART_NAME_MAX_CHARACTERS,
    PORT_NAME_MAX_CHARACTERS,
    checked_cidr,
    checked_image,
    checked_quantity,
    checked_time_zone,
    checked_url,
    fault_in_agent_name,
    fault_in_domain,
    fault_in_duration,
    fault_in_env_name,
    fault_in_file_name,
    fault_in_part_name,
    fault_in_path,
    fault_in_percent,
    fault_in_port_name,
    fault_in_resource_name,
    fault_in_semver,
    fault_in_sha256,
)

T = TypeVar("T")
Items = Annotated[tuple[T, ...], Strict(strict=False)]
"""A list in the file, a tuple in the model: frozen models hold no mutable lists."""

JsonObject = dict[str, Any]
"""A fragment taken over as it stands, in the words of the Kubernetes API."""


class ManifestModel(BaseModel):
    """A part of a manifest: frozen, strictly typed, camelCase in files and snake_case in Python.

    The docstrings of fields become their descriptions in the published schema; they are read when
    it is written, because reading them here would cost every start a third of its time. For the
    same reason a part that is another's default is made by `model_construct`: `Part()` would build
    its validator at every start, once more than the manifest's own.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        validate_by_alias=True,
        validate_by_name=True,
        # One schema is built for the whole manifest, not one more for each of its parts.
        defer_build=True,
    )

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Itself: nothing changes it, and a default is copied at every validation otherwise."""
        return self


def _named(fault_in: Callable[[str], str], what: str) -> AfterValidator:
    def validate(value: str) -> str:
        if found := fault_in(value):
            raise fault(f"{what} {found}", found=repr(value))
        return value

    return AfterValidator(validate)


def _schema(pattern: str, *examples: str, **more: object) -> WithJsonSchema:
    """What editors check: the pattern is the gist of the check, which alone decides."""
    schema = {"type": "string", "pattern": pattern, **more}
    return WithJsonSchema(schema | ({"examples": list(examples)} if examples else {}))


_LABEL = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
_SUBDOMAIN = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"
_LABEL_VALUE = "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"
_QUALIFIED_KEY = "^([a-z0-9.-]+/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
_SEMVER = "^(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?$"
_DOMAIN = "^(\\*\\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?\\.)+[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
_QUANTITY = "^([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]{1,3}|[numkMGTPE]|[KMGTPE]i|)$"

LabelName = Annotated[
    str,
    _named(fault_in_label_name, "name"),
    _schema(_LABEL, maxLength=63),
]
AgentName = Annotated[
    str,
    _named(fault_in_agent_name, "name"),
    _schema(_LABEL, maxLength=AGENT_NAME_MAX_CHARACTERS),
]
PartName = Annotated[
    str,
    _named(fault_in_part_name, "name"),
    _schema(_LABEL, maxLength=PART_NAME_MAX_CHARACTERS),
]
PortName = Annotated[
    str,
    _named(fault_in_port_name, "name"),
    _schema("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", maxLength=PORT_NAME_MAX_CHARACTERS),
]
ResourceName = Annotated[
    str,
    _named(fault_in_resource_name, "resource"),
    _schema("^(cpu|memory|ephemeral-storage|hugepages-.+|.+/.+)$"),
]
ObjectName = Annotated[
    str,
    _named(fault_in_subdomain_name, "name"),
    _schema(_SUBDOMAIN, maxLength=253),
]
LabelValue = Annotated[
    str,
    _named(fault_in_label_value, "label value"),
    _schema(_LABEL_VALUE, maxLength=63),
]
QualifiedKey = Annotated[
    str,
    _named(fault_in_qualified_key, "key"),
    _schema(_QUALIFIED_KEY),
]
Duration = Annotated[
    str, _named(fault_in_duration, "duration"), _schema("^[0-9]{1,9}(ms|s|m|h|d)$", "30s")
]
Semver = Annotated[str, _named(fault_in_semver, "version"), _schema(_SEMVER, "1.4.0", maxLength=63)]
EnvName = Annotated[
    str,
    _named(fault_in_env_name, "variable name"),
    _schema("^[A-Za-z_][A-Za-z0-9_]*$", "CACHE_FOLDER"),
]
Domain = Annotated[str, _named(fault_in_domain, "domain"), _schema(_DOMAIN, "api.example.com")]
AbsolutePath = Annotated[str, _named(fault_in_path, "path"), _schema("^/", "/data")]
FileName = Annotated[
    str, _named(fault_in_file_name, "key"), _schema("^[-._a-zA-Z0-9]+$", "settings.json")
]
Quantity = Annotated[str, AfterValidator(checked_quantity), _schema(_QUANTITY, "512Mi")]
Url = Annotated[
    str, AfterValidator(checked_url), _schema("^https?://[^@/]", "https://kb.example.com/mcp")
]
Cidr = Annotated[
    str, AfterValidator(checked_cidr), _schema("^[0-9a-fA-F.:]+/[1-9]", "10.20.0.0/16")
]
DigestReference = Annotated[
    str,
    AfterValidator(checked_image),
    _schema(
        "^[a-z0-9]([a-z0-9._:/-]*[a-z0-9])?@sha256:[0-9a-f]{64}$",
        f"registry.example.com/agents/triage@sha256:{'0' * 64}",
    ),
]
Sha256 = Annotated[
    str,
    _named(fault_in_sha256, "digest"),
    _schema("^sha256:[0-9a-f]{64}$", f"sha256:{'0' * 64}"),
]
Cron = Annotated[str, _named(fault_in_cron, "schedule"), _schema(r"^\S+( +\S+){4}$", "0 2 * * *")]
TimeZone = Annotated[
    str, AfterValidator(checked_time_zone), _schema("^[A-Za-z]", "UTC", "Europe/London")
]
Port = Annotated[int, Field(ge=1, le=65535)]
Text = Annotated[str, StringConstraints(min_length=1)]


def _number_or_text(value: object) -> str | None:
    if isinstance(value, bool):
        return None
    # Callers in other languages send whole numbers as floats.
    is_number = isinstance(value, int | float)
    return "number" if is_number else "percent" if isinstance(value, str) else None


IntOrPercent = Annotated[
    Annotated[int, Field(ge=0), branch("number")]
    | Annotated[
        str,
        _named(fault_in_percent, "percent"),
        _schema("^([0-9]{1,2}|100)%$", "25%"),
        branch("percent"),
    ],
    chosen_by(_number_or_text, 'expected a number or a percent such as "25%"'),
]
