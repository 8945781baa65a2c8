"""Test material out of the Go modules that publish it, pinned by their checksums."""

import json
import subprocess
from pathlib import Path

from holdfast.errors import ToolchainError

SARIF_SCHEMA = (
    "github.com/securego/gosec/v2@v2.30.0",
    "h1:67aF6LHa7SAL6QEc4es857GrXTT50gUqmrl0XPhtDx0=",
    "report/sarif/testdata/sarif-schema-2.1.0.json",
)
"""The official schema of SARIF 2.1.0, as a scanner that writes SARIF tests itself with."""

OSCAL_SCHEMA = (
    "github.com/defenseunicorns/go-oscal@v0.6.2",
    "h1:oLkMAJYVMq73Rm+9efcyaKq5SLMditjB6wv7o3XXpq8=",
    "src/internal/schemas/oscal_complete_schema-1-1-3.json",
)
"""NIST's schema of OSCAL 1.1.3, as a library for OSCAL carries it."""

OPENREPORTS_DEFINITIONS = (
    "github.com/openreports/reports-api@v0.2.1",
    "h1:g9KS3yle9Y1elmww4TK9EkD1rl6inIaiIJPX6e+u680=",
    "config/crd",
)
"""The definitions of OpenReports, from their owner."""


def go_material(module: str, checksum: str, path: str) -> Path:
    """A file or folder of a module; the module is fetched once a machine."""
    done = subprocess.run(
        ["go", "mod", "download", "-json", module], capture_output=True, text=True, check=False
    )
    found = json.loads(done.stdout or "{}")
    if done.returncode or found.get("Sum") != checksum:
        reason = found.get("Error") or done.stderr or f"checksum {found.get('Sum')}"
        raise ToolchainError(f"{module}: {reason}", remedy="check the network and GOPROXY")
    return Path(found["Dir"]) / path
