"""Ends the package's process, and the language host that started it, once the engine has gone.

The engine leaves both running when it ends, for ever: some 100 MB a preview. Whoever runs `pulumi`
through Holdfast does not need this (the whole session is ended); whoever runs it by hand does.
"""

import os
import signal
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path

POLL_SECONDS = 2.0
_TIMEOUT_SECONDS = 5.0
_LANGUAGE_HOST = "pulumi-language"


def end_with_engine(address: str) -> threading.Thread:
    """Watch the engine at `host:port` from a thread, and end when it answers no more."""
    host, _, port = address.rpartition(":")
    watch = threading.Thread(target=_watch, args=(host, int(port)), daemon=True)
    watch.start()
    return watch


def _watch(host: str, port: int) -> None:
    while _answers(host, port):
        time.sleep(POLL_SECONDS)
    parent = os.getppid()
    if _is_language_host(parent):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(parent, signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGTERM)


def _answers(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), _TIMEOUT_SECONDS):
            return True
    except TimeoutError:
        # A busy engine is no dead one.
        return True
    except OSError:
        return False


def _is_language_host(pid: int) -> bool:
    """Whether a process is a Pulumi language host: it serves one engine and nobody else."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().startswith(_LANGUAGE_HOST)
    except OSError:
        return False
