"""The step that holds an agent back until what it depends on listens."""

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.manifest.agent.dependency import as_dependency
from holdfast.render.plan.dependencies import dependencies_of
from holdfast.render.plan.metadata import AgentMetadata
from holdfast.render.plan.render_context import RenderContext
from holdfast.render.pod.environment import proxy_env
from holdfast.render.pod.tool_container import Script, script_container
from holdfast.render.pod.tool_scripts import WAIT


def waiting_containers(
    meta: AgentMetadata, spec: AgentSpec, context: RenderContext
) -> list[KubeObject]:
    """The init container `wait`; none where nothing is waited for.

    It has no end of its own: a rollout that waits too long ends with its progress deadline.
    """
    found = dependencies_of(meta, spec, context)
    waits = (as_dependency(each).wait for each in spec.depends_on)
    needed = [each for each, is_waited_for in zip(found, waits, strict=True) if is_waited_for]
    if not needed:
        return []
    urls = " ".join(each.url for each in needed)
    return [
        script_container(
            "wait",
            context.image("tools"),
            spec,
            Script(WAIT, {"WAIT_URLS": urls}),
            env=proxy_env(spec, context),
        )
    ]
