"""Credentials in files are refused by path, and never shown; rows 73 to 75."""

from pathlib import Path

import pytest

from tests.unit.manifest.projects import MANIFEST, STACK, agent, errors_of, spec, write

KEY = "sk-ant-" + "a1B2c3D4" * 4
RANDOM = "q8Zr2LmX0vT5nB7c"


@pytest.mark.parametrize(
    ("manifest", "place", "kind"),
    [
        pytest.param(
            spec(f"container: {{env: [{{name: LLM, value: {KEY}}}]}}"),
            "7:40: spec.container.env[0].value",
            "an Anthropic key",
            id="73 env value, by shape",
        ),
        pytest.param(
            spec(f"container: {{env: [{{name: DB_PASSWORD, value: {RANDOM}}}]}}"),
            "7:48: spec.container.env[0].value",
            "a credential",
            id="73 env value, by name",
        ),
        pytest.param(
            spec(f"prompt: {{systemMessage: 'use {KEY}'}}"),
            "7:27: spec.prompt.systemMessage",
            "an Anthropic key",
            id="74 prompt",
        ),
        pytest.param(
            agent(metadata=f", labels: {{token: {KEY}}}"),
            "3:42: metadata.labels.token",
            "an Anthropic key",
            id="75 label",
        ),
        pytest.param(
            agent(metadata=f", annotations: {{service-token: {RANDOM}}}"),
            "3:55: metadata.annotations.service-token",
            "a credential",
            id="annotation",
        ),
        pytest.param(
            spec(f"container: {{args: [--api-key, {RANDOM}]}}"),
            "7:33: spec.container.args[1]",
            "a credential",
            id="argument after its flag",
        ),
        pytest.param(
            spec(f"container: {{command: [sh, -c, 'TOKEN={RANDOM} serve']}}"),
            "7:33: spec.container.command[2]",
            "a credential",
            id="command",
        ),
        pytest.param(
            spec(f"config: [{{name: a, mountPath: /a, data: {{f: 'api_key: {RANDOM}'}}}}]"),
            "7:47: spec.config[0].data.f",
            "a credential",
            id="configuration file",
        ),
        pytest.param(
            spec(f"description: ask with {KEY}"),
            "7:16: spec.description",
            "an Anthropic key",
            id="anywhere else",
        ),
        pytest.param(
            spec(f"owner: {KEY}"), "7:10: spec.owner", "an Anthropic key", id="faulty anyhow"
        ),
        pytest.param(
            agent(image=f"registry.example/{KEY}"),
            "6:10: spec.image",
            "an Anthropic key",
            id="in what a remedy would repeat",
        ),
    ],
)
def test_a_credential_is_refused_and_not_shown(
    tmp_path: Path, manifest: str, place: str, kind: str
) -> None:
    write(tmp_path, MANIFEST, manifest)
    errors = errors_of(tmp_path)
    assert [str(error) for error in errors.errors] == [
        f"{MANIFEST}:{place}: expected no credential, got what looks like a secret: {kind} "
        "(not shown) [no-literal-credentials]; keep it in a Secret, name it under secrets, and "
        "revoke this one"
    ]


def test_a_credential_in_a_prompt_file_is_reported_in_that_file(tmp_path: Path) -> None:
    write(tmp_path, MANIFEST, spec("prompt: {systemMessageFrom: {file: prompt.md}}"))
    write(tmp_path, "agents/prompt.md", f"be kind, and use {KEY}\n")
    error = str(errors_of(tmp_path).errors[0])
    assert error.startswith("agents/prompt.md:1:1: spec.prompt.systemMessage")
    assert KEY not in error


def test_a_credential_in_a_stack_file_is_reported_there(tmp_path: Path) -> None:
    write(tmp_path, MANIFEST, agent())
    settings = f"""\
    config:
      cloud:apiToken: {KEY}
      holdfast:cluster: {{context: {KEY}}}
      holdfast:policy: {{profile: dev}}
      holdfast:agents: {{triage: {{container: {{env: [{{name: LLM, value: {KEY}}}]}}}}}}
    """
    write(tmp_path, STACK, settings)
    errors = errors_of(tmp_path, "dev").errors
    assert [str(error.location) for error in errors] == [
        f"{STACK}:2:19",
        f"{STACK}:3:31",
        f"{STACK}:5:67",
    ]
    assert KEY not in "".join(str(error) for error in errors)


def test_references_to_secrets_are_no_credentials(tmp_path: Path) -> None:
    write(
        tmp_path,
        MANIFEST,
        spec(f"""
        model: {{provider: a, name: b, apiKey: key}}
        secrets: [{{name: key, ref: llm-credentials-{RANDOM.lower()}, key: token, env: LLM_KEY}}]
        owner: 3
        """),
    )
    assert [error.path for error in errors_of(tmp_path).errors] == ["spec.owner"]
