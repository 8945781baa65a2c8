"""Bad references to secrets are refused at their place, and never shown where they may be one."""

from pathlib import Path

import pytest

from tests.unit.manifest.projects import Bad, assert_refused, bad, errors_of, spec, write


def one(fields: str) -> str:
    return spec(f"secrets: [{{name: llm, {fields}}}]")


CASES = [
    bad(
        "unknown provider",
        one("provider: valt, ref: a, key: b, mountPath: /a"),
        "7:35",
        'did you mean "vault"?',
    ),
    bad(
        "path for a Secret",
        one("ref: prod/llm, mountPath: /a"),
        "7:30",
        "name of a Secret",
        "'prod/llm'",
    ),
    bad(
        "both ways in",
        one("ref: a, key: b, env: A, mountPath: /a"),
        "7:13",
        "expected either env or mountPath",
    ),
    bad("variable without key", one("ref: a, env: A"), "7:13", "env needs key"),
    bad(
        "interval of a Secret",
        one("ref: a, mountPath: /a, refreshInterval: 1h"),
        "7:65",
        "spec.secrets[0].refreshInterval: has no effect on a Secret of the cluster",
    ),
    bad(
        "interval that is none",
        one("provider: vault, ref: a, key: b, mountPath: /a, refreshInterval: hourly"),
        "7:90",
        "must be an integer and ms, s, m, h or d",
    ),
    bad(
        "reload of a variable",
        one("ref: a, key: b, env: A, onChange: reload"),
        "7:59",
        "a variable does not change while the process runs; use mountPath, or onChange: restart",
    ),
    bad(
        "variable from Vault",
        one("provider: vault, ref: a, key: b, env: A"),
        "7:63",
        "Vault's injector writes files; use mountPath",
    ),
    bad(
        "Vault without key",
        one("provider: vault, ref: a, mountPath: /a"),
        "7:13",
        "provider vault needs key",
    ),
    bad(
        "restart by Vault",
        one("provider: vault, ref: a, key: b, mountPath: /a, onChange: restart"),
        "7:83",
        "never passes through Kubernetes; use onChange: reload",
    ),
    bad(
        "AWS without a role",
        one("provider: awsSecretsManager, ref: a, mountPath: /a"),
        "7:35",
        "add eks.amazonaws.com/role-arn to pod.security.serviceAccount.annotations",
    ),
]


@pytest.mark.parametrize("case", CASES)
def test_a_bad_reference_is_refused_at_its_place(tmp_path: Path, case: Bad) -> None:
    assert_refused(tmp_path, case)


def test_what_may_be_the_secret_itself_is_not_shown(tmp_path: Path) -> None:
    write(
        tmp_path, "agents/a.yaml", one('provider: vault, ref: "hunter2 !", key: b, mountPath: /a')
    )
    (error,) = errors_of(tmp_path).errors
    assert "refer to the secret, do not write it here" in str(error)
    assert "hunter2" not in str(error)
