"""Digests of Secrets and ConfigMaps: enough to see that one has changed, not what is in it.

Beside each, who wrote its data last. A value leaves this module only inside a digest.
"""

import hashlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from holdfast.adapters.cluster.api_error import ApiError
from holdfast.adapters.cluster.client import ApiClient, path_of
from holdfast.adapters.cluster.json_answers import get_json
from holdfast.errors import ClusterError
from holdfast.kube.managed_fields import ManagerEntry, read_managed_fields
from holdfast.kube.objects import canonical_json

_PLURALS: Final = {"Secret": "secrets", "ConfigMap": "configmaps"}
_CONCURRENT_READS: Final = 8
DIGEST_BYTES: Final = 8

ContentKey = tuple[str, str, str]
"""Kind, namespace and name."""


@dataclass(frozen=True)
class Content:
    """What is known of one object's data.

    Attributes:
        digest: Of all of it.
        writer: The owner of any of it that wrote last; None when managed fields do not say.
    """

    digest: str
    writer: ManagerEntry | None = None


def content_digest(data: Any, salt: str) -> str:  # noqa: ANN401 - data of any object
    """Digest of an object's data, in hexadecimal digits.

    Slow on purpose, short, and salted with the object's uid: a reader of digests can neither
    try out weak secrets quickly nor see that two objects hold the same.

    Source: RFC 7914 (scrypt), with the cost that its section 2 names for interactive use.
    """
    content = canonical_json(data)
    digest = hashlib.scrypt(content, salt=salt.encode(), n=2**14, r=8, p=1, dklen=DIGEST_BYTES)
    return digest.hex()


def read_content_digests(client: ApiClient, wanted: Iterable[ContentKey]) -> dict[ContentKey, str]:
    """Digest of every wanted object that exists.

    Raises:
        ClusterError: one cannot be read: whether it has changed cannot be said.
    """
    keys = sorted(set(wanted))
    with ThreadPoolExecutor(_CONCURRENT_READS) as threads:
        digests = list(threads.map(lambda key: _digest(client, key), keys))
    return {key: digest for key, digest in zip(keys, digests, strict=True) if digest is not None}


def _digest(client: ApiClient, key: ContentKey) -> str | None:
    try:
        content = read_content(client, key)
    except ApiError as error:
        if not error.is_forbidden:
            raise
        kind, namespace, name = key
        raise ClusterError(
            f"{kind} {namespace}/{name} may not be read, so a change of it cannot roll the "
            "pods that mount it",
            remedy="grant these credentials get on it, or set onChange: reload for a secret",
        ) from error
    return content.digest if content else None


def read_content(client: ApiClient, key: ContentKey) -> Content | None:
    """What is known of one object's data; None when there is no such object.

    Raises:
        ApiError: it may not be read, or the server fails.
        ClusterError: there is no answer.
    """
    kind, namespace, name = key
    try:
        found = get_json(client, path_of("v1", _PLURALS[kind], namespace, name), of=dict[str, Any])
    except ApiError as error:
        if error.is_absent:
            return None
        raise
    data = {"data": found.get("data"), "binaryData": found.get("binaryData")}
    fields = read_managed_fields(found)
    owners = [each for part in data for each in fields.owners_of((part,))]
    writer = max(owners, key=lambda each: each.time, default=None)
    return Content(content_digest(data, found["metadata"]["uid"]), writer)
