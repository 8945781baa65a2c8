"""Write `infra/holdfast/kube/types.json`: what Holdfast knows about the built-in Kubernetes types.

Two sources, both Go modules that the toolchain builds from: the OpenAPI v3 documents of
`k8s.io/kubernetes` (fields, list types, merge keys, quantities) and the Go types of `k8s.io/api`
(which fields are pointers, so that a declared zero is stored and its loss is drift).

Run it after a change of `KUBERNETES_VERSION`: `python toolchain/kubernetes_types.py`. An end-to-end
test compares the result with what the API server of the toolchain serves.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "infra"), str(Path(__file__).parent)]

from holdfast.kube.openapi import kinds_of, types_of  # noqa: E402  (the path must be set first)
from programs import KUBERNETES_VERSION  # noqa: E402  (as above)

TARGET = Path(__file__).parents[1] / "infra" / "holdfast" / "kube" / "types.json"
GROUP_VERSIONS = (
    "v1",
    "admissionregistration.k8s.io/v1",
    "apiextensions.k8s.io/v1",
    "apiregistration.k8s.io/v1",
    "apps/v1",
    "autoscaling/v1",
    "autoscaling/v2",
    "batch/v1",
    "certificates.k8s.io/v1",
    "coordination.k8s.io/v1",
    "discovery.k8s.io/v1",
    "flowcontrol.apiserver.k8s.io/v1",
    "networking.k8s.io/v1",
    "node.k8s.io/v1",
    "policy/v1",
    "rbac.authorization.k8s.io/v1",
    "resource.k8s.io/v1",
    "scheduling.k8s.io/v1",
    "storage.k8s.io/v1",
)
_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r'^\t(?:(\w+) )?\s*(\S+)\s+`.*?json:"([^"]*)"', re.MULTILINE)


def main() -> None:
    modules = Path(subprocess.check_output(["go", "env", "GOMODCACHE"], text=True).strip())
    kinds: dict[str, dict[str, list[object]]] = {}
    types: dict[str, dict[str, str]] = {}
    folder = modules / f"k8s.io/kubernetes@v{KUBERNETES_VERSION}" / "api/openapi-spec/v3"
    for group_version in GROUP_VERSIONS:
        prefix = "apis__" if "/" in group_version else "api__"
        file = folder / f"{prefix}{group_version.replace('/', '__')}_openapi.json"
        document = json.loads(file.read_text())
        kinds[group_version] = kinds_of(document, group_version)
        types.update(types_of(document))
    version = KUBERNETES_VERSION.partition(".")[2]
    mark_pointers(types, go_types(modules, f"v0.{version}"))
    used = reachable(types, [str(kind[2]) for group in kinds.values() for kind in group.values()])
    content = {
        "kubernetes": KUBERNETES_VERSION,
        "kinds": kinds,
        "types": {name: types[name] for name in sorted(used)},
    }
    TARGET.write_text(json.dumps(content, indent=0, separators=(",", ":")) + "\n")
    sys.stderr.write(f"{TARGET}: {len(used)} types, {TARGET.stat().st_size} bytes\n")


def go_types(modules: Path, version: str) -> dict[str, dict[str, str]]:
    """Go type name (`core.v1.Container`) to JSON field to Go type (`*bool`), inlined structs in."""
    structs: dict[str, dict[str, tuple[str, str]]] = {}
    for module, sources in {
        f"api@{version}": "*/v*/types.go",
        f"apimachinery@{version}": "pkg/apis/meta/v1/types.go",
        f"apiextensions-apiserver@{version}": "pkg/apis/*/v1/types*.go",
        f"kube-aggregator@{version}": "pkg/apis/*/v1/types.go",
    }.items():
        for file in (modules / "k8s.io" / module).glob(sources):
            package = ".".join(file.parts[-3:-1])
            for name, body in _STRUCT.findall(file.read_text()):
                fields = structs.setdefault(f"{package}.{name}", {})
                for go_name, go_type, tag in _FIELD.findall(body):
                    fields[go_name or go_type] = (go_type, tag)
    return {name: flatten(name, structs) for name in structs}


def flatten(name: str, structs: dict[str, dict[str, tuple[str, str]]]) -> dict[str, str]:
    result: dict[str, str] = {}
    package = name.rpartition(".")[0]
    for go_type, tag in structs.get(name, {}).values():
        json_name, _, options = tag.partition(",")
        if json_name:
            result[json_name] = go_type
        elif "inline" in options:
            bare = go_type.lstrip("*")
            inner = bare.replace("metav1.", "meta.v1.") if "." in bare else f"{package}.{bare}"
            result.update(flatten(inner, structs))
    return result


def mark_pointers(types: dict[str, dict[str, str]], go: dict[str, dict[str, str]]) -> None:
    """Put a star before the notation of every field that Go holds as a pointer."""
    for name, fields in types.items():
        for field, notation in fields.items():
            if go.get(name, {}).get(field, "").startswith("*"):
                fields[field] = f"*{notation}"


def reachable(types: dict[str, dict[str, str]], roots: list[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in found or name not in types:
            continue
        found.add(name)
        for notation in types[name].values():
            waiting += re.findall(r"[\w-]+\.[\w.-]+", notation)
    return found


if __name__ == "__main__":
    main()
