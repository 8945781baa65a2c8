"""Digests of Secrets and ConfigMaps: enough to see that one has changed, not what is in it."""

import hashlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import msgspec

from holdfast.cluster.api_error import ApiError
from holdfast.cluster.client import ApiClient, path_of
from holdfast.errors import ClusterError
from holdfast.kube.objects import canonical_json

_PLURALS: Final = {"Secret": "secrets", "ConfigMap": "configmaps"}
_CONCURRENT_READS: Final = 8
DIGEST_BYTES: Final = 8

ContentKey = tuple[str, str, str]
"""Kind, namespace and name."""


def content_digest(data: Any, salt: str) -> str:  # noqa: ANN401 - data of any object
    """Digest of an object's data, in hexadecimal digits.

    Slow on purpose, short, and salted with the object's uid: whoever reads digests can neither
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
        digests = list(threads.map(lambda key: _read(client, key), keys))
    return {key: digest for key, digest in zip(keys, digests, strict=True) if digest is not None}


def _read(client: ApiClient, key: ContentKey) -> str | None:
    kind, namespace, name = key
    try:
        found = msgspec.json.decode(client.get(path_of("v1", _PLURALS[kind], namespace, name)))
    except ApiError as error:
        if error.is_absent:
            return None
        if error.is_forbidden:
            raise ClusterError(
                f"{kind} {namespace}/{name} may not be read, so a change of it cannot roll the "
                "pods that mount it",
                remedy="grant these credentials get on it, or set onChange: reload for a secret",
            ) from error
        raise
    data = {"data": found.get("data"), "binaryData": found.get("binaryData")}
    return content_digest(data, found["metadata"]["uid"])
