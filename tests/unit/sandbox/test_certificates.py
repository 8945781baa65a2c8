import datetime
import ipaddress
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from holdfast.sandbox import certificates
from holdfast.sandbox.paths import SandboxPaths


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> SandboxPaths:
    made = SandboxPaths("a", tmp_path_factory.mktemp("a"))
    certificates.make_certificates(made)
    certificates.make_signing_key(made)
    return made


def load(place: SandboxPaths, name: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate((place.certificates / f"{name}.crt").read_bytes())


@pytest.mark.parametrize(
    ("client", "user", "groups"),
    [
        pytest.param("admin", "admin", ["system:masters"], id="admin"),
        pytest.param("alice", "alice@example.test", ["developers"], id="alice"),
        pytest.param("bob", "bob@example.test", ["viewers"], id="bob"),
        pytest.param(
            "kube-controller-manager", "system:kube-controller-manager", [], id="controllers"
        ),
    ],
)
def test_a_clients_subject_is_its_user_and_group(
    place: SandboxPaths, client: str, user: str, groups: list[str]
) -> None:
    subject = load(place, client).subject

    names = [item.value for item in subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    organizations = [
        item.value for item in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    ]
    assert (names, organizations) == ([user], groups)


@pytest.mark.parametrize("client", certificates.CLIENTS)
def test_a_client_is_no_server_and_signed_by_the_cluster(place: SandboxPaths, client: str) -> None:
    certificate = load(place, client)

    certificate.verify_directly_issued_by(load(place, "ca"))
    usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.CLIENT_AUTH]


def test_a_users_certificate_does_not_open_the_database(place: SandboxPaths) -> None:
    load(place, "etcd").verify_directly_issued_by(load(place, "etcd-ca"))

    with pytest.raises(ValueError, match="does not match certificate issuer"):
        load(place, "admin").verify_directly_issued_by(load(place, "etcd-ca"))


def test_the_api_server_serves_the_loopback_address(place: SandboxPaths) -> None:
    names = (
        load(place, "api-server")
        .extensions.get_extension_for_class(x509.SubjectAlternativeName)
        .value
    )

    assert ipaddress.ip_address("127.0.0.1") in names.get_values_for_type(x509.IPAddress)
    assert "localhost" in names.get_values_for_type(x509.DNSName)


def test_strict_verifiers_accept_the_chain(place: SandboxPaths) -> None:
    # Python from 3.13 on asks for the key identifiers that many home-made authorities leave out.
    for name in ("api-server", "alice"):
        extensions = load(place, name).extensions
        assert extensions.get_extension_for_class(x509.AuthorityKeyIdentifier)
        assert extensions.get_extension_for_class(x509.KeyUsage).critical
    context = ssl.create_default_context(cafile=place.certificates / "ca.crt")
    context.load_cert_chain(place.certificates / "alice.crt", place.certificates / "alice.key")


def test_the_authorities_keys_are_thrown_away(place: SandboxPaths) -> None:
    names = {path.name for path in place.certificates.iterdir()}

    assert {"ca.crt", "etcd-ca.crt"} <= names
    assert not {"ca.key", "etcd-ca.key"} & names


def test_only_the_owner_reads_keys(place: SandboxPaths) -> None:
    assert place.certificates.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in place.certificates.iterdir()} == {0o600}


def test_the_signing_key_outlives_new_certificates(tmp_path: Path) -> None:
    place = SandboxPaths("a", tmp_path)
    certificates.make_signing_key(place)
    before = (place.certificates / "service-accounts.key").read_bytes()

    certificates.make_certificates(place)
    certificates.make_signing_key(place)

    assert (place.certificates / "service-accounts.key").read_bytes() == before
    assert load_pem_private_key(before, password=None)


def test_certificates_are_renewed_a_month_before_they_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = SandboxPaths("a", tmp_path)
    assert not certificates.certificates_are_current(place)

    certificates.make_certificates(place)
    assert certificates.certificates_are_current(place)

    monkeypatch.setattr(certificates, "LIFETIME", datetime.timedelta(days=29))
    certificates.make_certificates(place)
    assert not certificates.certificates_are_current(place)
