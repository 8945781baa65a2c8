"""The sandbox's own certificates: two authorities, the servers, the clients.

etcd trusts an authority of its own, so that a user's certificate does not open the database behind
the API server. The authorities' keys are thrown away once everything is signed.
Imported only by a start: `cryptography` is slow to load, and nothing else should wait for it.
"""

import datetime
import ipaddress
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from holdfast.adapters.files import make_private_directory, write_private_file
from holdfast.sandbox.node.settings import NODE_NAME
from holdfast.sandbox.paths import LOOPBACK, USERS, SandboxPaths

LIFETIME = datetime.timedelta(days=365)
RENEW_BEFORE = datetime.timedelta(days=30)
CLOCK_TOLERANCE = datetime.timedelta(hours=1)

SERVER_ADDRESSES = (LOOPBACK, "10.96.0.1")
"""The second is the address of Service `kubernetes`, the first of the service network."""
SERVER_NAMES = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)

ADMINISTRATORS = "system:masters"
CLIENTS = {
    "admin": (USERS["admin"], ADMINISTRATORS),
    "alice": (USERS["alice"], "developers"),
    "bob": (USERS["bob"], "viewers"),
    "kube-controller-manager": ("system:kube-controller-manager", ""),
    "kube-scheduler": ("system:kube-scheduler", ""),
    "kwok": ("holdfast-kwok", ADMINISTRATORS),
    "sandbox": ("holdfast-sandbox", ADMINISTRATORS),
    # The authority's key is thrown away: a node that is asked for later needs these, too.
    "api-server-to-kubelet": ("holdfast-api-server", ADMINISTRATORS),
    "node": (f"system:node:{NODE_NAME}", "system:nodes"),
    "kube-proxy": ("system:kube-proxy", ""),
}
"""Client to user and group, as the API server reads them from the certificate's subject."""


@dataclass(frozen=True, slots=True)
class KeyPair:
    """PEM of a certificate (or a bare public key) and PEM of its private key."""

    public: bytes
    private: bytes


def make_certificates(place: SandboxPaths) -> None:
    """Create everything again in the sandbox's `certificates` folder.

    Pairs lie there as NAME.crt and NAME.key: `api-server`, `etcd` (server, and client of itself)
    and each of `CLIENTS`; the authorities as `ca.crt` and `etcd-ca.crt`.
    """
    make_private_directory(place.certificates)
    cluster, database = _Authority("holdfast-sandbox"), _Authority("holdfast-sandbox-etcd")
    pairs = {
        "api-server": cluster.issue("kube-apiserver", is_server=True),
        "etcd": database.issue("etcd", is_server=True),
    }
    pairs |= {name: cluster.issue(user, group) for name, (user, group) in CLIENTS.items()}
    for name, pair in pairs.items():
        _write_pair(place, name, pair)
    write_private_file(place.certificates / "etcd-ca.crt", database.certificate)
    # Last: its presence says that the set is whole.
    write_private_file(place.certificates / "ca.crt", cluster.certificate)


def make_signing_key(place: SandboxPaths) -> None:
    """Make the key that signs service account tokens, unless there is one.

    It outlives the certificates: tokens that pods were given stay valid.
    """
    make_private_directory(place.certificates)
    if (place.certificates / "service-accounts.crt").exists():
        return
    key = ec.generate_private_key(ec.SECP256R1())
    encoding = serialization.Encoding.PEM
    public = key.public_key().public_bytes(
        encoding, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    _write_pair(place, "service-accounts", KeyPair(public, _private_pem(key)))


def certificates_are_current(place: SandboxPaths) -> bool:
    """Whether a whole set exists and stays valid for a month."""
    try:
        authority = x509.load_pem_x509_certificate((place.certificates / "ca.crt").read_bytes())
    except FileNotFoundError:
        return False
    if not all((place.certificates / f"{client}.crt").exists() for client in CLIENTS):
        return False
    return authority.not_valid_after_utc - RENEW_BEFORE > datetime.datetime.now(datetime.UTC)


class _Authority:
    """Signs certificates; its private key lives only in this object."""

    def __init__(self, name: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _subject(name)
        public = self._key.public_key()
        builder = (
            _builder(self._name, self._name, public)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_key_usage(signs_certificates=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        )
        self.certificate = _public_pem(builder.sign(self._key, hashes.SHA256()))

    def issue(self, user: str, group: str = "", *, is_server: bool = False) -> KeyPair:
        """Issue a client certificate; with `is_server` one that also serves on loopback."""
        key = ec.generate_private_key(ec.SECP256R1())
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH]
        builder = (
            _builder(_subject(user, group), self._name, key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(signs_certificates=False), critical=True)
            .add_extension(issuer, critical=False)
        )
        if is_server:
            usages.append(ExtendedKeyUsageOID.SERVER_AUTH)
            builder = builder.add_extension(_server_names(), critical=False)
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        return KeyPair(_public_pem(builder.sign(self._key, hashes.SHA256())), _private_pem(key))


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_TOLERANCE)
        .not_valid_after(now + LIFETIME)
    )


def _subject(user: str, group: str = "") -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, user)]
    if group:
        attributes.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group))
    return x509.Name(attributes)


def _server_names() -> x509.SubjectAlternativeName:
    addresses = [x509.IPAddress(ipaddress.ip_address(text)) for text in SERVER_ADDRESSES]
    return x509.SubjectAlternativeName([*addresses, *(x509.DNSName(name) for name in SERVER_NAMES)])


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _public_pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _write_pair(place: SandboxPaths, name: str, pair: KeyPair) -> None:
    write_private_file(place.certificates / f"{name}.crt", pair.public)
    write_private_file(place.certificates / f"{name}.key", pair.private)
