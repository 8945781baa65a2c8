from typing import Any

import pytest
from holdfast.drift.masking import MASK, MASK_CHANGED, mask_pair, mask_value
from holdfast.kube.paths import ABSENT, Path, parse_path
from hypothesis import given
from hypothesis import strategies as st

SECRET = {"kind": "Secret", "metadata": {"name": "s"}}
DEPLOYMENT = {
    "kind": "Deployment",
    "spec": {"containers": [{"name": "a", "env": [
        {"name": "LEVEL", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]}]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("desired", "live", "shown"),
    [
        pytest.param("YQ==", "Yg==", (MASK, MASK_CHANGED), id="changed"),
        pytest.param(ABSENT, "Yg==", (None, MASK_CHANGED), id="added"),
        pytest.param("YQ==", ABSENT, (MASK, None), id="removed"),
    ],
)
def test_the_data_of_a_secret_only_tells_that_it_changed(
    desired: Any, live: Any, shown: tuple[Any, Any]
) -> None:
    assert mask_pair(SECRET, ("data", "key"), desired, live) == shown


def test_the_labels_of_a_secret_are_no_secret() -> None:
    assert mask_pair(SECRET, ("metadata", "labels", "a"), "x", "y") == ("x", "y")


@pytest.mark.parametrize(
    ("path", "value", "is_hidden"),
    [
        pytest.param("spec.containers[name=a].env[name=API_KEY].value", "v", True, id="name"),
        pytest.param("spec.containers[name=a].env[name=LEVEL].value", "v", True, id="had a key"),
        pytest.param("spec.containers[name=a].env[name=OTHER].value", "v", False, id="plain"),
        pytest.param("spec.args", ["--with", "ghp_" + "a1B2" * 9], True, id="form"),
        pytest.param("data.url", "postgres://user:pass@db.example.test", True, id="address"),
        pytest.param("spec.volumes[name=v].secret.secretName", "s2", False, id="reference"),
        pytest.param("spec.image", "r.example.test/a@sha256:" + "a" * 64, False, id="digest"),
        pytest.param(
            'metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]',
            "{}", True, id="last applied",
        ),
    ],
)  # fmt: skip
def test_credentials_elsewhere_are_known_by_name_place_or_form(
    path: str,
    value: Any,
    is_hidden: bool,
) -> None:
    _, shown = mask_pair(DEPLOYMENT, parse_path(path), ABSENT, value)
    assert (shown != value) is is_hidden
    assert (MASK_CHANGED in str(shown)) is is_hidden


def test_a_container_shows_all_but_its_credentials() -> None:
    container = {
        "name": "tap",
        "image": "t:1",
        "env": [
            {"name": "TOKEN", "value": "hunter2"},
            {"name": "FROM", "valueFrom": {"secretKeyRef": {"name": "s", "key": "token"}}},
        ],
    }
    shown = mask_value(container)
    assert "hunter2" not in str(shown)
    assert shown["env"][1] == container["env"][1]
    assert shown["image"] == "t:1"


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(values, values, st.sampled_from([("data",), ("data", "a"), ("stringData", "b", "c")]))
def test_no_value_of_a_secret_is_ever_shown(desired: Any, live: Any, path: Path) -> None:
    shown = mask_pair(SECRET, path, desired, live)
    assert set(map(str, shown)) <= {MASK, MASK_CHANGED, "None"}


HIDDEN = (
    ("env[name=DB_PASS].value", "hunter2xx"),
    ("env[name=PASS].value", "hunter2xx"),
    ("env[name=PULUMI_CONFIG_PASSPHRASE].value", "hunter2xx"),
    ("env[name=DSN].value", "hunter2xx"),
    ("env[name=KEY].value", "hunter2xx"),
    ("env[name=JWT].value", "hunter2xx"),
    ("env[name=GH_PAT].value", "hunter2xx"),
    ("env[name=SMTP_AUTH_HEADER].value", "Basic aHVudGVyMnh4"),
    ("env[name=OTEL_EXPORTER_OTLP_HEADERS].value", "x-team=hunter2xx"),
    ("env[name=HEADER].value", "Bearer hunter2xx"),
    ("env[name=OPTIONS].value", "--verbose --token hunter2xx"),
    ("env[name=SESSION_COOKIE].value", "hunter2xx"),
    ("env[name=hmacSalt].value", "hunter2xx"),
    ("env[name=dbPass].value", "hunter2xx"),
    ("env[name=ACCOUNTKEY].value", "hunter2xx"),
    ("env[name=URL].value", "https://api.example.test/v1?sig=hunter2xx&x=1"),
    ("env[name=URL].value", "https://api.example.test/v1?access_token=hunter2xx"),
    ("env[name=URL].value", "amqp://:hunter2xx@queue.example.test"),
    ("data.passphrase", "hunter2xx"),
    ('data["app.ini"]', "[db]\nuser = a\npassword = hunter2xx\n"),
    ('data["app.yaml"]', "db:\n  password: hunter2xx\n"),
    ('data["app.json"]', '{"db": {"apiKey": "hunter2xx"}}'),
    ('data["run.sh"]', "curl -H 'X-Api-Key: hunter2xx' https://example.test"),
    ("spec.args", ["--password", "hunter2xx"]),
    ("spec.args", ["--db-pass=hunter2xx"]),
    ("spec.args", ["-phunter2xx"]),
    ("spec.args", ["--auth-token", "hunter2xx", "--verbose"]),
    ("spec.args", ["--header", "Authorization: Basic hunter2xx"]),
    ("spec.command", ["sh", "-c", "mysql --password hunter2xx -u root"]),
    ("spec.template.spec.containers", [{"name": "a", "args": ["--secret", "hunter2xx"]}]),
    ("spec.headers", [{"name": "X-Auth", "value": "hunter2xx"}]),
    ("spec.auth.basic.password", "hunter2xx"),
)
SHOWN = (
    ("env[name=LEVEL].value", "info"),
    ("env[name=PATTERN].value", "a-b"),
    ("env[name=COMPASS].value", "north"),
    ("env[name=MONKEY].value", "ape"),
    ("env[name=AUTHOR].value", "somebody"),
    ("env[name=URL].value", "https://api.example.test:8443/v1?page=2"),
    ("env[name=PATH].value", "/usr/bin"),
    ("spec.args", ["serve", "--port", "8080", "--path=/data", "-p8080", "-profile"]),
    ("spec.image", "registry.example.test/auth-proxy:1.2"),
    ("spec.template.spec.serviceAccountName", "token-reader"),
    ("spec.volumes[name=v].secret.secretName", "db"),
    ('data["app.ini"]', "[log]\nlevel = debug\n"),
)


@pytest.mark.parametrize(("path", "value"), HIDDEN)
def test_a_credential_is_masked_by_its_key_its_place_or_its_shape(path: str, value: Any) -> None:
    for sides in ((ABSENT, value), (value, ABSENT)):
        assert "hunter2" not in str(mask_pair(DEPLOYMENT, parse_path(path), *sides))


@pytest.mark.parametrize(("path", "value"), SHOWN)
def test_what_is_no_credential_is_shown(path: str, value: Any) -> None:
    assert mask_pair(DEPLOYMENT, parse_path(path), ABSENT, value)[1] == value
