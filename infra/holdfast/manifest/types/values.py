"""The values of a manifest: a table of texts and numbers, each with its pattern and errors."""

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field, StringConstraints

from holdfast.kube.syntax import fault_in_cron
from holdfast.manifest.text.faults import branch, chosen_by
from holdfast.manifest.types import text_faults
from holdfast.manifest.types.text_type import TextType, named

_DIGEST: Final = "sha256:[0-9a-f]{64}"
_NUMBER: Final = "(0|[1-9][0-9]*)"
_QUANTITY: Final = r"^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3}|[numkMGTPE]|[KMGTPE]i|)$"
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
MediaType = Annotated[
    str,
    TextType(
        "^[a-zA-Z0-9.+-]+/[a-zA-Z0-9.+*-]+$",
        "media type",
        ("text/plain",),
        expected='expected a media type such as "text/plain"',
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
