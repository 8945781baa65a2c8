"""Resources of other agent platforms as manifests: kagent, ToolHive, mcp.x-k8s.io.

Only what their own objects say is used. Every field that no manifest can declare is a remark.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from holdfast.convert.workloads.remainder import ImportedAgent, Remainder, Remark
from holdfast.kube.normalisation import normalise_object
from holdfast.kube.objects import KubeObject, ObjectRef, mapping_at, reference_of
from holdfast.manifest.types.manifest import API_VERSION

KAGENT: Final = "kagent.dev"
FOREIGN_KINDS: Final = (
    (KAGENT, "Agent"),
    (KAGENT, "ModelConfig"),
    (KAGENT, "RemoteMCPServer"),
    (KAGENT, "MCPServer"),
    (KAGENT, "ToolServer"),
    ("toolhive.stacklok.dev", "MCPServer"),
    ("toolhive.stacklok.dev", "MCPRemoteProxy"),
    ("mcp.x-k8s.io", "MCPServer"),
)
"""Group and kind of everything that is read here."""
_NO_FIELD: Final = "no field says it"
_URLS: Final = (
    ("status", "url"),
    ("status", "address", "url"),
    ("spec", "url"),
    ("spec", "config", "streamableHttp", "url"),
    ("spec", "config", "sse", "url"),
)
"""Where the kinds of tool servers have the address by which they are asked."""
_BASE_URLS: Final = (("spec", "openAI", "baseUrl"), ("spec", "anthropic", "baseUrl"))
_PROMPTS: Final = (("spec", "declarative", "systemMessage"), ("spec", "systemMessage"))
_MODELS: Final = (("spec", "declarative", "modelConfig"), ("spec", "modelConfig"))


@dataclass(frozen=True)
class Companions:
    """What objects of other platforms became, beside agents.

    Attributes:
        manifests: Models and tool servers.
        lost: What no manifest says.
    """

    manifests: tuple[dict[str, Any], ...]
    lost: tuple[Remark, ...]


def is_platform_agent(one: KubeObject) -> bool:
    """Whether a platform runs an agent for this object, in a workload of its own."""
    ref = reference_of(one)
    return (ref.group, ref.kind) == (KAGENT, "Agent")


def companion_of(one: KubeObject) -> Companions:
    """A model or a tool server of another platform as a manifest; without one, why not."""
    ref = reference_of(one)
    # Their status has the address; what is normalised has none.
    left = Remainder({"spec": normalise_object(one).get("spec") or {}})
    if ref.kind == "ModelConfig":
        spec = _model(left)
        missing = "it names no provider and model"
    else:
        spec = _tool_server(one, left)
        missing = "it says no address by which it can be asked"
    if spec is None:
        return Companions((), (Remark(ref, "", ref.kind, missing),))
    kind = "ModelConfig" if ref.kind == "ModelConfig" else "MCPServer"
    manifest = {
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": {"name": ref.name, "namespace": ref.namespace},
        "spec": spec,
    }
    return Companions((manifest,), tuple(_left(ref, left)))


def with_platform_fields(agent: ImportedAgent, platform: KubeObject) -> None:
    """Add to an agent, imported from its workload, what its platform's object says.

    Args:
        agent: Its manifest and remarks are extended.
        platform: The object that the platform made the workload of.
    """
    ref = reference_of(platform)
    left = Remainder({"spec": normalise_object(platform).get("spec") or {}})
    spec: dict[str, Any] = agent.manifest["spec"]
    if description := left.take("spec", "description"):
        spec["description"] = description
    if prompt := _first(left, _PROMPTS):
        spec["prompt"] = {"systemMessage": prompt}
    if model := _first(left, _MODELS):
        spec["model"] = {"ref": str(model).rpartition("/")[2]}
    for field in ("type", "byo", "deployment"):
        # How the workload is made: it is imported itself.
        left.take("spec", field)
    left.take("spec", "declarative", "deployment")
    agent.findings.lost += _left(ref, left)


def _model(left: Remainder) -> dict[str, Any] | None:
    provider, name = left.take("spec", "provider"), left.take("spec", "model")
    if not provider or not name:
        return None
    spec = {"provider": provider, "name": name}
    if url := _first(left, _BASE_URLS):
        spec["baseUrl"] = url
    return spec


def _tool_server(one: KubeObject, left: Remainder) -> dict[str, Any] | None:
    found = (_text_at(one, path) for path in _URLS)
    url = next((each for each in found if each), "")
    if not url:
        return None
    for path in _URLS:
        left.take(*path)
    protocol = left.take("spec", "protocol") or left.take("spec", "transport")
    spec: dict[str, Any] = {"url": url}
    if str(protocol).lower() == "sse" or url.rstrip("/").endswith("/sse"):
        spec["transport"] = "sse"
    return spec


def _text_at(one: KubeObject, path: tuple[str, ...]) -> str:
    value = mapping_at(one, *path[:-1]).get(path[-1])
    return value if isinstance(value, str) else ""


def _first(left: Remainder, paths: tuple[tuple[str, ...], ...]) -> Any:  # noqa: ANN401  (JSON)
    found = [left.take(*path) for path in paths]
    return next((each for each in found if each), None)


def _left(ref: ObjectRef, left: Remainder) -> Iterator[Remark]:
    for path, value in left.leaves():
        if value not in ({}, []) and path != "spec":
            yield Remark(ref, path, value, _NO_FIELD)


def owner_of(one: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Group, kind and name of the controller that makes an object; None without one."""
    for each in mapping_at(one, "metadata").get("ownerReferences") or ():
        if each.get("controller"):
            return str(each["apiVersion"]).partition("/")[0], each["kind"], each["name"]
    return None
