"""The TLS settings of a connection."""

import ssl
import tempfile

from holdfast.adapters.cluster.kubeconfig import Connection


def tls_context(connection: Connection) -> ssl.SSLContext:
    """Whom to trust, and who we are."""
    context = ssl.create_default_context(cadata=connection.authority or None)
    if not connection.is_verified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if connection.certificate:
        # The library reads certificates from files only; the file lives for this one call.
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
            file.write(connection.certificate.rstrip() + "\n" + connection.key)
            file.flush()
            context.load_cert_chain(file.name)
    return context
