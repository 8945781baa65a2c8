"""Resources of the engine as the objects they declare.

A type token such as `kubernetes:apps/v1:Deployment` says what a resource is, also where the program
left out apiVersion and kind; custom resources have the same shape of token.
"""

from typing import Any

from holdfast_policies.decode.properties import decode_properties
from holdfast_policies.model.kinds import Kind
from holdfast_policies.model.subject import Options, Subject

_TOKEN_PARTS = 3
_PATCH = "Patch"


def kind_of_token(token: str) -> Kind | None:
    """Kind of Kubernetes object behind a type token; None for all other resources.

    Of a Patch resource, which carries a part of an object, the kind of that object.
    """
    parts = token.split(":")
    if len(parts) != _TOKEN_PARTS or parts[0] != "kubernetes":
        return None
    group, _, version = parts[1].partition("/")
    if not version:
        return None
    return Kind("" if group == "core" else group, parts[2].removesuffix(_PATCH))


def is_patch(token: str) -> bool:
    """Whether a resource carries only a part of an object."""
    return token.endswith(_PATCH) and kind_of_token(token) is not None


def decode_resource(resource: Any, kind: Kind) -> Subject:  # noqa: ANN401  # two messages alike
    """Object of a kind that a resource, in a request or among those of a stack, declares."""
    given = resource.options
    options = Options(given.protect, tuple(given.ignoreChanges))
    return Subject(decode_properties(resource.properties), kind, resource.urn, options)


def stack_of_urn(urn: str) -> str:
    """Name of the stack in a resource's URN; empty when it is no URN.

    Source: `urn:pulumi:<stack>::<project>::<types>::<name>`.
    """
    head, _, rest = urn.partition("urn:pulumi:")
    return rest.partition("::")[0] if not head else ""
