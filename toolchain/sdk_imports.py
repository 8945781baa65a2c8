"""Repairs the TypeScript SDK that the built toolchain generates.

    python toolchain/sdk_imports.py FOLDER

The generator of the Node.js language host of the 3.187 line, built with Go 1.26 or newer, takes a
path too much away: files under `types/` import `./types/input` where `../types/input` is meant.
Released versions of Pulumi are not concerned.
"""

import re
import sys
from pathlib import Path

_TOO_NEAR = re.compile(r'(from ")\./(types/|utilities")')


def repair(sdk: Path) -> int:
    """Correct the imports of an SDK's nested types; return the number of files that changed."""
    changed = 0
    for file in sorted((sdk / "types").rglob("*.ts")):
        text = file.read_text(encoding="utf-8")
        repaired = _TOO_NEAR.sub(r"\1../\2", text)
        if repaired != text:
            file.write_text(repaired, encoding="utf-8")
            changed += 1
    return changed


if __name__ == "__main__":
    repair(Path(sys.argv[1]))
