import base64
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from holdfast.adapters.cluster.kubeconfig import connection_of
from holdfast.errors import InputError, LoginError


def config(folder: Path, name: str = "config", **changes: Any) -> Path:
    document: dict[str, Any] = {
        "current-context": "dev",
        "contexts": [
            {"name": "dev", "context": {"cluster": "c", "user": "u", "namespace": "cx"}},
            {"name": "prod", "context": {"cluster": "c", "user": "u"}},
        ],
        "clusters": [{"name": "c", "cluster": {"server": "https://api.example.test:6443/"}}],
        "users": [{"name": "u", "user": {"token": "hunter2"}}],
        **changes,
    }
    file = folder / name
    file.write_text(yaml.safe_dump(document))
    return file


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def test_the_current_context_is_taken_unless_another_is_named(tmp_path: Path) -> None:
    file = config(tmp_path)
    dev, prod = connection_of(file), connection_of(file, "prod")
    assert (dev.server, dev.namespace, dev.context) == (
        "https://api.example.test:6443",
        "cx",
        "dev",
    )
    assert (prod.namespace, prod.context) == ("default", "prod")


def test_a_connection_does_not_show_its_credentials(tmp_path: Path) -> None:
    assert "hunter2" not in repr(connection_of(config(tmp_path)))


def test_files_in_the_variable_are_merged_and_the_first_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = config(tmp_path, "a", clusters=[], users=[])
    second = config(tmp_path, "b", contexts=[], **{"current-context": "other"})
    monkeypatch.setenv("KUBECONFIG", f"{first}:{second}:{tmp_path / 'absent'}")
    assert connection_of().token == "hunter2"
    assert connection_of().context == "dev"


def test_certificates_are_given_as_data_or_as_files_beside_the_kubeconfig(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text("KEY")
    file = config(
        tmp_path,
        clusters=[{"name": "c", "cluster": {
            "server": "https://x", "certificate-authority-data": encoded("CA"),
            "tls-server-name": "inner", "insecure-skip-tls-verify": True}}],
        users=[{"name": "u", "user": {
            "client-certificate-data": encoded("CERT"), "client-key": "key.pem"}}],
    )  # fmt: skip
    connection = connection_of(file)
    assert (connection.authority, connection.certificate, connection.key) == ("CA", "CERT", "KEY")
    assert connection.server_name == "inner"
    assert connection.is_verified is False


def server(url: str) -> dict[str, Any]:
    return {"clusters": [{"name": "c", "cluster": {"server": url}}]}


@pytest.mark.parametrize(
    ("changes", "context", "message"),
    [
        pytest.param({}, "staging", "no context 'staging'.*there are: dev, prod", id="context"),
        pytest.param({"current-context": ""}, None, "no context ''", id="no current context"),
        pytest.param({"clusters": []}, None, "names no cluster", id="cluster"),
        pytest.param(server("http://api.example.test"), None, "not encrypted", id="plain http"),
        pytest.param(
            {"users": [{"name": "u", "user": {"client-key-data": "%%%"}}]},
            None, "client-key cannot be read", id="key",
        ),
        pytest.param(
            {"users": [{"name": "u", "user": {"client-key": "absent.pem"}}]},
            None, "client-key cannot be read", id="key file",
        ),
    ],
)  # fmt: skip
def test_a_bad_kubeconfig_says_what_to_change(
    tmp_path: Path, changes: dict[str, Any], context: str | None, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        connection_of(config(tmp_path, **changes), context)


def test_plain_http_is_fine_on_the_loopback_interface(tmp_path: Path) -> None:
    assert connection_of(config(tmp_path, **server("http://127.0.0.1:8001"))).server


def test_without_any_kubeconfig_the_remedy_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="set --kubeconfig or KUBECONFIG"):
        connection_of()


def test_a_login_plugin_that_fails_is_named_without_its_output(tmp_path: Path) -> None:
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "/absent/plugin",
              "interactiveMode": "Never"}  # fmt: skip
    file = config(tmp_path, users=[{"name": "u", "user": {"exec": plugin}}])
    with pytest.raises(LoginError, match="login plugin of context 'dev'"):
        connection_of(file)


def test_a_login_plugins_token_is_used(tmp_path: Path) -> None:
    script = tmp_path / "plugin"
    script.write_text(
        "#!/bin/sh\n"
        'echo \'{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",'
        '"status":{"token":"from-plugin"}}\'\n'
    )
    script.chmod(0o755)
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": str(script),
              "interactiveMode": "Never"}  # fmt: skip
    file = config(tmp_path, users=[{"name": "u", "user": {"exec": plugin}}])
    assert connection_of(file).token == "from-plugin"


def test_a_login_plugin_is_asked_as_the_protocol_says(tmp_path: Path) -> None:
    script = tmp_path / "bin" / "plugin"
    script.parent.mkdir()
    script.write_text(
        "#!/bin/sh\n"
        'echo "$1 $REGION $KUBERNETES_EXEC_INFO" > "$0.asked"\n'
        'echo \'{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential",'
        '"status":{"clientCertificateData":"CERT","clientKeyData":"KEY"}}\'\n'
    )
    script.chmod(0o755)
    plugin = {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "bin/plugin",
              "args": ["get-token"], "env": [{"name": "REGION", "value": "eu-1"}],
              "provideClusterInfo": True}  # fmt: skip
    connection = connection_of(config(tmp_path, users=[{"name": "u", "user": {"exec": plugin}}]))
    assert (connection.certificate, connection.key, connection.token) == ("CERT", "KEY", "")
    argument, region, asked = (tmp_path / "bin" / "plugin.asked").read_text().split(" ", 2)
    assert (argument, region) == ("get-token", "eu-1")
    assert json.loads(asked)["spec"]["cluster"]["server"].startswith(connection.server)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        pytest.param("no JSON", "gave no credentials", id="no JSON"),
        pytest.param('{"apiVersion":"client.authentication.k8s.io/v1","status":{}}',
                     "gave no credentials", id="nothing"),
        pytest.param('{"apiVersion":"other/v1","status":{"token":"x"}}',
                     "gave no credentials", id="another version"),
    ],
)  # fmt: skip
def test_an_answer_without_credentials_is_no_login(
    tmp_path: Path, answer: str, message: str
) -> None:
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "echo", "args": [answer]}
    file = config(tmp_path, users=[{"name": "u", "user": {"exec": plugin}}])
    with pytest.raises(LoginError, match=message):
        connection_of(file)


def test_a_plugin_of_an_unknown_version_is_not_run(tmp_path: Path) -> None:
    plugin = {"apiVersion": "client.authentication.k8s.io/v1alpha1", "command": "echo"}
    file = config(tmp_path, users=[{"name": "u", "user": {"exec": plugin}}])
    with pytest.raises(LoginError, match="v1alpha1"):
        connection_of(file)
