"""Take the definitions of custom resources out of the Go modules of the projects that own them.

The files land in a cache outside the clone, keyed by a digest of the pins: a folder a controller,
a file a definition, named as the definition is. A module is fetched by the Go command and its sum
compared with the pin; a folder is filled under a temporary name and renamed.

    python toolchain/definitions.py            fetch what is missing, print the folder
    python toolchain/definitions.py --print    print that folder and fetch nothing
"""

import argparse
import hashlib
import json
import re
import signal
import sys
import zipfile
from pathlib import Path

from build import cache_root, exclusive, progress, say, scratch_folder
from definition_modules import DEFINITION_MODULES, DefinitionModule
from go_command import ToolchainError, go_environment, run_go

# Raised when the way of taking them out changes in a manner that the pins do not show.
RECIPE = "1"
_KIND = re.compile(rb"^kind: CustomResourceDefinition\s*$", re.MULTILINE)
_NAME = re.compile(rb"^metadata:\n(?:  .*\n)*?  name: ([a-z0-9.-]+)\s*$", re.MULTILINE)


def definitions_folder() -> Path:
    """The folder that holds every definition of these pins; complete once it exists."""
    digest = hashlib.sha256(f"{RECIPE}\n{DEFINITION_MODULES!r}\n".encode())
    return cache_root() / "definitions" / digest.hexdigest()[:16]


def fetch_all() -> Path:
    """Fetch what is missing; return the folder of the definitions."""
    folder = definitions_folder()
    if folder.exists():
        return folder
    environment = go_environment() | {
        # The pins are the sums: asking a database again adds a host that must answer.
        "GOSUMDB": "off",
    }
    folder.parent.mkdir(parents=True, exist_ok=True)
    with exclusive(folder.with_suffix(".lock"), "definitions"):
        if folder.exists():
            return folder
        with scratch_folder(folder.with_name(f".{folder.name}")) as scratch:
            filled = scratch / "filled"
            for number, module in enumerate(DEFINITION_MODULES, start=1):
                label = f"[{number}/{len(DEFINITION_MODULES)}] {module.controller}"
                with progress(f"{label}: definitions of {module.version}"):
                    take_out(module, archive_of(module, folder.parent, environment), filled)
            filled.rename(folder)
    return folder


def archive_of(module: DefinitionModule, folder: Path, environment: dict[str, str]) -> Path:
    """The module as the Go command keeps it, its content compared with the pin."""
    wanted = f"{module.module}@{module.version}"
    found = json.loads(run_go(["mod", "download", "-json", wanted], folder, environment))
    if found["Sum"] != module.content_sum:
        message = (
            f"{wanted} is not what was pinned: expected {module.content_sum}, got {found['Sum']}; "
            "do not go on before you know why"
        )
        raise ToolchainError(message)
    return Path(found["Zip"])


def take_out(module: DefinitionModule, archive: Path, filled: Path) -> None:
    """Write each definition of a module to `<controller>/<definition's name>.yaml`."""
    target = filled / module.controller
    target.mkdir(parents=True)
    root = f"{module.module}@{module.version}/{module.folder}"
    with zipfile.ZipFile(archive) as files:
        for name in module.files:
            content = files.read(f"{root}/{name}")
            definition = _NAME.search(content)
            if definition is None or len(_KIND.findall(content)) != 1:
                message = f"{root}/{name} does not hold exactly one CustomResourceDefinition"
                raise ToolchainError(message)
            (target / f"{definition[1].decode()}.yaml").write_bytes(content)


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Fetch the pinned definitions of custom resources."
    )
    parser.add_argument("--print", action="store_true", help="print the folder, fetch nothing")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        folder = definitions_folder() if options.print else fetch_all()
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
