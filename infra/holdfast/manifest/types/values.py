"""The value types of a manifest: a table of texts, each with its pattern, words and errors."""

import re
from typing import Annotated, Any, Final, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, StringConstraints
from pydantic.alias_generators import to_camel

from holdfast.kube.syntax import (
    fault_in_cron,
    fault_in_label_name,
    fault_in_label_value,
    fault_in_qualified_key,
    fault_in_subdomain_name,
)
from holdfast.manifest.text.faults import branch, chosen_by
from holdfast.manifest.types import text_faults
from holdfast.manifest.types.text_type import TextType, named

T = TypeVar("T")
MOST_ITEMS: Final = 1000
Items = Annotated[tuple[T, ...], Strict(strict=False), Field(max_length=MOST_ITEMS)]
"""A list in the file, a tuple in the model: frozen models hold no mutable lists.

Its length is limited so that the API server can tell what checking it costs at most.
"""

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


BACKED_UP_AGENT_NAME_MAX: Final = 52
PART_NAME_MAX_CHARACTERS: Final = 50

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_MAX_CHARACTERS: Final = 63
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_DIGEST: Final = "sha256:[0-9a-f]{64}"
_NUMBER: Final = "(0|[1-9][0-9]*)"
_QUANTITY: Final = r"^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3}|[numkMGTPE]|[KMGTPE]i|)$"


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
Duration = Annotated[
    str,
    TextType(
        "^[0-9]{1,9}(ms|s|m|h|d)$",
        "duration: integer and ms, s, m, h or d",
        ("30s",),
        expected="duration must be an integer and ms, s, m, h or d",
    ),
]
SEMVER: Final = TextType(
    rf"^{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-[0-9A-Za-z.-]*[0-9A-Za-z])?$",
    "semantic version",
    ("1.4.0",),
    max_characters=63,
    fault_in=named("version", text_faults.why_no_semver),
    is_exact=True,
)
Semver = Annotated[str, SEMVER]
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
AbsolutePath = Annotated[
    str,
    TextType(
        r"^(/([^/.][^/]*|\.[^/.][^/]*|\.\.[^/]+|\.)?)+$",
        "absolute path",
        ("/data",),
        fault_in=named("path", text_faults.why_no_path),
        is_exact=True,
    ),
]
InnerPath = Annotated[
    str,
    TextType(
        r"^(\.\.[A-Za-z0-9_.-]+|\.?[A-Za-z0-9_-][A-Za-z0-9_.-]*|\.)"
        r"(/(\.\.[A-Za-z0-9_.-]+|\.?[A-Za-z0-9_-][A-Za-z0-9_.-]*|\.)?)*$",
        "relative path",
        ("index/main.db",),
        expected="expected a relative path without '..'",
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
Quantity = Annotated[
    str,
    TextType(
        _QUANTITY,
        "quantity such as 512Mi or 250m",
        ("512Mi",),
        expected='expected a quantity such as "512Mi" or "250m", not negative',
        fault_in=text_faults.fault_in_quantity,
        is_exact=True,
    ),
]
PositiveQuantity = Annotated[
    str,
    TextType(
        _QUANTITY,
        "quantity such as 512Mi or 250m, more than 0",
        ("512Mi",),
        fault_in=text_faults.fault_in_positive_quantity,
    ),
]
Url = Annotated[
    str,
    TextType(
        r"^https?://([A-Za-z0-9._~%-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?([/?#][!-~]*)?$",
        "URL, http or https",
        ("https://kb.example.com/mcp",),
        expected="expected a URL with http or https and a host, without credentials",
        remedy="write other characters and spaces as %XX",
        fault_in=text_faults.fault_in_url,
    ),
]
FetchUri = Annotated[
    str,
    TextType(
        "^(https?|s3|gs)://[A-Za-z0-9._~:%+=-]+/([A-Za-z0-9._~:%+@=-]*/)*[A-Za-z0-9._~:%+@=-]+$",
        "URI of http, https, s3 or gs",
        ("s3://models/weights.bin",),
        expected="expected a URI without spaces, quotes and '..'",
        fault_in=text_faults.fault_in_fetch_uri,
    ),
]
Address = Annotated[
    str,
    TextType(
        "^[0-9a-fA-F.:]+$",
        "IP address",
        ("169.254.20.10",),
        expected="expected an IP address",
        fault_in=text_faults.fault_in_address,
    ),
]
Cidr = Annotated[
    str,
    TextType(
        "^[0-9a-fA-F.:]+/[1-9][0-9]{0,2}$",
        "CIDR, no catch-all",
        ("10.20.0.0/16",),
        expected='expected a CIDR such as "10.20.0.0/16"',
        fault_in=text_faults.fault_in_cidr,
    ),
]
_COMPONENT: Final = "[a-z0-9]([a-z0-9._-]*[a-z0-9])?"
_REPOSITORY: Final = (
    rf"([a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{{1,5}})?/)?{_COMPONENT}(/{_COMPONENT})*"
)
_TAG: Final = "(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?"
IMAGE: Final = TextType(
    f"^{_REPOSITORY}{_TAG}@{_DIGEST}$",
    "image with digest: name@sha256:<64 hex digits>",
    (f"registry.example.com/agents/triage@sha256:{'0' * 64}",),
    expected="expected an image name in lower case, without scheme, before '@'",
    fault_in=text_faults.fault_in_image,
    is_exact=True,
)
IMAGE_NAME: Final = TextType(
    f"^{_REPOSITORY}{_TAG}(@{_DIGEST})?$",
    "image: name, and a digest, a tag or both",
    (f"registry.example.com/agents/triage@sha256:{'0' * 64}",),
    expected="expected an image such as registry.example/agent:1.4.0, its name in lower case",
    fault_in=text_faults.fault_in_image_digest,
    is_exact=True,
)
ImageReference = Annotated[str, IMAGE_NAME]
DigestReference = Annotated[str, IMAGE]
Sha256 = Annotated[
    str,
    TextType(
        f"^{_DIGEST}$",
        "sha256:<64 hex digits>",
        (f"sha256:{'0' * 64}",),
        expected="digest must be sha256: and 64 hexadecimal digits",
    ),
]
Retention = Annotated[
    str,
    TextType(
        "^[1-9][0-9]{0,4}[hdwy]$",
        "time that something is kept: integer and h, d, w or y",
        ("30d", "1y"),
        expected="expected how long it is kept, such as 30d or 1y",
    ),
]
HexDigest = Annotated[
    str,
    TextType(
        "^(sha256:)?[0-9a-f]{64}$",
        "SHA-256 digest: 64 hex digits",
        fault_in=text_faults.fault_in_hex_digest,
        is_exact=True,
    ),
    AfterValidator(lambda value: value.removeprefix("sha256:")),
]
Commit = Annotated[
    str,
    TextType(
        "^[0-9a-f]{40}$",
        "commit: 40 hex digits",
        expected="expected a commit: 40 lower-case hexadecimal digits",
        remedy="find it with 'git ls-remote': a branch or tag may mean another one tomorrow",
        rule="model-and-tool-volume-pinned",
    ),
]
Cron = Annotated[
    str,
    TextType(
        "^ *[0-9A-Za-z*?,/-]+( +[0-9A-Za-z*?,/-]+){4} *$",
        "cron: five fields",
        ("0 2 * * *",),
        fault_in=named("schedule", fault_in_cron),
    ),
]
TimeZone = Annotated[
    str,
    TextType(
        "^[A-Za-z][A-Za-z0-9_+/-]*$",
        "IANA time zone",
        ("UTC", "Europe/London"),
        fault_in=text_faults.fault_in_time_zone,
    ),
]
SecretPath = Annotated[
    str,
    TextType(
        "^[A-Za-z0-9/_+=.@:-]{1,512}$",
        "name of a Secret, or a path in a store",
        ("prod/llm",),
        max_characters=512,
        expected="expected the name of a Secret, or a path in a store such as prod/llm",
        remedy="refer to the secret, do not write it here",
        is_hidden=True,
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
MediaType = Annotated[
    str,
    TextType(
        "^[a-zA-Z0-9.+-]+/[a-zA-Z0-9.+*-]+$",
        "media type",
        ("text/plain",),
        expected='expected a media type such as "text/plain"',
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
PromQl = Annotated[
    str,
    TextType(
        r"^[\s\S]+$",
        "PromQL",
        expected="expected text that is not empty",
        fault_in=text_faults.fault_in_promql,
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
FieldPath = Annotated[
    str,
    TextType("^.+$", "field path", ("spec.replicas",), fault_in=text_faults.fault_in_field_path),
]
"""A field of an object, as reports of drift write it."""

Percent = Annotated[
    str,
    TextType(
        "^([0-9]{1,2}|100)%$",
        "percent",
        ("25%",),
        expected='percent must be from "0%" to "100%", or a number without quotes',
    ),
    branch("percent"),
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
    Annotated[int, Field(ge=0), branch("number")] | Percent,
    chosen_by(_number_or_text, 'expected a number or a percent such as "25%"'),
]

_MILLISECONDS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def duration_milliseconds(text: str) -> int:
    """Milliseconds of a duration such as `60s`."""
    match = re.fullmatch(r"([0-9]{1,9})(ms|s|m|h|d)", text)
    assert match is not None, f"unvalidated duration {text!r}"  # noqa: S101 - an invariant
    return int(match[1]) * _MILLISECONDS[match[2]]
