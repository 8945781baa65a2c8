"""The checks behind the value types: why a text is not what it should be, and what to do.

`fault_in_x` says why a text does not fit, or nothing; `checked_x` returns it or raises a fault.
"""

import difflib
import ipaddress
import re
import zoneinfo
from urllib.parse import urlsplit

from holdfast.kube.scalars import parse_quantity
from holdfast.kube.syntax import fault_in_label_name, fault_in_label_value, fault_in_qualified_key
from holdfast.manifest.text.faults import fault

AGENT_NAME_MAX_CHARACTERS = 52
PART_NAME_MAX_CHARACTERS = 50
PORT_NAME_MAX_CHARACTERS = 15
STANDARD_RESOURCES = ("cpu", "memory", "ephemeral-storage")
_DURATION_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION = re.compile(r"([0-9]{1,9})(ms|s|m|h|d)")
_NUMBER = r"(0|[1-9][0-9]*)"
_SEMVER = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-[0-9A-Za-z.-]+)?")
_IMAGE = re.compile(r"[a-z0-9]([a-z0-9._:/-]*[a-z0-9])?")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DOMAIN = re.compile(r"(\*\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]*[a-z0-9])?")
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_METADATA_NETWORKS: tuple[_Network, ...] = (
    ipaddress.ip_network("169.254.0.0/16"),
    ipaddress.ip_network("fd00:ec2::254/128"),
)


def fault_in_agent_name(value: str) -> str:
    """Why a text cannot be an agent's name: a label that leaves room for role suffixes."""
    return fault_in_label_name(value, AGENT_NAME_MAX_CHARACTERS)


def fault_in_part_name(value: str) -> str:
    """Why a text cannot name a part of an agent: a label that leaves room for a volume's prefix."""
    return fault_in_label_name(value, PART_NAME_MAX_CHARACTERS)


def fault_in_port_name(value: str) -> str:
    """Why a text cannot name a port (RFC 6335 service name)."""
    if found := fault_in_label_name(value, PORT_NAME_MAX_CHARACTERS):
        return found
    if not re.search("[a-z]", value) or "--" in value:
        return "must hold a letter, and no two hyphens in a row (RFC 6335 service name)"
    return ""


def fault_in_resource_name(value: str) -> str:
    """Why a text cannot name a resource that a container may ask for."""
    if value in STANDARD_RESOURCES or value.startswith("hugepages-"):
        return ""
    if "/" in value:
        return fault_in_qualified_key(value)
    if close := difflib.get_close_matches(value, STANDARD_RESOURCES, n=1):
        return f'is not known; did you mean "{close[0]}"?'
    return f"must be {', '.join(STANDARD_RESOURCES)}, or have a prefix such as nvidia.com/gpu"


def fault_in_duration(value: str) -> str:
    """Why a text is no duration such as `60s`."""
    return "" if _DURATION.fullmatch(value) else "must be an integer and ms, s, m, h or d"


def fault_in_semver(value: str) -> str:
    """Why a text is no semantic version that can be a label's value, too."""
    if not _SEMVER.fullmatch(value):
        # Build metadata opens with a plus sign, which no label may hold.
        return 'must be a semantic version such as "1.4.0" or "2.0.0-rc.1"'
    return fault_in_label_value(value)


def fault_in_env_name(value: str) -> str:
    """Why a text cannot name an environment variable that a shell can read."""
    return "" if _ENV_NAME.fullmatch(value) else "must match [A-Za-z_][A-Za-z0-9_]*"


def fault_in_domain(value: str) -> str:
    """Why a text is no domain, `*.` before it or not."""
    if _DOMAIN.fullmatch(value):
        return ""
    return 'must be a domain such as "api.example.com" or "*.example.com"'


def fault_in_path(value: str) -> str:
    """Why a text is no absolute path."""
    if not value.startswith("/"):
        return "must be an absolute path"
    return "must not hold '..'" if ".." in value.split("/") else ""


def fault_in_file_name(value: str) -> str:
    """Why a text cannot be a key of a ConfigMap or Secret, and so a file's name."""
    if re.fullmatch(r"[-._a-zA-Z0-9]+", value) and value not in {".", ".."}:
        return ""
    return "must hold only letters, digits, '-', '_' and '.'"


def fault_in_sha256(value: str) -> str:
    """Why a text is no SHA-256 digest as registries write it."""
    return "" if _DIGEST.fullmatch(value) else "must be sha256: and 64 hexadecimal digits"


def fault_in_percent(value: str) -> str:
    """Why a text is no percent from 0% to 100%."""
    if re.fullmatch(r"[0-9]{1,2}%|100%", value):
        return ""
    return 'must be from "0%" to "100%", or a number without quotes'


def checked_quantity(value: str) -> str:
    """The text, if it is a Kubernetes quantity that is not negative."""
    expected = 'a quantity such as "512Mi" or "250m"'
    try:
        amount = parse_quantity(value)
    except ValueError:
        remedy = "use Ki, Mi or Gi for bytes and m for thousandths of a core"
        raise fault(f"expected {expected}", found=repr(value), remedy=remedy) from None
    if amount < 0:
        raise fault(f"expected {expected}, not negative", found=repr(value))
    return value


def checked_url(value: str) -> str:
    """The text, if it is an HTTP URL without user and password."""
    expected = "expected a URL with http or https and a host, without credentials"
    try:
        parts = urlsplit(value)
        has_port = parts.port is None or parts.port > 0
    except ValueError as error:
        raise fault(expected, found=str(error), remedy="correct the URL") from None
    if parts.username is not None:
        # The value is not shown: it may hold a password.
        raise fault(expected, found="a URL with credentials", remedy="keep them in a Secret")
    if parts.scheme not in {"http", "https"} or not parts.hostname or not has_port:
        raise fault(expected, found=repr(value), remedy="begin with https://")
    return value


def checked_cidr(value: str) -> str:
    """The text, if it is a CIDR that opens neither everything nor the metadata addresses."""
    try:
        network = ipaddress.ip_network(value, strict=True)
    except ValueError as error:
        network, reason = None, str(error)
    if network is None or not value.endswith(f"/{network.prefixlen}"):
        reason = reason if network is None else "without a prefix length"
        raise fault('expected a CIDR such as "10.20.0.0/16"', found=f"{value!r} ({reason})")
    if network.prefixlen == 0:
        remedy = "name the networks that the agent needs"
        expected = "must not be a catch-all"
        raise fault(expected, found=repr(value), remedy=remedy, rule="egress-scoped")
    if any(_lies_in(network, reserved) for reserved in _METADATA_NETWORKS):
        remedy = "remove it: cloud metadata gives out the node's credentials"
        expected = "must not open the metadata addresses"
        raise fault(expected, found=repr(value), remedy=remedy, rule="metadata-endpoint-blocked")
    return value


def _lies_in(network: _Network, other: _Network) -> bool:
    if isinstance(network, ipaddress.IPv4Network) and isinstance(other, ipaddress.IPv4Network):
        return network.subnet_of(other)
    if isinstance(network, ipaddress.IPv6Network) and isinstance(other, ipaddress.IPv6Network):
        return network.subnet_of(other)
    return False


def checked_image(value: str) -> str:
    """The text, if it is an image with its digest."""
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


def checked_time_zone(value: str) -> str:
    """The text, if the IANA database has a time zone of this name."""
    try:
        # "Local" would be the controller's own zone: Kubernetes refuses it.
        if value.lower() != "local" and zoneinfo.ZoneInfo(value):
            return value
    except (KeyError, OSError, ValueError):
        pass  # no such name, a folder of names, a path out of the database
    close = difflib.get_close_matches(value, zoneinfo.available_timezones(), n=1)
    remedy = f'did you mean "{close[0]}"?' if close else "take a name of the IANA database"
    expected = 'expected a time zone such as "UTC" or "Europe/London"'
    raise fault(expected, found=repr(value), remedy=remedy)


def duration_milliseconds(text: str) -> int:
    """Milliseconds of a duration such as `60s`."""
    match = _DURATION.fullmatch(text)
    assert match is not None, f"unvalidated duration {text!r}"  # noqa: S101 - an invariant
    return int(match[1]) * _DURATION_MILLISECONDS[match[2]]
