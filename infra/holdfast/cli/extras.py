"""Packages that an installation may lack, and the extra that brings each of them."""

from typing import Final

from holdfast.errors import InputError

EXTRAS: Final = {
    "cryptography": "sandbox",
    "google": "pulumi",
    "grpc": "pulumi",
    "kubernetes": "login",
    "mcp": "tools",
    "opentelemetry": "operator",
    "pulumi": "pulumi",
    "pulumi_kubernetes": "pulumi",
    "pulumi_policy": "pulumi",
}
"""Package to the extra."""


def missing_extra(error: ModuleNotFoundError) -> InputError | None:
    """An error that says what to install; None where the package belongs to no extra."""
    package = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(package)
    if extra is None:
        return None
    return InputError(
        f"{package} is not installed", remedy=f"run `pip install 'holdfast[{extra}]'`"
    )
