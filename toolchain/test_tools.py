"""Tools that only tests need: other projects' own commands, and definitions of what we write for.

Apart from the toolchain, so that nobody who only uses Holdfast builds them, and a new pin here
builds nothing there again.

    python toolchain/test_tools.py    build and fetch what is missing, print the folder
"""

import hashlib
import signal
import sys
from pathlib import Path

from build import HERE, cache_root, exclusive, progress, say, scratch_folder
from definition_modules import DefinitionModule
from definitions import archive_of, take_out
from go_command import ToolchainError, go_environment, run_go

RECIPE = "1"
COMMANDS = {
    "actionlint": "github.com/rhysd/actionlint/cmd/actionlint",
    "helm": "helm.sh/helm/v3/cmd/helm",
}
"""Command to its package; `test-tools/<command>` pins it."""
DELIVERY = (
    DefinitionModule(
        "argo-cd",
        "github.com/argoproj/argo-cd/v3",
        "v3.4.0",
        "h1:yZwfaOIzE/aQTA52mOfeZQbribmyxKYvMgirQja4eX0=",
        "manifests/crds",
        ("application-crd.yaml",),
    ),
    DefinitionModule(
        "flux-source",
        "github.com/fluxcd/source-controller",
        "v1.7.0",
        "h1:/fBgS4CSmT5Jj/fjQDF92y+pC3gst1GJjgNSzY8Ff9I=",
        "config/crd/bases",
        ("source.toolkit.fluxcd.io_gitrepositories.yaml",),
    ),
    DefinitionModule(
        "flux-kustomize",
        "github.com/fluxcd/kustomize-controller",
        "v1.7.3",
        "h1:SzNnGn/4ObAPEHHleM5U7y/AKxKXph3Vj6ZhteeXw8M=",
        "config/crd/bases",
        ("kustomize.toolkit.fluxcd.io_kustomizations.yaml",),
    ),
)
"""Whose objects `holdfast render -o argocd|flux` writes."""


def tools_folder() -> Path:
    """The folder of these pins; complete once it exists. Holds the commands and `definitions/`."""
    digest = hashlib.sha256(f"{RECIPE}\n{DELIVERY!r}\n".encode())
    for command in COMMANDS:
        for path in sorted(pins_of(command).iterdir()):
            digest.update(f"{path.name}\n".encode() + path.read_bytes())
    return cache_root() / "test-tools" / digest.hexdigest()[:16]


def pins_of(command: str) -> Path:
    """The Go module that pins a command."""
    return HERE / "test-tools" / command


def make_all() -> Path:
    """Build and fetch what is missing; return the folder."""
    folder = tools_folder()
    if folder.exists():
        return folder
    environment = go_environment()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with exclusive(folder.with_suffix(".lock"), "test tools"):
        if folder.exists():
            return folder
        with scratch_folder(folder.with_name(f".{folder.name}")) as scratch:
            made = scratch / "made"
            for module in DELIVERY:
                with progress(f"test tools: definitions of {module.controller} {module.version}"):
                    # The pins are the sums: asking a database again adds a host that must answer.
                    unasked = environment | {"GOSUMDB": "off"}
                    archive = archive_of(module, folder.parent, unasked)
                    take_out(module, archive, made / "definitions")
            for command, package in COMMANDS.items():
                with progress(f"test tools: building {command}"):
                    flags = ["-trimpath", "-ldflags", "-s -w", "-o", str(made / command)]
                    run_go(["build", *flags, package], pins_of(command), environment)
            made.rename(folder)
    return folder


def main() -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        folder = make_all()
    except ToolchainError as error:
        say(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        say("stopped; the next run begins anew")
        return 8
    print(folder)  # noqa: T201 - the answer of a script
    return 0


if __name__ == "__main__":
    sys.exit(main())
