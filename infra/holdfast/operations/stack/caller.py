"""Who runs this, and for which pull request, as the environment says."""

import os
import re
import socket

from holdfast.adapters.engine.backend.lock_holder import caller_name

_PULL_REQUEST_VARIABLES = ("HOLDFAST_PULL_REQUEST", "CI_MERGE_REQUEST_IID")
_CALLER_VARIABLES = ("HOLDFAST_OPERATOR", "GITHUB_ACTOR", "GITLAB_USER_LOGIN")
_GITHUB_PULL = re.compile(r"refs/pull/(\d+)/")


def caller() -> str:
    """The person or the job that runs this: as the environment says, else `user@machine`."""
    named = next((os.environ[name] for name in _CALLER_VARIABLES if os.environ.get(name)), "")
    return named or f"{caller_name()}@{socket.gethostname()}"


def pull_request() -> str:
    """The pull request that this runs for; empty for none."""
    for name in _PULL_REQUEST_VARIABLES:
        if os.environ.get(name):
            return os.environ[name]
    found = _GITHUB_PULL.match(os.environ.get("GITHUB_REF", ""))
    return found[1] if found else ""
