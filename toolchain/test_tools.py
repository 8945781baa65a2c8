"""Tools that only tests need: other projects' own commands, and definitions of what we write for.

Apart from the toolchain, so that nobody who only uses Holdfast builds them, and a new pin here
builds nothing there again.

    python toolchain/test_tools.py           build and fetch what is missing, print the folder
    python toolchain/test_tools.py --flux    the same for the controllers of Flux, which take long
    python toolchain/test_tools.py --store   the same for an object store, to keep state in
"""

import argparse
import hashlib
import os
import signal
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from build import HERE, cache_root, exclusive, progress, say, scratch_folder
from definition_modules import DefinitionModule
from definitions import archive_of, take_out
from go_command import ToolchainError, go_environment, run_go

RECIPE = "2"
PACKAGES = {
    "actionlint": "github.com/rhysd/actionlint/cmd/actionlint",
    "gofakes3": "github.com/johannesboyne/gofakes3/cmd/gofakes3",
    "helm": "helm.sh/helm/v3/cmd/helm",
    "kustomize-controller": "github.com/fluxcd/kustomize-controller",
    "promtool": "github.com/prometheus/prometheus/cmd/promtool",
    "source-controller": "github.com/fluxcd/source-controller",
}
"""Command to its package; `test-tools/<command>` pins it."""
TAGS = {"promtool": "remove_all_sd"}
"""Command to its build tags: promtool needs no client of every cloud that it could discover in."""
ARGO_CD = DefinitionModule(
    "argo-cd",
    "github.com/argoproj/argo-cd/v3",
    "v3.4.0",
    "h1:yZwfaOIzE/aQTA52mOfeZQbribmyxKYvMgirQja4eX0=",
    "manifests/crds",
    ("application-crd.yaml",),
)
FLUX_SOURCE = DefinitionModule(
    "flux-source",
    "github.com/fluxcd/source-controller",
    "v1.7.0",
    "h1:/fBgS4CSmT5Jj/fjQDF92y+pC3gst1GJjgNSzY8Ff9I=",
    "config/crd/bases",
    ("source.toolkit.fluxcd.io_gitrepositories.yaml",),
)
FLUX_KUSTOMIZE = DefinitionModule(
    "flux-kustomize",
    "github.com/fluxcd/kustomize-controller",
    "v1.7.3",
    "h1:SzNnGn/4ObAPEHHleM5U7y/AKxKXph3Vj6ZhteeXw8M=",
    "config/crd/bases",
    ("kustomize.toolkit.fluxcd.io_kustomizations.yaml",),
)
_SOURCES = (
    "buckets",
    "externalartifacts",
    "gitrepositories",
    "helmcharts",
    "helmrepositories",
    "ocirepositories",
)


@dataclass(frozen=True)
class ToolSet:
    """What one target of make lays down in a folder of its own.

    Attributes:
        label: What it is called while it is made.
        commands: Commands that are built.
        definitions: Modules whose definitions are taken out, below `definitions/`.
    """

    label: str
    commands: tuple[str, ...]
    definitions: tuple[DefinitionModule, ...]


TOOLS = ToolSet(
    "test tools",
    ("actionlint", "helm", "promtool"),
    # Whose objects `holdfast render -o argocd|flux` writes.
    (ARGO_CD, FLUX_SOURCE, FLUX_KUSTOMIZE),
)
FLUX = ToolSet(
    "controllers of Flux",
    ("kustomize-controller", "source-controller"),
    # A controller does not start while one of the kinds that it watches is not served.
    (
        replace(
            FLUX_SOURCE,
            files=tuple(f"source.toolkit.fluxcd.io_{plural}.yaml" for plural in _SOURCES),
        ),
        FLUX_KUSTOMIZE,
    ),
)
"""Apart, because it is built from two thousand packages: too long for every run in CI."""
STORE = ToolSet("object store", ("gofakes3",), ())
"""Apart, because few need it: a stack's state in a bucket is shown with it."""


def tools_folder(tools: ToolSet) -> Path:
    """The folder of a set's pins; complete once it exists."""
    digest = hashlib.sha256(f"{RECIPE}\n{tools.definitions!r}\n".encode())
    for command in tools.commands:
        digest.update(command_digest(command).encode())
    return cache_root() / "test-tools" / digest.hexdigest()[:16]


def command_digest(command: str) -> str:
    """Digest of all that decides what a command is."""
    digest = hashlib.sha256(f"{RECIPE}\n{PACKAGES[command]}\n".encode())
    digest.update(TAGS.get(command, "").encode())
    for path in sorted(pins_of(command).iterdir()):
        digest.update(f"{path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def pins_of(command: str) -> Path:
    """The Go module that pins a command."""
    return HERE / "test-tools" / command


def make_all(tools: ToolSet) -> Path:
    """Build and fetch what is missing of a set; return its folder."""
    folder = tools_folder(tools)
    if folder.exists():
        return folder
    environment = go_environment()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with exclusive(folder.with_suffix(".lock"), tools.label):
        if folder.exists():
            return folder
        built = [build_command(command, environment) for command in tools.commands]
        with scratch_folder(folder.with_name(f".{folder.name}")) as scratch:
            made = scratch / "made"
            made.mkdir()
            for module in tools.definitions:
                with progress(
                    f"{tools.label}: definitions of {module.controller} {module.version}"
                ):
                    # The pins are the sums: asking a database again adds a host that must answer.
                    unasked = environment | {"GOSUMDB": "off"}
                    archive = archive_of(module, folder.parent, unasked)
                    take_out(module, archive, made / "definitions")
            for command, program in zip(tools.commands, built, strict=True):
                os.link(program, made / command)
            made.rename(folder)
    return folder


def build_command(command: str, environment: dict[str, str]) -> Path:
    """Build a command if it is missing; it is kept by its own pins, whatever else changes."""
    kept = cache_root() / "test-tools" / "commands" / f"{command}-{command_digest(command)[:16]}"
    kept.parent.mkdir(exist_ok=True)
    with exclusive(kept.with_suffix(".lock"), command):
        if not kept.exists():
            with (
                scratch_folder(kept.with_name(f".{kept.name}")) as scratch,
                progress(f"test tools: building {command}"),
            ):
                flags = ["-trimpath", "-ldflags", "-s -w", "-o", str(scratch / command)]
                flags += [f"-tags={TAGS[command]}"] if command in TAGS else []
                run_go(["build", *flags, PACKAGES[command]], pins_of(command), environment)
                (scratch / command).rename(kept)
    return kept


def main() -> int:
    parser = argparse.ArgumentParser(description="Build and fetch what only tests need.")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--flux", action="store_true", help="the controllers of Flux instead")
    which.add_argument("--store", action="store_true", help="an object store instead")
    parser.add_argument("--print", action="store_true", help="print the folder, build nothing")
    options = parser.parse_args()
    tools = FLUX if options.flux else STORE if options.store else TOOLS
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        folder = tools_folder(tools) if options.print else make_all(tools)
    except ToolchainError as error:
        say(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        say("stopped; the next run starts from the beginning")
        return 8
    print(folder)  # noqa: T201 - the answer of a script
    return 0


if __name__ == "__main__":
    sys.exit(main())
