"""Send events to a webhook: in order, from a thread of its own, with a bounded number of tries.

A receiver that is down never delays a verdict; what it does not take in time is counted as lost.
"""

import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
import urllib3

from holdfast import __version__
from holdfast.adapters.cluster.backoff import request_wait_seconds
from holdfast.adapters.http.peers import is_loopback_url
from holdfast.errors import InputError

CLOUD_EVENTS: Final = "application/cloudevents+json; charset=UTF-8"
JSON: Final = "application/json; charset=UTF-8"
MAX_TRIES: Final = 5
MOST_WAITING: Final = 1000
ENDING_SECONDS: Final = 5.0
_TIMEOUT: Final = urllib3.Timeout(connect=5.0, read=10.0)
_FIRST_FAILURE: Final = 300
_FIRST_SERVER_FAILURE: Final = 500
_WORTH_A_RETRY: Final = frozenset({408, 425, 429})

Note = Callable[[str, str], None]
"""Takes an outcome, `delivered` or `lost`, and for people why."""


class Webhook:
    """Delivers documents to one URL."""

    def __init__(
        self,
        url: str,
        note: Note,
        token: str = "",
        *,
        source: str = "--webhook",
        content_type: str = CLOUD_EVENTS,
    ) -> None:
        """Start to deliver.

        Args:
            url: http or https, without a user.
            note: Called with what became of each document; called from another thread.
            token: Bearer token; empty for none.
            source: Option or variable that names the URL, for errors.
            content_type: Of every document.

        Raises:
            InputError: it is no such URL.
        """
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise InputError(
                f"{source}: expected a URL that begins with http:// or https://",
                remedy="such as https://events.example/drift",
            )
        if parts.username or parts.password:
            raise InputError(
                f"{source}: the URL holds a user or a password",
                remedy="leave them out"
                + (
                    ", and put a token into HOLDFAST_WEBHOOK_TOKEN" if source == "--webhook" else ""
                ),
            )
        if token and parts.scheme == "http" and not is_loopback_url(url):
            raise InputError(
                "--webhook: HOLDFAST_WEBHOOK_TOKEN would be sent in clear text",
                remedy="use https, or unset the token",
            )
        self.place = f"{parts.scheme}://{parts.hostname}"
        self._url = url
        self._note = note
        self._headers = {"Content-Type": content_type, "User-Agent": f"holdfast/{__version__}"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._waiting: queue.Queue[dict[str, Any] | None] = queue.Queue(MOST_WAITING)
        self._stopping = threading.Event()
        self._pool = urllib3.PoolManager(retries=False, timeout=_TIMEOUT)
        self._thread = threading.Thread(target=self._deliver_all, name="webhook", daemon=True)
        self._thread.start()

    def send(self, document: dict[str, Any]) -> None:
        """Queue one document; never waits."""
        try:
            self._waiting.put_nowait(document)
        except queue.Full:
            self._note("lost", f"{self.place}: {MOST_WAITING} events wait already")

    def close(self) -> None:
        """Deliver what waits, for a short time, then end."""
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait(None)
        self._thread.join(ENDING_SECONDS)
        self._stopping.set()

    def _deliver_all(self) -> None:
        while not self._stopping.is_set():
            document = self._waiting.get()
            if document is None:
                return
            problem = self._deliver(msgspec.json.encode(document))
            self._note("lost" if problem else "delivered", problem)

    def _deliver(self, body: bytes) -> str:
        """Why a document was not taken; empty when it was."""
        problem = ""
        for failures in range(1, MAX_TRIES + 1):
            try:
                answer = self._pool.request("POST", self._url, body=body, headers=self._headers)
            except (urllib3.exceptions.HTTPError, OSError) as error:
                # The error's own text would name the URL, which may hold a token.
                problem = f"{self.place}: {type(error).__name__}"
            else:
                if answer.status < _FIRST_FAILURE:
                    return ""
                problem = f"{self.place}: {answer.status}"
                is_fault = answer.status >= _FIRST_SERVER_FAILURE
                if not (is_fault or answer.status in _WORTH_A_RETRY):
                    return problem
            if failures < MAX_TRIES and self._stopping.wait(request_wait_seconds(failures)):
                return problem
        return problem
