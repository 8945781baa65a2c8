import json
from pathlib import Path

import pytest
from holdfast.adapters.codehost.detection import code_host
from holdfast.adapters.codehost.github import GitHub
from holdfast.adapters.codehost.gitlab import GitLab
from holdfast.errors import InputError

GITHUB = {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/agents", "GITHUB_TOKEN": "t"}
GITLAB = {
    "GITLAB_CI": "true",
    "CI_API_V4_URL": "https://gitlab.example/api/v4",
    "CI_PROJECT_ID": "12",
    "GITLAB_TOKEN": "t",
}


def test_a_job_for_a_merge_request_knows_its_number() -> None:
    job = code_host(GITLAB | {"CI_MERGE_REQUEST_IID": "5"})
    assert isinstance(job.host, GitLab)
    assert job.change == 5


@pytest.mark.parametrize(
    ("event", "number"),
    [
        pytest.param({"pull_request": {"number": 9}}, 9, id="pull request"),
        pytest.param({"ref": "refs/heads/main"}, None, id="push"),
        pytest.param([], None, id="no event"),
    ],
)
def test_a_job_for_a_pull_request_knows_its_number(
    tmp_path: Path, event: object, number: int | None
) -> None:
    file = tmp_path / "event.json"
    file.write_text(json.dumps(event))
    job = code_host(GITHUB | {"GITHUB_EVENT_PATH": str(file)})
    assert isinstance(job.host, GitHub)
    assert job.change == number


@pytest.mark.parametrize(
    ("variables", "fault"),
    [
        pytest.param({}, "neither GITHUB_ACTIONS nor GITLAB_CI is set; run it in a job", id="none"),
        pytest.param(GITHUB | {"GITHUB_TOKEN": ""}, "GITHUB_TOKEN is not set; give", id="token"),
        pytest.param(GITLAB | {"GITLAB_TOKEN": ""}, "GITLAB_TOKEN is not set; add", id="gitlab"),
        pytest.param(
            GITHUB | {"GITHUB_API_URL": "http://api.example"},
            "expected an API address that begins with https://",
            id="a token in the clear",
        ),
        pytest.param(
            GITHUB | {"GITHUB_EVENT_PATH": "nowhere"}, "nowhere cannot be read", id="no event file"
        ),
    ],
)
def test_what_is_missing_is_said(variables: dict[str, str], fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        code_host(variables)
