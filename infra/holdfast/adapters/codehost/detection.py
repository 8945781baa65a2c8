"""Where a job runs, read from the variables that GitHub Actions and GitLab CI set."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from holdfast.adapters.codehost.api import CodeHost
from holdfast.adapters.codehost.github import GitHub
from holdfast.adapters.codehost.gitlab import GitLab
from holdfast.errors import InputError

_REMEDY: Final = (
    "run it in a job of GitHub Actions or GitLab CI, or set the variables that these do"
)


@dataclass(frozen=True)
class Job:
    """Where a job runs.

    Attributes:
        host: The project on its code host.
        change: Number of the pull or merge request; None in other jobs.
    """

    host: CodeHost
    change: int | None


def code_host(variables: Mapping[str, str]) -> Job:
    """Where this job runs.

    Args:
        variables: The environment.

    Raises:
        InputError: it runs nowhere that is known, or a variable is missing.
    """
    if variables.get("GITLAB_CI"):
        host: CodeHost = GitLab(
            _needed(variables, "CI_API_V4_URL"),
            _needed(variables, "CI_PROJECT_ID"),
            _needed(variables, "GITLAB_TOKEN"),
        )
        return Job(host, _number(variables.get("CI_MERGE_REQUEST_IID")))
    if variables.get("GITHUB_ACTIONS") or variables.get("GITHUB_REPOSITORY"):
        host = GitHub(
            variables.get("GITHUB_API_URL") or "https://api.github.com",
            _needed(variables, "GITHUB_REPOSITORY"),
            _needed(variables, "GITHUB_TOKEN"),
        )
        return Job(host, _pull_request(variables))
    raise InputError("neither GITHUB_ACTIONS nor GITLAB_CI is set", remedy=_REMEDY)


def _needed(variables: Mapping[str, str], name: str) -> str:
    if value := variables.get(name):
        return value
    if name == "GITHUB_TOKEN":
        remedy = "give the step `env: GITHUB_TOKEN: ${{ github.token }}`"
    elif name == "GITLAB_TOKEN":
        remedy = "add a masked variable with a project access token of scope api"
    else:
        remedy = _REMEDY
    raise InputError(f"{name} is not set", remedy=remedy)


def _pull_request(variables: Mapping[str, str]) -> int | None:
    file = variables.get("GITHUB_EVENT_PATH")
    if not file:
        return None
    try:
        event: Any = json.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"GITHUB_EVENT_PATH: {file} cannot be read", remedy=_REMEDY) from error
    pull_request = event.get("pull_request") if isinstance(event, dict) else None
    return _number(pull_request.get("number")) if isinstance(pull_request, dict) else None


def _number(text: object) -> int | None:
    return int(str(text)) if str(text or "").isdigit() else None
