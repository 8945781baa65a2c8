"""Why a text does not fit its type, where one sentence for every text would not help enough."""

import difflib
import ipaddress
import re
import shlex
import zoneinfo
from urllib.parse import urlsplit

from pydantic_core import PydanticCustomError

from holdfast.kube.paths import parse_path
from holdfast.kube.scalars import parse_quantity
from holdfast.kube.syntax import fault_in_label_name, fault_in_label_value, fault_in_qualified_key
from holdfast.manifest.text.faults import MORE_THAN_NOTHING, fault

STANDARD_RESOURCES = ("cpu", "memory", "ephemeral-storage")
STORE_SCHEMES = ("s3", "gs")
"""Schemes of a fetch that name an object store of the stack."""
_LONGEST_ABBREVIATION = 5
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network
METADATA_ADDRESSES = ("169.254.169.254", "fd00:ec2::254")
_METADATA_NETWORKS: tuple[_Network, ...] = (
    ipaddress.ip_network("169.254.0.0/16"),
    ipaddress.ip_network("fd00:ec2::254/128"),
)


def why_no_port_name(value: str) -> str:
    """Why a text cannot name a port (RFC 6335 service name); empty when it can."""
    if found := fault_in_label_name(value, 15):
        return found
    if not re.search("[a-z]", value) or "--" in value:
        return "must hold a letter, and no two hyphens in a row (RFC 6335 service name)"
    return ""


def why_no_team(value: str) -> str:
    """Why a text cannot name who answers for something; empty when it can."""
    return fault_in_label_value(value) if value else "must not be empty"


def fault_in_resource_name(value: str) -> PydanticCustomError | None:
    """What is wrong with the name of a resource that a container may ask for."""
    if value in STANDARD_RESOURCES or value.startswith("hugepages-"):
        return None
    expected = "expected a resource such as cpu, hugepages-2Mi or nvidia.com/gpu"
    if "/" in value:
        found = fault_in_qualified_key(value)
        return fault(f"{expected}: the name {found}", found=repr(value)) if found else None
    if "gpu" in value.lower():
        remedy = "write it with the prefix of its maker, such as nvidia.com/gpu"
        return fault(expected, found=repr(value), remedy=remedy)
    close = difflib.get_close_matches(value.lower(), STANDARD_RESOURCES, n=1)
    remedy = f'did you mean "{close[0]}"?' if close else f"known: {', '.join(STANDARD_RESOURCES)}"
    return fault(expected, found=repr(value), remedy=remedy)


def why_no_semver(value: str) -> str:
    """Why a text is no version that can be a label's value, too; empty when it is one."""
    # Build metadata opens with a plus sign, which no label may hold.
    if not re.fullmatch(r"(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}(-[0-9A-Za-z.-]+)?", value):
        prefix = ", without the v" if re.match("[vV][0-9]", value) else ""
        return f'must be a semantic version such as "1.4.0" or "2.0.0-rc.1"{prefix}'
    return fault_in_label_value(value)


def why_no_path(value: str) -> str:
    """Why a text is no absolute path; empty when it is one."""
    if not value.startswith("/"):
        return "must be an absolute path"
    return "must not hold '..'" if ".." in value.split("/") else ""


def fault_in_quantity(value: str) -> PydanticCustomError | None:
    """What is wrong with a Kubernetes quantity."""
    expected = 'expected a quantity such as "512Mi" or "250m"'
    try:
        amount = parse_quantity(value)
    except ValueError:
        remedy = "use Ki, Mi or Gi for bytes and m for thousandths of a core"
        return fault(expected, found=repr(value), remedy=remedy)
    return fault(f"{expected}, not negative", found=repr(value)) if amount < 0 else None


def fault_in_positive_quantity(value: str) -> PydanticCustomError | None:
    """What is wrong with a quantity that must not be zero."""
    if found := fault_in_quantity(value):
        return found
    return None if parse_quantity(value) else fault(MORE_THAN_NOTHING, found=repr(value))


def fault_in_url(value: str) -> PydanticCustomError | None:
    """What is wrong with an HTTP URL."""
    expected = "expected a URL with http or https and a host, without credentials"
    try:
        parts = urlsplit(value)
        has_port = parts.port is None or parts.port > 0
    except ValueError as error:
        return fault(expected, found=str(error), remedy="correct the URL")
    if parts.username is not None:
        # The value is not shown: it may hold a password.
        return fault(expected, found="a URL with credentials", remedy="keep them in a Secret")
    if parts.scheme not in {"http", "https"} or not parts.hostname or not has_port:
        return fault(expected, found=repr(value), remedy="begin with https://")
    return None


def fault_in_fetch_uri(value: str) -> PydanticCustomError | None:
    """What is wrong with the address of a file."""
    remedy = "write https://host/path, s3://bucket/key or gs://bucket/key"
    try:
        parts = urlsplit(value)
    except ValueError:
        return fault("expected a URI of http, https, s3 or gs", found=repr(value), remedy=remedy)
    if parts.username is not None:
        return fault(
            "expected a URI without credentials",
            found="a URI with credentials",
            remedy="keep them in a Secret and name its entry in credentials",
        )
    if parts.scheme not in {"http", "https", *STORE_SCHEMES} or not parts.hostname:
        return fault("expected a URI of http, https, s3 or gs", found=repr(value), remedy=remedy)
    if parts.query or parts.fragment or not parts.path.rpartition("/")[2]:
        expected = "expected a URI that ends in a file's name, without query"
        return fault(expected, found=repr(value), remedy=remedy)
    if ".." in parts.path.split("/"):
        return fault("expected a URI without spaces, quotes and '..'", found=repr(value))
    return None


def fault_in_cidr(value: str) -> PydanticCustomError | None:
    """What is wrong with a CIDR; none may open everything or the metadata addresses."""
    try:
        network, reason = ipaddress.ip_network(value, strict=True), "without a prefix length"
    except ValueError as error:
        network, reason = None, str(error)
    if network is None or not value.endswith(f"/{network.prefixlen}"):
        return fault('expected a CIDR such as "10.20.0.0/16"', found=f"{value!r} ({reason})")
    if network.prefixlen == 0:
        remedy = "name the networks that the agent needs"
        expected = "must not be a catch-all"
        return fault(expected, found=repr(value), remedy=remedy, rule="egress-scoped")
    if any(_lies_in(network, reserved) for reserved in _METADATA_NETWORKS):
        remedy = "remove it: cloud metadata gives out the node's credentials"
        expected = "must not open the metadata addresses"
        return fault(expected, found=repr(value), remedy=remedy, rule="metadata-endpoint-blocked")
    return None


def fault_in_address(value: str) -> PydanticCustomError | None:
    """What is wrong with the address of one host; none may be that of cloud metadata."""
    try:
        address = ipaddress.ip_address(value)
    except ValueError as error:
        return fault("expected an IP address", found=f"{value!r} ({error})")
    if str(address) in METADATA_ADDRESSES:
        remedy = "remove it: cloud metadata gives out the node's credentials"
        expected = "must not be a metadata address"
        return fault(expected, found=repr(value), remedy=remedy, rule="metadata-endpoint-blocked")
    return None


def _lies_in(network: _Network, other: _Network) -> bool:
    if isinstance(network, ipaddress.IPv4Network) and isinstance(other, ipaddress.IPv4Network):
        return network.subnet_of(other)
    if isinstance(network, ipaddress.IPv6Network) and isinstance(other, ipaddress.IPv6Network):
        return network.subnet_of(other)
    return False


def fault_in_image(value: str) -> PydanticCustomError | None:
    """What is missing from an image with its digest."""
    _, separator, digest = value.partition("@")
    rule = "image-digest-pinned"
    if not separator:
        remedy = (
            "find the digest with 'docker buildx imagetools inspect "
            f"{shlex.quote(value)}' and append @sha256:<64 hex digits>"
        )
        return fault(
            "expected an image with its digest", found=repr(value), remedy=remedy, rule=rule
        )
    if _DIGEST.fullmatch(digest):
        return None
    found = f"{len(digest.removeprefix('sha256:'))} characters"
    expected = "expected sha256: and 64 lower-case hexadecimal digits after '@'"
    return fault(expected, found=found, remedy="copy the whole digest", rule=rule)


def fault_in_image_digest(value: str) -> PydanticCustomError | None:
    """What is wrong with the digest of an image that has one."""
    return fault_in_image(value) if "@" in value else None


def fault_in_hex_digest(value: str) -> PydanticCustomError | None:
    """What is wrong with the digest of a file."""
    if re.fullmatch("(sha256:)?[0-9a-f]{64}", value):
        return None
    return fault(
        "expected a SHA-256 digest of 64 lower-case hexadecimal digits",
        found=f"{len(value)} characters",
        remedy="find it with: sha256sum FILE",
    )


def fault_in_time_zone(value: str) -> PydanticCustomError | None:
    """What is wrong with the name of a time zone: the IANA database must have it."""
    try:
        # "Local" would be the controller's own zone: Kubernetes refuses it.
        if value.lower() != "local" and zoneinfo.ZoneInfo(value):
            return None
    except (KeyError, OSError, ValueError):
        pass  # no such name, a folder of names, a path out of the database
    if len(value) <= _LONGEST_ABBREVIATION and value.isupper():
        remedy = "write a place of that zone, such as Europe/London: an abbreviation names none"
        return fault('expected a time zone such as "UTC"', found=repr(value), remedy=remedy)
    close = difflib.get_close_matches(value, zoneinfo.available_timezones(), n=1)
    remedy = f'did you mean "{close[0]}"?' if close else "take a name of the IANA database"
    expected = 'expected a time zone such as "UTC" or "Europe/London"'
    return fault(expected, found=repr(value), remedy=remedy)


def fault_in_tool_name(value: str) -> PydanticCustomError | None:
    """A wildcard in place of a tool's name."""
    if "*" not in value:
        return None
    return fault("expected the tools by name, without wildcard", remedy="list each tool")


def fault_in_rbac_word(value: str) -> PydanticCustomError | None:
    """A wildcard in a right."""
    if "*" not in value:
        return None
    remedy = "name what the agent needs"
    return fault("wildcards are not allowed", remedy=remedy, rule="rbac-no-wildcards")


def fault_in_field_path(value: str) -> PydanticCustomError | None:
    """What is wrong with the path of a field."""
    try:
        segments = parse_path(value)
    except ValueError:
        return fault("expected a field path with every bracket closed", found=repr(value))
    return None if segments else fault("expected a field path such as spec.replicas", found="''")


def fault_in_promql(value: str) -> PydanticCustomError | None:
    """Brackets that do not match, outside of strings: no PromQL can be that."""
    bare = re.sub(r"\"(\\.|[^\"\\])*\"|'(\\.|[^'\\])*'|`[^`]*`", "", value)
    alone = next((mark for mark in "\"'`" if mark in bare), "")
    open_brackets: list[str] = []
    pairs = {")": "(", "]": "[", "}": "{"}
    for character in "" if alone else bare:
        if character in pairs.values():
            open_brackets.append(character)
        elif character in pairs and (not open_brackets or open_brackets.pop() != pairs[character]):
            open_brackets = [character]
            break
    if alone:
        return fault("expected a PromQL expression", found=f"a {alone} without its partner")
    if open_brackets:
        found = f"{open_brackets[-1]!r} without its partner"
        return fault("expected a PromQL expression", found=found)
    return None
