"""Credentials of an `auth-provider` in a kubeconfig, by the official client.

The older form of a login, which few clusters use: an extra (`holdfast[login]`), imported only where
one is configured.
"""

import os
from pathlib import Path

from kubernetes.client import Configuration
from kubernetes.config import ConfigException
from kubernetes.config.kube_config import load_kube_config

from holdfast.errors import LoginError


def token_of_context(files: list[Path], context: str) -> dict[str, str]:
    """Token or certificate that the context's auth provider returns.

    Raises:
        LoginError: the provider is unknown or gave nothing.
    """
    configuration = Configuration()
    try:
        load_kube_config(  # type: ignore[no-untyped-call]  # the client has no types
            config_file=os.pathsep.join(str(file) for file in files),
            context=context,
            client_configuration=configuration,
        )
    except (ConfigException, OSError, ValueError) as error:
        raise _failed(context) from error
    # Older clients keep the token under the name of the header.
    keys = configuration.api_key
    bearer = str(keys.get("BearerToken") or keys.get("authorization") or "")
    certificate, key = configuration.cert_file, configuration.key_file
    if not bearer and not certificate:
        raise _failed(context)  # the client logs the reason and goes on without credentials
    return {
        "token": bearer.removeprefix("Bearer ").strip(),
        "certificate": Path(certificate).read_text() if certificate else "",
        "key": Path(key).read_text() if key else "",
    }


def _failed(context: str) -> LoginError:
    return LoginError(
        f"the auth provider of context {context!r} gave no credentials",
        remedy="run `kubectl get --raw /version` with this context to see what it says",
    )
