"""What the toolchain consists of: Go modules, the programs each builds, the versions stamped in.

Data only; `build.py` acts on it. Runs on a bare Python, before the project has a virtual
environment.
"""

from dataclasses import dataclass, field

PULUMI_VERSION = "3.259.0"
LANGUAGE_HOST_VERSION = "3.187.0"
YAML_HOST_VERSION = "1.38.1"
PROVIDER_VERSION = "4.27.0"
KUBERNETES_VERSION = "1.36.3"
CONTAINERD_VERSION = "2.4.2"

_PULUMI_STAMP = "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version"
_YAML_STAMP = "github.com/pulumi/pulumi-yaml/pkg/version.Version"
_PULUMI_SDK = "github.com/pulumi/pulumi/sdk/v3"


@dataclass(frozen=True)
class ModuleFile:
    """A file that a program needs beside it, taken from a module's own source tree."""

    module: str
    path: str
    name: str
    executable: bool = False


@dataclass(frozen=True)
class GoModule:
    """One folder of pins (`go.mod`, `go.sum`) and the programs built from it.

    Attributes:
        programs: program name to Go package; the package "." is the folder's own main.go.
        stamps: linker variables, set so that the programs know their version.
        sources: files copied into the folder before the build (embedded by main.go).
        companions: files laid beside the programs after the build.
        tags: build tags, with commas between.
    """

    folder: str
    programs: tuple[tuple[str, str], ...]
    stamps: tuple[tuple[str, str], ...] = ()
    sources: tuple[ModuleFile, ...] = ()
    companions: tuple[ModuleFile, ...] = ()
    # Left out of the text of a module, from which the names of what was built before are computed.
    tags: str = field(default="", repr=False)


def _kubernetes_stamps() -> tuple[tuple[str, str], ...]:
    major, minor, _ = KUBERNETES_VERSION.split(".")
    values = (("gitVersion", f"v{KUBERNETES_VERSION}"), ("gitMajor", major), ("gitMinor", minor))
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return tuple((f"{package}.{name}", value) for package in packages for name, value in values)


MODULES = (
    GoModule("etcd", (("etcd", "go.etcd.io/etcd/server/v3"),)),
    GoModule(
        "pulumi-language-python",
        (
            (
                "pulumi-language-python",
                "github.com/pulumi/pulumi/sdk/python/cmd/pulumi-language-python/v3",
            ),
        ),
        stamps=((_PULUMI_STAMP, f"v{LANGUAGE_HOST_VERSION}"),),
    ),
    GoModule(
        "pulumi-language-nodejs",
        (
            (
                "pulumi-language-nodejs",
                "github.com/pulumi/pulumi/sdk/nodejs/cmd/pulumi-language-nodejs/v3",
            ),
        ),
        stamps=((_PULUMI_STAMP, f"v{LANGUAGE_HOST_VERSION}"),),
    ),
    GoModule(
        "pulumi-language-yaml",
        (("pulumi-language-yaml", "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml"),),
        stamps=((_YAML_STAMP, f"v{YAML_HOST_VERSION}"),),
    ),
    GoModule("kwok", (("kwok", "sigs.k8s.io/kwok/cmd/kwok"),)),
    GoModule(
        "pulumi",
        (("pulumi", "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"),),
        stamps=((_PULUMI_STAMP, f"v{PULUMI_VERSION}"),),
        # The engine runs Python programs through this script, found beside the language host.
        companions=(
            ModuleFile(
                _PULUMI_SDK,
                "python/cmd/pulumi-language-python-exec",
                "pulumi-language-python-exec",
                executable=True,
            ),
        ),
    ),
    GoModule(
        "kubernetes",
        tuple(
            (name, f"k8s.io/kubernetes/cmd/{name}")
            for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
        ),
        stamps=_kubernetes_stamps(),
    ),
    GoModule(
        "pulumi-resource-kubernetes",
        (("pulumi-resource-kubernetes", "."),),
        sources=(
            ModuleFile(
                "github.com/pulumi/pulumi-kubernetes/provider/v4",
                "cmd/pulumi-resource-kubernetes/schema.json",
                "schema.json",
            ),
        ),
    ),
)

_CONTAINERD = "github.com/containerd/containerd/v2"

NODE_MODULES = (
    GoModule("node-pause", (("pause", "."),)),
    GoModule(
        "node-containerd",
        tuple(
            (name, f"{_CONTAINERD}/cmd/{name}")
            for name in ("containerd", "containerd-shim-runc-v2", "ctr")
        ),
        stamps=((f"{_CONTAINERD}/version.Version", f"v{CONTAINERD_VERSION}"),),
        tags="no_btrfs,no_devmapper,no_zfs",
    ),
    GoModule(
        "node-kubernetes",
        tuple((name, f"k8s.io/kubernetes/cmd/{name}") for name in ("kubelet", "kube-proxy")),
        stamps=_kubernetes_stamps(),
    ),
    GoModule("node-coredns", (("coredns", "."),)),
)
"""What a real node of the sandbox runs. A set of its own: who needs no node builds none of it."""
