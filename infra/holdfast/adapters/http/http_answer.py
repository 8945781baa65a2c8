"""One bounded GET of a JSON document, for probes of things that are no Kubernetes objects."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException, HTTPMessage
from typing import IO, Any, Final

from holdfast.errors import HoldfastError

LARGEST_ANSWER_BYTES: Final = 1024 * 1024
TIMEOUT_SECONDS: Final = 10.0


class UnansweredError(HoldfastError):
    """What was asked did not answer, or not in JSON. Says nothing that a header held."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry credentials to a host that is not declared."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> None:
        """Follow none."""


def get_json(url: str, headers: Mapping[str, str], timeout_seconds: float = TIMEOUT_SECONDS) -> Any:  # noqa: ANN401  (any JSON value)
    """What stands at an address.

    Args:
        url: An http or https address.
        headers: Sent with the request, never shown.
        timeout_seconds: Longest silence of the server.

    Raises:
        UnansweredError: no connection, no success, a redirect, too much, or no JSON.
    """
    if not url.startswith(("http://", "https://")):
        raise UnansweredError(f"{url}: expected an http or https address")
    request = urllib.request.Request(  # noqa: S310  (the scheme was just checked)
        url, headers={"Accept": "application/json", **headers}
    )
    opener = urllib.request.build_opener(_NoRedirects)
    try:
        with opener.open(request, timeout=timeout_seconds) as answer:
            body = answer.read(LARGEST_ANSWER_BYTES + 1)
    except urllib.error.HTTPError as error:
        raise UnansweredError(f"{url} answers {error.code} {error.reason}") from error
    except urllib.error.URLError as error:
        raise UnansweredError(f"{url} does not answer: {error.reason}") from error
    except (OSError, HTTPException, ValueError) as error:
        raise UnansweredError(f"{url} does not answer: {type(error).__name__}") from error
    if len(body) > LARGEST_ANSWER_BYTES:
        raise UnansweredError(f"{url} answers more than {LARGEST_ANSWER_BYTES} bytes")
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UnansweredError(f"{url} answers no JSON") from error
