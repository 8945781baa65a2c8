"""Programs in YAML and TypeScript that use the component package of this clone."""

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

import yaml
from holdfast.adapters.engine.stack import Stack, open_stack

from tests.e2e.npm_packages import installed_packages, require_node

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "components"
PACKAGE = ROOT / "component-package"
SDK_PACKAGE = "@holdfast/holdfast"
TYPESCRIPT = """
import * as fs from "fs";
import * as holdfast from "@holdfast/holdfast";

const wanted = JSON.parse(fs.readFileSync("wanted.json", "utf8"));
for (const [component, args] of Object.entries<any>(wanted)) {
    new (holdfast as any)[component](`other-${component.toLowerCase()}`, args);
}
"""


@dataclass(frozen=True)
class PackageProgram:
    """A program of another team.

    Attributes:
        root: Its folder.
        kubeconfig: Of the cluster that its default provider uses.
    """

    root: Path
    kubeconfig: Path

    def copy_of_example(self, language: str, namespace: str) -> Stack:
        """The example of a language as it stands in the repository, its places made absolute."""
        copytree(EXAMPLES / language, self.root, ignore=ignore_patterns("node_modules"))
        project = self.root / "Pulumi.yaml"
        text = project.read_text().replace("../../..", str(ROOT))
        project.write_text(text.replace(f"{ROOT}/.venv", sys.prefix), encoding="utf-8")
        name = yaml.safe_load(text)["name"]
        settings = {"config": {f"{name}:namespace": namespace}}
        (self.root / "Pulumi.dev.yaml").write_text(yaml.safe_dump(settings))
        return self._stack()

    def declare_yaml(self, components: Mapping[str, Any]) -> Stack:
        """A YAML program with these components."""
        resources = {
            f"other-{name.lower()}": {"type": f"holdfast:index:{name}", "properties": dict(args)}
            for name, args in components.items()
        }
        return self._declare("yaml", {"resources": resources})

    def declare_typescript(self, components: Mapping[str, Any], program: str = TYPESCRIPT) -> Stack:
        """A TypeScript program with these components."""
        stack = self._declare("nodejs", {})
        (self.root / "wanted.json").write_text(json.dumps(components))
        (self.root / "index.ts").write_text(program)
        for file in ("package.json", "tsconfig.json"):
            (self.root / file).write_text((EXAMPLES / "typescript" / file).read_text())
        return stack

    def _declare(self, runtime: str, more: Mapping[str, Any]) -> Stack:
        self.root.mkdir(parents=True, exist_ok=True)
        project = self.root / "Pulumi.yaml"
        name = f"other-{secrets.token_hex(4)}"
        if project.exists():
            name = yaml.safe_load(project.read_text())["name"]
        document = {"name": name, "runtime": runtime, "packages": {"holdfast": str(PACKAGE)}}
        # JSON inside: a YAML dump of one value twice holds an alias, which Pulumi does not read.
        lines = [f"{key}: {json.dumps(value)}\n" for key, value in (document | dict(more)).items()]
        project.write_text("".join(lines))
        return self._stack()

    def _stack(self) -> Stack:
        stack = open_stack(self.root, "dev", kubeconfig=self.kubeconfig)
        stack.init_if_absent()
        return stack


def typescript_workplace(folder: Path) -> Path:
    """A folder in which TypeScript programs find their packages: ours as `make sdk` writes it."""
    require_node()
    packages = installed_packages(EXAMPLES / "typescript" / "package.json", besides=SDK_PACKAGE)
    (folder / "node_modules").symlink_to(packages)
    sdk = folder / "programs" / "node_modules" / SDK_PACKAGE
    written = folder / "sdk"
    for command in (
        ["make", "-s", "sdk", f"SDK={written}", f"VENV={sys.prefix}"],
        [str(packages / ".bin" / "tsc"), "-p", str(written / "nodejs"), "--skipLibCheck"],
    ):
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False, env=os.environ
        )
        assert done.returncode == 0, done.stdout + done.stderr
    copytree(written / "nodejs", sdk)
    (sdk / "bin" / "package.json").write_text((sdk / "package.json").read_text())
    return folder / "programs"
