"""One number out of Prometheus.

Source: Prometheus documentation, "HTTP API: instant queries".
"""

import math
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
import urllib3

from holdfast import __version__
from holdfast.errors import HoldfastError

_TIMEOUT: Final = urllib3.Timeout(connect=5.0, read=15.0)
_OK: Final = 200
_MOST_BYTES: Final = 1 << 20


class PrometheusError(HoldfastError):
    """Prometheus gave no number."""


class _Data(msgspec.Struct, rename="camel"):
    result_type: str = ""
    result: list[Any] = []


class _Answer(msgspec.Struct, rename="camel"):
    status: str = ""
    error: str = ""
    data: _Data = msgspec.field(default_factory=_Data)


def query_number(prometheus_url: str, query: str) -> float:
    """The one number that a query gives now.

    Raises:
        PrometheusError: it cannot be asked, refuses, or gives none or several.
    """
    place = urlsplit(prometheus_url).hostname
    pool = urllib3.PoolManager(timeout=_TIMEOUT, headers={"User-Agent": f"holdfast/{__version__}"})
    try:
        answer = pool.request(
            "GET",
            f"{prometheus_url.rstrip('/')}/api/v1/query",
            fields={"query": query},
            retries=False,
            preload_content=False,
        )
        body = answer.read(_MOST_BYTES)
        answer.release_conn()
    except urllib3.exceptions.HTTPError as error:
        raise PrometheusError(f"Prometheus at {place} gives no answer ({error})") from error
    finally:
        pool.clear()
    try:
        decoded = msgspec.json.decode(body, type=_Answer)
    except msgspec.DecodeError as error:
        message = f"Prometheus at {place} answered {answer.status} and no JSON"
        raise PrometheusError(message) from error
    if answer.status != _OK or decoded.status != "success":
        raise PrometheusError(f"Prometheus at {place} refuses the query: {decoded.error}")
    return number_of(decoded.data.result_type, decoded.data.result)


def number_of(result_type: str, result: list[Any]) -> float:
    """The number in an answer: of a scalar, or of a vector of one.

    Raises:
        PrometheusError: there is none, or there are several.
    """
    if result_type == "vector" and len(result) != 1:
        raise PrometheusError(
            f"the query gives {len(result)} numbers", remedy="sum them, or select one"
        )
    try:
        sample = result[0]["value"] if result_type == "vector" else result
        value = float(sample[1])
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise PrometheusError(
            f"the query gives no number but a {result_type or 'nothing'}"
        ) from error
    if math.isnan(value):
        raise PrometheusError("the query gives no number (NaN)")
    return value
