"""The value types of a manifest: each says what it expects, what it found and what to do.

Faults are raised as `fault(...)`, which the loader turns into a `ManifestError` with file and line.
"""

import ipaddress
import re
from collections.abc import Callable
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Strict,
    StringConstraints,
    Tag,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from holdfast.kube.names import (
    fault_in_label_name,
    fault_in_label_value,
    fault_in_qualified_key,
    fault_in_subdomain_name,
)
from holdfast.kube.quantities import parse_quantity

FAULT = "holdfast"
AGENT_NAME_MAX_CHARACTERS = 52
_DURATION_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION = re.compile(r"(\d+)(ms|s|m|h|d)")
_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?"
)
_IMAGE = re.compile(r"[a-z0-9]([a-z0-9._:/-]*[a-z0-9])?")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DOMAIN = re.compile(r"(\*\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]*[a-z0-9])?")

T = TypeVar("T")
Items = Annotated[tuple[T, ...], Strict(strict=False)]
"""A list in the file, a tuple in the model: frozen models hold no mutable lists."""

JsonObject = dict[str, Any]
"""A fragment taken over as it stands, in the words of the Kubernetes API."""


class ManifestModel(BaseModel):
    """A part of a manifest: frozen, strictly typed, camelCase in files and snake_case in Python."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        validate_by_alias=True,
        validate_by_name=True,
    )


def fault(
    expected: str,
    *,
    found: str = "",
    remedy: str = "",
    rule: str = "",
    at: tuple[str | int, ...] = (),
) -> PydanticCustomError:
    """A fault in a value, carrying its parts to the loader.

    Args:
        expected: What was expected.
        found: What was found; by default the value itself, unless it is a mapping or list.
        remedy: What to change.
        rule: Name of the policy rule that is broken, where there is one.
        at: Path below the value at fault, in the words of the file.
    """
    context = {"expected": expected, "found": found, "remedy": remedy, "rule": rule, "at": at}
    # The template must not interpret braces that stand in a user's text.
    return PydanticCustomError(FAULT, "{expected}", context)


KEY = "[key]"
"""Last part of a location that means the key itself, in pydantic's and in our own."""

BRANCH = "one of: "
"""Opens the names of union branches in pydantic's locations, to tell them from fields."""


def branch(name: str) -> Tag:
    """Mark one branch of a union that `chosen_by` chooses from."""
    return Tag(BRANCH + name)


def chosen_by(choose: Callable[[object], str | None], expected: str) -> Discriminator:
    """Choose a union's branch by a value's shape, so that a wrong value gives one good message.

    Args:
        choose: Value (of the file or of the model) to the name of a branch, or None.
        expected: What to say when no branch fits.
    """

    def tag(value: object) -> str | None:
        name = choose(value)
        return name and BRANCH + name

    return Discriminator(tag, custom_error_type=FAULT, custom_error_message=expected)


def _named(check: Any, what: str) -> Any:  # noqa: ANN401 - a validator's signature is pydantic's
    def validate(value: str) -> str:
        if found := check(value):
            raise fault(f"{what} {found}", found=repr(value))
        return value

    return AfterValidator(validate)


def _check_agent_name(value: str) -> str:
    return fault_in_label_name(value, AGENT_NAME_MAX_CHARACTERS)


def _check_duration(value: str) -> str:
    return "" if _DURATION.fullmatch(value) else "must be an integer and ms, s, m, h or d"


def _check_semver(value: str) -> str:
    if _SEMVER.fullmatch(value):
        return ""
    return 'must be a semantic version such as "1.4.0"'


def _check_env_name(value: str) -> str:
    return "" if _ENV_NAME.fullmatch(value) else "must match [A-Za-z_][A-Za-z0-9_]*"


def _check_domain(value: str) -> str:
    if _DOMAIN.fullmatch(value):
        return ""
    return 'must be a domain such as "api.example.com" or "*.example.com"'


def _check_path(value: str) -> str:
    if not value.startswith("/"):
        return "must be an absolute path"
    return "must not hold '..'" if ".." in value.split("/") else ""


def _check_file_name(value: str) -> str:
    if re.fullmatch(r"[-._a-zA-Z0-9]+", value) and value not in {".", ".."}:
        return ""
    return "must hold only letters, digits, '-', '_' and '.'"


def _check_sha256(value: str) -> str:
    return "" if _DIGEST.fullmatch(value) else "must be sha256: and 64 hexadecimal digits"


def _quantity(value: str) -> str:
    expected = 'a quantity such as "512Mi" or "250m"'
    try:
        amount = parse_quantity(value)
    except ValueError:
        remedy = "use Ki, Mi or Gi for bytes and m for thousandths of a core"
        raise fault(f"expected {expected}", found=repr(value), remedy=remedy) from None
    if amount < 0:
        raise fault(f"expected {expected}, not negative", found=repr(value))
    return value


def _url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.password:
        expected = "expected a URL with http or https and a host, without credentials"
        raise fault(expected, found="" if parts.password else repr(value))
    return value


def _cidr(value: str) -> str:
    try:
        network = ipaddress.ip_network(value, strict=True)
    except ValueError as error:
        raise fault(
            'expected a CIDR such as "10.20.0.0/16"', found=f"{value!r} ({error})"
        ) from None
    if network.prefixlen == 0:
        remedy = "name the networks that the agent needs"
        raise fault(
            "must not be a catch-all", found=repr(value), remedy=remedy, rule="egress-scoped"
        )
    link_local = ipaddress.ip_network("169.254.0.0/16"), ipaddress.ip_network("fd00:ec2::254/128")
    if any(network.version == part.version and network.subnet_of(part) for part in link_local):  # type: ignore[arg-type]  # same version is checked first
        remedy = "remove it: cloud metadata gives out the node's credentials"
        expected = "must not open the metadata addresses"
        raise fault(expected, found=repr(value), remedy=remedy, rule="metadata-endpoint-blocked")
    return value


def _digest_reference(value: str) -> str:
    name, separator, digest = value.partition("@")
    rule = "image-digest-pinned"
    if separator and _DIGEST.fullmatch(digest) and _IMAGE.fullmatch(name):
        return value
    if not separator:
        remedy = (
            "find the digest with 'docker buildx imagetools inspect "
            f"{value}' and append @sha256:<64 hex digits>"
        )
        raise fault(
            "expected an image with its digest", found=repr(value), remedy=remedy, rule=rule
        )
    if not _DIGEST.fullmatch(digest):
        digits = len(digest.removeprefix("sha256:"))
        expected = "expected sha256: and 64 lower-case hexadecimal digits after '@'"
        raise fault(
            expected, found=f"{digits} characters", remedy="copy the whole digest", rule=rule
        )
    raise fault("expected an image name in lower case before '@'", found=repr(name))


def duration_milliseconds(text: str) -> int:
    """Milliseconds of a duration such as `60s`."""
    match = _DURATION.fullmatch(text)
    assert match is not None, f"unvalidated duration {text!r}"  # noqa: S101 - an invariant
    return int(match[1]) * _DURATION_MILLISECONDS[match[2]]


LabelName = Annotated[str, _named(fault_in_label_name, "name")]
AgentName = Annotated[str, _named(_check_agent_name, "name")]
ObjectName = Annotated[str, _named(fault_in_subdomain_name, "name")]
LabelValue = Annotated[str, _named(fault_in_label_value, "label value")]
QualifiedKey = Annotated[str, _named(fault_in_qualified_key, "key")]
Duration = Annotated[str, _named(_check_duration, "duration")]
Semver = Annotated[str, _named(_check_semver, "version")]
EnvName = Annotated[str, _named(_check_env_name, "variable name")]
Domain = Annotated[str, _named(_check_domain, "domain")]
AbsolutePath = Annotated[str, _named(_check_path, "path")]
FileName = Annotated[str, _named(_check_file_name, "key")]
Quantity = Annotated[str, AfterValidator(_quantity)]
Url = Annotated[str, AfterValidator(_url)]
Cidr = Annotated[str, AfterValidator(_cidr)]
DigestReference = Annotated[str, AfterValidator(_digest_reference)]
Sha256 = Annotated[str, _named(_check_sha256, "digest")]
Port = Annotated[int, Field(ge=1, le=65535)]
Text = Annotated[str, StringConstraints(min_length=1)]


def _check_percent(value: str) -> str:
    if re.fullmatch(r"[0-9]{1,2}%|100%", value):
        return ""
    return 'must be from "0%" to "100%", or a number without quotes'


def _number_or_text(value: object) -> str | None:
    if isinstance(value, bool):
        return None
    return "number" if isinstance(value, int) else "percent" if isinstance(value, str) else None


IntOrPercent = Annotated[
    Annotated[int, Field(ge=0), branch("number")]
    | Annotated[str, _named(_check_percent, "percent"), branch("percent")],
    chosen_by(_number_or_text, 'expected a number or a percent such as "25%"'),
]
