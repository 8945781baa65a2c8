"""The step that holds an agent back until what it depends on listens."""

from holdfast.kube.objects import KubeObject
from holdfast.manifest.agent.agent import AgentSpec
from holdfast.render.plan.dependencies import dependencies_of
from holdfast.render.plan.marks import AgentMarks
from holdfast.render.plan.surroundings import Surroundings
from holdfast.render.pod.environment import proxy_env
from holdfast.render.pod.tool_container import Script, script_container
from holdfast.render.pod.tool_scripts import WAIT


def waiting_containers(
    marks: AgentMarks, spec: AgentSpec, surroundings: Surroundings
) -> list[KubeObject]:
    """The init container `wait`; none where nothing is waited for.

    It has no end of its own: a rollout that waits too long is told by its progress deadline.
    """
    needed = dependencies_of(marks, spec, surroundings)
    if not needed or not spec.wait_for_dependencies:
        return []
    urls = " ".join(each.url for each in needed)
    return [
        script_container(
            "wait",
            surroundings.image("tools"),
            spec,
            Script(WAIT, {"WAIT_URLS": urls}),
            env=proxy_env(spec, surroundings),
        )
    ]
