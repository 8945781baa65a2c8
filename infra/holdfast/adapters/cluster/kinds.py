"""Which kinds a server serves, under which name: from the table of built-in kinds, else by asking.

A kind that is not served is no missing object: a reader must be able to distinguish the two.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from holdfast.adapters.cluster.api_error import ApiError, UnreachableError
from holdfast.adapters.cluster.client import ApiClient
from holdfast.adapters.cluster.json_answers import get_json
from holdfast.kube.objects import KindKey
from holdfast.kube.openapi import defaults_of, short_name, types_of
from holdfast.kube.structure import KindEntry, TypeTable, builtin_kind


class ServedResource(msgspec.Struct):
    """A resource of a group version; with a `/` in its name a subresource."""

    name: str
    kind: str
    namespaced: bool = True

    @property
    def entry(self) -> KindEntry:
        """What the kind is called; its type is unknown."""
        return KindEntry(self.name, self.namespaced, "")


class _ResourceList(msgspec.Struct):
    resources: list[ServedResource] = []


def served_kinds(client: ApiClient, wanted: Iterable[KindKey]) -> dict[KindKey, KindEntry]:
    """Entry of each wanted kind that is served; one request for each group of custom resources.

    Built-in kinds are taken to be served: a LIST shows when they are not.

    Raises:
        ClusterError: discovery failed for another reason than that there is no such group.
    """
    found: dict[KindKey, KindEntry] = {}
    asked: dict[str, list[ServedResource]] = {}
    for api_version, kind in wanted:
        known = builtin_kind(api_version, kind)
        if known is not None:
            found[api_version, kind] = known
            continue
        if api_version not in asked:
            asked[api_version] = _discover(client, api_version)
        for resource in asked[api_version]:
            if resource.kind == kind:
                found[api_version, kind] = resource.entry
    return found


def resources_of(client: ApiClient, api_version: str) -> list[ServedResource]:
    """What the server serves of a group version, without subresources.

    Raises:
        ClusterError: it cannot be asked, or has no such version.
    """
    root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
    resources = get_json(client, root, of=_ResourceList).resources
    return [each for each in resources if "/" not in each.name]


def _discover(client: ApiClient, api_version: str) -> list[ServedResource]:
    try:
        return resources_of(client, api_version)
    except ApiError as error:
        if error.is_absent:
            return []
        raise


def custom_types(client: ApiClient, api_versions: Iterable[str]) -> list[TypeTable]:
    """Types of custom resources from the server's OpenAPI documents, one table a group version.

    A document that cannot be had leaves its kinds unknown, which is safe: lists are then atomic.
    """
    tables = []
    for api_version in sorted(set(api_versions)):
        try:
            document = get_json(client, f"/openapi/v3/apis/{api_version}", of=dict[str, Any])
        except (ApiError, UnreachableError):
            continue
        tables.append(table_of_document(document, api_version))
    return tables


def table_of_document(document: dict[str, Any], api_version: str) -> TypeTable:
    """Types, defaults and kinds of one OpenAPI document of custom resources."""
    group, _, version = api_version.rpartition("/")
    roots: dict[KindKey, str] = {}
    defaults: dict[str, dict[str, Any]] = {}
    for name, schema in document.get("components", {}).get("schemas", {}).items():
        for served in schema.get("x-kubernetes-group-version-kind") or ():
            if (served.get("group"), served.get("version")) == (group, version):
                roots[api_version, str(served["kind"])] = short_name(name)
                defaults.update(defaults_of(schema, short_name(name)))
    return TypeTable(types_of(document), defaults, roots)
