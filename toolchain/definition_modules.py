"""Whose definitions Holdfast renders objects for: Go modules of the owning projects, pinned.

Data only; `definitions.py` acts on it. A pin is a module's version and the sum that Go computes of
its content, as a go.sum holds it. Runs on a bare Python, before the project has a virtual
environment.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class DefinitionModule:
    """One project and the definitions of custom resources that are taken from it.

    Attributes:
        controller: Name as an environment's `holdfast:controllers` writes it.
        module: Path of the Go module.
        version: Version of the module.
        content_sum: `h1:` sum of the module's content.
        folder: Folder in the module that holds the definitions.
        files: Their files; each may hold one definition.
    """

    controller: str
    module: str
    version: str
    content_sum: str
    folder: str
    files: tuple[str, ...]


def _prefixed(prefix: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{prefix}_{name}.yaml" for name in names)


DEFINITION_MODULES = (
    DefinitionModule(
        "agent-sandbox",
        "sigs.k8s.io/agent-sandbox",
        "v0.5.0",
        "h1:RDro6If6nsoFJL/M6lAfGi06SvwTlcBORLNaVjVV6G0=",
        "k8s/crds",
        (
            "agents.x-k8s.io_sandboxes.yaml",
            *_prefixed(
                "extensions.agents.x-k8s.io",
                "sandboxclaims",
                "sandboxtemplates",
                "sandboxwarmpools",
            ),
        ),
    ),
    DefinitionModule(
        "argo-rollouts",
        "github.com/argoproj/argo-rollouts",
        "v1.9.0",
        "h1:bXgBpwCByXyAUcgBnyP0fxkSW2CEot78InTFjFlag5g=",
        "manifests/crds",
        (
            "analysis-run-crd.yaml",
            "analysis-template-crd.yaml",
            "cluster-analysis-template-crd.yaml",
            "experiment-crd.yaml",
            "rollout-crd.yaml",
        ),
    ),
    DefinitionModule(
        "cilium",
        "github.com/cilium/cilium",
        "v1.18.5",
        "h1:YLgoehlIEuW/yIpDprx696sAr78Upmvb+FSQsYQd3PI=",
        "pkg/k8s/apis/cilium.io/client/crds/v2",
        ("ciliumnetworkpolicies.yaml",),
    ),
    DefinitionModule(
        "external-secrets",
        "github.com/external-secrets/external-secrets",
        "v1.3.2",
        "h1:u2J8RjlHIeF0oZCqtl92adI/uZWUwOesJIDkfql6LqQ=",
        "config/crds/bases",
        _prefixed("external-secrets.io", "clustersecretstores", "externalsecrets", "secretstores"),
    ),
    DefinitionModule(
        "gateway-api",
        "sigs.k8s.io/gateway-api",
        "v1.5.1",
        "h1:RqVRIlkhLhUO8wOHKTLnTJA6o/1un4po4/6M1nRzdd0=",
        "config/crd/standard",
        _prefixed(
            "gateway.networking.k8s.io",
            "gatewayclasses",
            "gateways",
            "httproutes",
            "referencegrants",
        ),
    ),
    DefinitionModule(
        "keda",
        "github.com/kedacore/keda/v2",
        "v2.21.0",
        "h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps=",
        "config/crd/bases",
        _prefixed(
            "keda.sh",
            "clustertriggerauthentications",
            "scaledjobs",
            "scaledobjects",
            "triggerauthentications",
        ),
    ),
    DefinitionModule(
        "kueue",
        "sigs.k8s.io/kueue",
        "v0.15.0",
        "h1:9Khzc2ne6/eWuZx5o+R4KlVBzh3kZkTIMzpPC2e8Spg=",
        "config/components/crd/bases",
        _prefixed("kueue.x-k8s.io", "clusterqueues", "localqueues", "resourceflavors"),
    ),
    DefinitionModule(
        "opentelemetry-operator",
        "github.com/open-telemetry/opentelemetry-operator",
        "v0.140.0",
        "h1:yHwVEn1vjQ7n9OoOZX/rsgur+YozIKNjCoWSk6EAhvw=",
        "config/crd/bases",
        _prefixed("opentelemetry.io", "instrumentations"),
    ),
    DefinitionModule(
        "prometheus-operator",
        "github.com/prometheus-operator/prometheus-operator",
        "v0.85.0",
        "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
        "example/prometheus-operator-crd",
        _prefixed("monitoring.coreos.com", "podmonitors", "prometheusrules", "servicemonitors"),
    ),
    DefinitionModule(
        "secrets-store-csi",
        "sigs.k8s.io/secrets-store-csi-driver",
        "v1.5.4",
        "h1:enl+v1+JbKDyVjdfT/7CillZsc4rLAM9tTHyf7GeLxc=",
        "config/crd/bases",
        _prefixed("secrets-store.csi.x-k8s.io", "secretproviderclasses"),
    ),
    DefinitionModule(
        "volume-snapshots",
        "github.com/kubernetes-csi/external-snapshotter/client/v8",
        "v8.7.0",
        "h1:HVaSUeRRHPu49aSiL8eXOjS9Re9G6pM0NzdTGI7mM14=",
        "config/crd",
        _prefixed(
            "snapshot.storage.k8s.io",
            "volumesnapshotclasses",
            "volumesnapshotcontents",
            "volumesnapshots",
        ),
    ),
)
