"""What a new version must show before it replaces the old one: its model and its tools answer.

The check runs with the new version's own identity, network rules, configuration and credentials.
Where a Deployment runs the agent, it is a Job that must have succeeded before the Deployment is
touched: a failing one leaves the previous ReplicaSet as it is. Where Argo Rollouts does, it is an
analysis before promotion.
"""

from collections.abc import Iterator
from typing import Final

from holdfast.errors import RenderError
from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.rollout import Preflight
from holdfast.manifest.fleet.egress import PROVIDER_URLS
from holdfast.render.objects.identity import service_account_name
from holdfast.render.plan.metadata import AgentMetadata, RenderedObject, content_hash
from holdfast.render.plan.models import resolve_model
from holdfast.render.plan.render_context import RenderContext
from holdfast.render.pod.container import pod_security_context
from holdfast.render.pod.environment import proxy_env
from holdfast.render.pod.prestart import command_container
from holdfast.render.pod.tool_container import Script, script_container
from holdfast.render.pod.tool_scripts import CHECK

SUFFIX: Final = "check"
CHECKED: Final = "holdfast.dev/checked"
START_SECONDS: Final = 120
"""Time on top of the check's own for its pod to be scheduled and its images to be pulled."""
_HELD_SOURCES: Final = frozenset({"persistentVolumeClaim", "projected"})


def effective_check(spec: AgentSpec, context: RenderContext) -> Preflight | None:
    """The declared check, or the default one; None when there is nothing to ask."""
    check = spec.rollout.preflight
    if check is None:
        # Without an image that could ask, there is no default; a declared check is refused then.
        is_on = spec.model is not None and context.environment.images.tools is not None
        check = Preflight() if is_on else None
    if check is None:
        return None
    asks = (check.llm and spec.model) or (check.tools and spec.tools) or check.command
    return check if asks else None


def check_job_spec(
    meta: AgentMetadata,
    spec: AgentSpec,
    context: RenderContext,
    pod: KubeObject,
    check: Preflight,
) -> KubeObject:
    """Spec of the Job: one try, within the declared time.

    Args:
        meta: The agent's marks.
        spec: The agent.
        context: What it refers to.
        pod: Template of the new version's pods; another one is another check.
        check: What to ask.
    """
    agent = _light(pod["spec"])
    containers = list(_containers(meta, spec, context, agent, check))
    body: KubeObject = {
        "automountServiceAccountToken": False,
        "containers": containers,
        "enableServiceLinks": False,
        "restartPolicy": "Never",
        "securityContext": pod_security_context(spec),
        "serviceAccountName": service_account_name(meta, spec.pod.security),
        "volumes": _volumes(pod["spec"], containers),
    }
    copied = ("imagePullSecrets", "nodeSelector", "tolerations")
    body |= {key: pod["spec"][key] for key in copied if key in pod["spec"]}
    labels = meta.beside(SUFFIX).object_labels()
    annotations = dict(meta.annotations) | {CHECKED: content_hash(pod)}
    return {
        "activeDeadlineSeconds": check.timeout_seconds + START_SECONDS,
        "backoffLimit": 0,
        "template": {"metadata": {"labels": labels, "annotations": annotations}, "spec": body},
    }


def render_check_job(meta: AgentMetadata, job: KubeObject) -> RenderedObject:
    """The Job `<agent>-check`: recreated for every new version."""
    deadline = {"pulumi.com/timeoutSeconds": str(job["activeDeadlineSeconds"] + 30)}
    manifest: KubeObject = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": meta.metadata(SUFFIX, annotations=deadline),
        "spec": job,
    }
    return RenderedObject(meta.name, SUFFIX, manifest)


def check_targets(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext, check: Preflight
) -> list[str]:
    """What is asked, a line each: kind, address and, for a model, its name.

    Raises:
        RenderError: the model's address is not known.
    """
    targets = []
    if check.llm and spec.model:
        targets.append(_model_target(meta, spec, context))
    for tool in spec.tools if check.tools else ():
        if tool.http:
            targets.append(f"http {tool.http.url}")
        elif tool.agent:
            targets.append(f"agent {context.peer(tool.agent.ref, meta.namespace).url}")
        elif tool.mcp:
            url, transport = tool.mcp.url, tool.mcp.transport
            if tool.mcp.server_ref is not None:
                server = context.tool_server(tool.mcp.server_ref, meta.namespace)
                url = server.url if server else None
                transport = server.transport if server else transport
            if url:
                targets.append(f"{'sse' if transport == 'sse' else 'mcp'} {url}")
    return targets


def _model_target(meta: AgentMetadata, spec: AgentSpec, context: RenderContext) -> str:
    assert spec.model is not None  # noqa: S101 - the caller asked for it
    model = resolve_model(meta, spec.model, context)
    url = model.base_url or PROVIDER_URLS.get(model.provider.lower())
    if url is None:
        raise RenderError(
            f"agent {meta.name}: spec.rollout.preflight.llm: the address of provider "
            f"{model.provider!r} is not known",
            remedy="set spec.model.baseUrl, or rollout.preflight: {llm: false}",
        )
    url = url.rstrip("/")
    if model.provider.lower() == "anthropic" and not url.endswith("/v1"):
        # Its own SDK writes the address without the version.
        url += "/v1"
    return f"model {url}/models {model.name}"


def _containers(
    meta: AgentMetadata,
    spec: AgentSpec,
    context: RenderContext,
    agent: KubeObject,
    check: Preflight,
) -> Iterator[KubeObject]:
    targets = check_targets(meta, spec, context, check)
    if targets:
        variables = {
            "CHECK_TARGETS": "\n".join(targets),
            "CHECK_TIMEOUT_SECONDS": str(check.timeout_seconds),
        }
        key_variables, key_env = _key_of_model(meta, spec, context, agent)
        mounts = [mount for mount in agent["volumeMounts"] if mount["name"] != "tmp"]
        yield script_container(
            SUFFIX,
            context.image("tools"),
            spec,
            Script(CHECK, variables | (key_variables if check.llm else {})),
            env=[*proxy_env(spec, context), *(key_env if check.llm else [])],
            mounts=mounts,
        )
    if check.command:
        yield command_container("command", check.command, spec, agent)


def _key_of_model(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext, agent: KubeObject
) -> tuple[dict[str, str], list[KubeObject]]:
    """How the check reads the model's key: variables, and the agent's own one where it has it."""
    if spec.model is None:
        return {}, []
    provider = resolve_model(meta, spec.model, context).provider.lower()
    header = {"CHECK_KEY_HEADER": "x-api-key" if provider == "anthropic" else "bearer"}
    file = next((each for each in agent["env"] if each["name"] == "MODEL_API_KEY_FILE"), None)
    secret = next((each for each in spec.secrets if each.name == spec.model.api_key), None)
    if secret is not None and secret.env:
        entry = [each for each in agent["env"] if each["name"] == secret.env]
        return header | {"CHECK_KEY_ENV": secret.env}, entry
    if secret is not None and secret.mount_path and secret.key:
        return header | {"CHECK_KEY_FILE": f"{secret.mount_path.rstrip('/')}/{secret.key}"}, []
    if file is not None and "value" in file:
        return header | {"CHECK_KEY_FILE": file["value"]}, []
    return {}, []


def _light(pod: KubeObject) -> KubeObject:
    """The agent's container without what its running pods hold: claims, devices, a token."""
    held = {each["name"] for each in pod["volumes"] if not _HELD_SOURCES.isdisjoint(each)}
    agent: KubeObject = pod["containers"][0]
    mounts = [each for each in agent["volumeMounts"] if each["name"] not in held]
    resources = {
        kind: {name: amount for name, amount in amounts.items() if "/" not in name}
        for kind, amounts in agent["resources"].items()
    }
    return agent | {"volumeMounts": mounts, "resources": resources}


def _volumes(pod: KubeObject, containers: list[KubeObject]) -> list[KubeObject]:
    used = {mount["name"] for each in containers for mount in each.get("volumeMounts", ())}
    return [each for each in pod["volumes"] if each["name"] in used]
