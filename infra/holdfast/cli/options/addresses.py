"""Addresses and headers on the command line: `NAME=URL`, and values from environment variables."""

import os
from collections.abc import Sequence

from holdfast.errors import InputError
from holdfast.operations.scan.request import HostHeaders


def addresses(option: str, entries: Sequence[str], form: str, example: str = "") -> dict[str, str]:
    """Address by name.

    Args:
        option: That the entries were given to.
        entries: Each a name, `=`, and an http or https address.
        form: Of an entry, in words.
        example: Of one; empty for none.

    Raises:
        InputError: an entry is not of that form.
    """
    found: dict[str, str] = {}
    for entry in entries:
        name, _, url = entry.partition("=")
        if not name or not url.startswith(("http://", "https://")):
            raise InputError(
                f"{option} {entry!r}: expected {form}, with http or https",
                remedy=f"such as {example}" if example else "",
            )
        found[name] = url
    return found


def host_headers(option: str, entries: Sequence[str]) -> HostHeaders:
    """Headers by host, from entries `HOST/NAME=VARIABLE`.

    Raises:
        InputError: an entry is not of that form, or its variable is not set.
    """
    headers: dict[str, dict[str, str]] = {}
    for entry in entries:
        scheme = "http://" if entry.startswith("http://") else ""
        host, slash, rest = entry.removeprefix(scheme).partition("/")
        name, equals, variable = rest.partition("=")
        if not (host and slash and name and equals and variable):
            raise InputError(
                f"{option} {entry!r}: expected HOST/NAME=VARIABLE",
                remedy="such as api.anthropic.com/x-api-key=ANTHROPIC_API_KEY; "
                "begin with http:// to send it in clear text",
            )
        value = _header_value(option, f"{host}/{name}", variable)
        headers.setdefault(f"{scheme}{host}".lower(), {})[name] = value
    return HostHeaders(headers)


def _header_value(option: str, header: str, variable: str) -> str:
    """The value of a header, from the environment: arguments are seen by every process.

    Raises:
        InputError: the variable is not set.
    """
    value = os.environ.get(variable)
    if not value:
        raise InputError(
            f"{option} {header}: the environment variable {variable} is not set",
            remedy="set it to the header's value",
        )
    return value
